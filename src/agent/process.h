/* Starting a worker process so that it dies with the agent, in its own process group, with the session's
 * presence inherited. Only the agent's main thread starts processes: the parent-death signal comes when the
 * thread that forked ends, and that one lasts as long as the agent (prctl(2), PR_SET_PDEATHSIG). */
#ifndef TN_AGENT_PROCESS_H
#define TN_AGENT_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the environment says to every worker; texts are borrowed. */
struct tn_process_facts {
    const char *group, *node, *store, *gate;
    uint32_t shards;
};

struct tn_process_request {
    char *const *command; /* argv, NULL-terminated */
    const struct tn_process_facts *facts;
    int presence;  /* to be inherited; -1: none; above the descriptors that scripts name */
    int64_t shard; /* one shard's process; -1: of all shards */
    uint64_t token;
};

/* All descriptors are non-blocking and close-on-exec. */
struct tn_process {
    pid_t pid;
    int to;    /* lines to the worker: its standard input, or the socket of a one-shard process */
    int from;  /* lines from it: its standard output; the socket: same as `to` */
    int input; /* one-shard process: its standard input, empty until the agent dies; else -1 */
    int go;    /* the child waits for its first byte before it runs the command; -1 after tn_process_go */
};

/* Forks. The child waits: first let the watchdog know its group (its pid), then tn_process_go. False: errno
 * says why. */
bool tn_process_start(const struct tn_process_request *request, struct tn_process *ret_process);
void tn_process_go(struct tn_process *process);
/* Closes the descriptors. */
void tn_process_close(struct tn_process *process);
/* Is there such a command? Looks along PATH as the start does. */
bool tn_process_exists(const char *command);

#endif
