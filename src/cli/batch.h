/* --batch of the offline verbs: one JSON request a line in, one JSON answer a line out, in order. */
#ifndef TN_CLI_BATCH_H
#define TN_CLI_BATCH_H

#include "cli/cli.h"

#include <jansson.h>

/* Answers one request into the empty object `answer`, or fails with a status and text. */
typedef enum tenure_status tn_batch_answer(struct tn_cli *cli, const json_t *request, json_t *answer,
                                           struct tenure_error *error);

/* Answers standard input to its end. `fields`: the names a request may have, ended by NULL; any other is an
 * error of that request. A request that fails gets {"error":{"code","message"}} and the run goes on. */
enum tenure_status tn_batch_run(struct tn_cli *cli, const char *const *fields, tn_batch_answer *answer);

/* "00ff" into bytes of `arena`; false: not hexadecimal. */
bool tn_batch_hex(struct tn_arena *arena, const char *text, size_t length, const void **ret_bytes,
                  size_t *ret_size);

#endif
