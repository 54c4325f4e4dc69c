/* Waiting for a state of the store, with progress on standard error when that is a terminal. */
#ifndef TN_CLI_WAIT_H
#define TN_CLI_WAIT_H

#include "cli/cli.h"

/* Looks once: sets *ret_done, and says in words how far it is. Memory of `arena` lasts for this look only. */
typedef enum tenure_status tn_wait_look(struct tn_cli *cli, struct tn_arena *arena, void *context,
                                        bool *ret_done, struct tn_text *progress);

/* Looks whenever the store has changed, and twice a second (leases pass without a change), until done, or
 * until timeout_ms have passed: TIMEOUT with the last progress as text. Failures of class RETRY are waited
 * out; others end it. */
enum tenure_status tn_wait(struct tn_cli *cli, int64_t timeout_ms, tn_wait_look *look, void *context);

#endif
