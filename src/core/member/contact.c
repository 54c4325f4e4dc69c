#include "core/member/contact.h"

void tn_contact_answer(struct tn_contact *contact, int64_t sent_ms, int64_t received_ms, int64_t store_ms,
                       int64_t margin_ms, int64_t gap_ms)
{
    const int64_t low = store_ms - received_ms;
    const int64_t high = store_ms - sent_ms;
    const bool stepped =
        contact->known && (low > contact->high_ms + margin_ms || high < contact->low_ms - margin_ms);
    const bool silent = contact->known && received_ms - contact->last_answer_ms > gap_ms;
    if (!contact->known || stepped || silent)
        contact->steady_since_ms = received_ms;
    contact->known = true;
    contact->low_ms = low;
    contact->high_ms = high;
    contact->last_answer_ms = received_ms;
}

void tn_contact_break(struct tn_contact *contact, int64_t now_ms)
{
    contact->steady_since_ms = now_ms;
    contact->last_answer_ms = now_ms;
}

int64_t tn_contact_steady_ms(const struct tn_contact *contact, int64_t now_ms)
{
    return contact->known ? now_ms - contact->steady_since_ms : 0;
}

int64_t tn_contact_store_ms(const struct tn_contact *contact, int64_t now_ms)
{
    return contact->known ? now_ms + contact->low_ms : INT64_MIN;
}
