/* How well does this node know the store's clock, and for how long without a break?
 *
 * A node buries by expiry only after one lease of steady contact: each answer puts the store's time minus the
 * own boot clock in an interval (answer's store time minus receive time .. minus send time), and consecutive
 * intervals agree within the margin. A step of the store's clock, an outage, or an own pause starts it anew.
 * Pure; all times ms. */
#ifndef TN_CORE_MEMBER_CONTACT_H
#define TN_CORE_MEMBER_CONTACT_H

#include <stdbool.h>
#include <stdint.h>

struct tn_contact {
    bool known;
    int64_t low_ms, high_ms; /* bounds of store clock - boot clock, from the last answer */
    int64_t steady_since_ms; /* boot clock */
    int64_t last_answer_ms;  /* boot clock */
};

/* An answer with the store's time arrived. `gap_ms`: a longer silence than this before it counts as an
 * outage. */
void tn_contact_answer(struct tn_contact *contact, int64_t sent_ms, int64_t received_ms, int64_t store_ms,
                       int64_t margin_ms, int64_t gap_ms);
/* This node itself was held up (paused, suspended): what it knows is old. */
void tn_contact_break(struct tn_contact *contact, int64_t now_ms);
/* How long contact has been steady; 0 when unknown. */
int64_t tn_contact_steady_ms(const struct tn_contact *contact, int64_t now_ms);
/* The store's clock is at least this now; INT64_MIN when unknown. */
int64_t tn_contact_store_ms(const struct tn_contact *contact, int64_t now_ms);

#endif
