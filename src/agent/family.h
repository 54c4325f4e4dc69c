/* Does everything that the workers started hold the presence of the session?
 *
 * Workers inherit the presence on purpose, so that what survives the agent keeps the session. A wrapper that
 * closes its descriptors breaks that chain. This looks into /proc, on a thread of its own: a worker itself,
 * and every descendant outside the workers' process groups (those the watchdog kills), must have the presence
 * file open. The agent is a subreaper, so that what detaches itself stays its descendant. A process that
 * cannot be looked into (another user's) counts as not holding it; so does everything until the first look.
 *
 * What it cannot see: a process that appears and closes its descriptors between the last look and the agent's
 * death (docs/limits.md). */
#ifndef TN_AGENT_FAMILY_H
#define TN_AGENT_FAMILY_H

#include <stdbool.h>
#include <sys/types.h>

struct tn_family;

struct tn_family_verdict {
    bool held;     /* all that matter hold it */
    pid_t without; /* one that does not; 0: not looked yet */
    char name[32];
};

/* `presence` is borrowed for the time of the call; `stranger` is a child that is no worker (the watchdog). */
struct tn_family *tn_family_open(int presence, pid_t stranger);
void tn_family_close(struct tn_family *family);
/* Polls readable when the verdict changed. */
int tn_family_fd(const struct tn_family *family);
struct tn_family_verdict tn_family_verdict(struct tn_family *family);
/* A worker began (it leads its process group) or ended. A beginning makes the verdict "not looked yet". */
void tn_family_worker(struct tn_family *family, pid_t pid, bool lives);
void tn_family_stranger(struct tn_family *family, pid_t pid);

#endif
