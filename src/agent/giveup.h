/* Marks this node as drained in the store, as `tenure drain NODE` would: its worker does not run. */
#ifndef TN_AGENT_GIVEUP_H
#define TN_AGENT_GIVEUP_H

struct tn_agent;

/* Returns at once: the store is called on a thread of its own, for a few seconds at most, and the log says
 * how it went. Once for the life of the agent. */
void tn_giveup_drain(struct tn_agent *agent);
/* Waits for that thread, if there is one. */
void tn_giveup_done(struct tn_agent *agent);

#endif
