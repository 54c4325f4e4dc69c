#include "core/lease/trouble.h"

enum { most_doublings = 4, most_counted = 250 };

void tn_trouble_failed(struct tn_shard_row *row, const struct tn_settings *settings, uint32_t node,
                       int64_t now_ms)
{
    /* What held for as long as the longest back-off is no failure in a row any more. */
    if (now_ms > row->hold_until_ms + (settings->lease_ms << most_doublings))
        row->fails = 0;
    const int doublings = row->fails < most_doublings ? row->fails : most_doublings;
    if (row->fails < most_counted)
        row->fails++;
    row->hold_until_ms = now_ms + (settings->lease_ms << doublings);
    row->avoid = node;
}

bool tn_trouble_suspect(const struct tn_shard_row *row, const struct tn_settings *settings, int64_t now_ms)
{
    return row->deaths && now_ms - row->death_ms <= settings->quarantine_window_ms;
}

bool tn_trouble_died(struct tn_shard_row *row, const struct tn_settings *settings, uint32_t node,
                     int64_t now_ms)
{
    if (!settings->quarantine_after)
        return false;
    if (!tn_trouble_suspect(row, settings, now_ms)) {
        row->deaths = 0;
        row->death_ms = now_ms;
    } else if (row->death_node == node) {
        return false;
    }
    row->death_node = node;
    if (row->deaths < most_counted)
        row->deaths++;
    return row->deaths >= settings->quarantine_after;
}

void tn_trouble_forget(struct tn_shard_row *row)
{
    row->avoid = row->death_node = 0;
    row->fails = row->deaths = 0;
    row->hold_until_ms = row->death_ms = 0;
}
