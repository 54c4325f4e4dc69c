/* The agent's log: lines for people or, as JSON, for programs, on standard error.
 *
 * A line is put into a bounded buffer and written by a thread of the log's own: a full pipe or a stopped
 * terminal behind standard error delays nobody; what finds no room is counted and the count is said later.
 * Any thread may log. */
#ifndef TN_AGENT_LOG_H
#define TN_AGENT_LOG_H

#include "tenure/tenure.h"

#include <stdbool.h>
#include <stdint.h>

struct tn_log;

/* For the process; `level`: lines above it are dropped. Aborts when no thread can be made. */
struct tn_log *tn_log_open(enum tenure_log_level level, bool json, const char *node);
/* The name of the node was found out. */
void tn_log_node(struct tn_log *log, const char *node);
/* Writes what is left, for at most a second. */
void tn_log_close(struct tn_log *log);
__attribute__((format(printf, 3, 4))) void tn_log_say(struct tn_log *log, enum tenure_log_level level,
                                                      const char *format, ...);
/* "error", "warning", "info", "debug"; false: none of these. */
bool tn_log_level_parse(const char *text, size_t length, enum tenure_log_level *ret_level);

#endif
