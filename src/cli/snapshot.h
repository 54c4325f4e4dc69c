/* A group as it stands: rows, members and the figures that status, shards and route print.
 *
 * Read in one transaction of the store (SYNC with a fresh cursor). Immutable; memory of the arena it was read
 * into. A node whose lease has passed is shown as dead and its shards as unowned, also while nobody has
 * buried its session: whoever asks wants to know who may work now, and that node may not. Owners are told by
 * session, so a row that still names a dead one has no owner here. */
#ifndef TN_CLI_SNAPSHOT_H
#define TN_CLI_SNAPSHOT_H

#include "cli/cli.h"

struct tn_snapshot_node {
    const struct tn_member *member;
    bool dead;                /* its lease has passed */
    uint32_t shards, desired; /* owned; named by the plan */
};

struct tn_snapshot {
    const struct tn_group_info *group;
    const struct tn_shard_row *rows;   /* group->settings.shards of them */
    struct tn_snapshot_node *nodes;    /* ascending by session */
    struct tn_snapshot_node **by_node; /* the same, ascending by node number */
    size_t n_nodes;
    uint64_t plan_epoch;
    int64_t store_ms, unix_ms; /* the same instant on the lease clock and on the calendar */
    uint32_t unowned;          /* shards without a live owner */
    uint32_t not_ready;        /* unowned, restoring or quarantined */
    uint32_t quarantined;
    uint32_t moves_in_flight;
    bool paused;             /* balance moves are, for an operator's reason */
    int64_t frozen_until_ms; /* after a mass loss; 0: they are not */
    double
        skew; /* of shard counts: largest / mean over eligible nodes; 1 when even, or when nothing is owned */
};

/* Fails as the store does; NOT_FOUND when the group is gone. */
enum tenure_status tn_snapshot_read(struct tn_cli *cli, struct tn_arena *arena,
                                    const struct tn_group_info *group, struct tn_snapshot *ret);
/* Who has the shard; NULL when it is unowned. */
const struct tn_snapshot_node *tn_snapshot_owner(const struct tn_snapshot *snapshot, uint32_t shard);
/* The live node that the plan names; NULL when it names none, or one that is gone. */
const struct tn_snapshot_node *tn_snapshot_desired(const struct tn_snapshot *snapshot, uint32_t shard);
/* "owned", "unowned", "preparing", "draining", "restoring", "quarantined". */
const char *tn_snapshot_state(const struct tn_snapshot *snapshot, uint32_t shard);
/* It left for a short while, and its shards wait for it. */
bool tn_snapshot_node_away(const struct tn_snapshot_node *node);
/* "live", "draining", "leaving" (also one that is away), "dead". */
const char *tn_snapshot_node_state(const struct tn_snapshot_node *node);
/* Lease clock to Unix ms. */
int64_t tn_snapshot_unix_ms(const struct tn_snapshot *snapshot, int64_t lease_clock_ms);

#endif
