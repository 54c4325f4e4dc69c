#include "store/rows/parts.h"

#include <string.h>

enum { most_text_bytes = 16384 };

/* What a join has found out before it writes anything. */
struct joining {
    struct tn_rows *rows;
    struct tn_op *op;
    uint32_t node;          /* 0: never seen */
    uint64_t rival;         /* live session of the same node; 0 none */
    const char *end_reason; /* why the rival may be ended; NULL: it may not */
};

static enum tenure_status check_request(struct tn_rows *rows, const struct tn_op_join *join)
{
    const enum tenure_status status = tn_name_check("node", join->node_id, &rows->error);
    if (status != TENURE_OK)
        return status;
    if (!join->n_groups)
        return tn_error_set(&rows->error, TENURE_BAD_INPUT, "a join names at least one group");
    if (strlen(join->address) > most_text_bytes || strlen(join->labels) > most_text_bytes)
        return tn_error_set(&rows->error, TENURE_TOO_BIG, "address and labels are limited to %d bytes",
                            most_text_bytes);
    return TENURE_OK;
}

static enum tenure_status find_groups(struct tn_rows *rows, struct tn_op_join *join)
{
    join->lease_ms = INT64_MAX;
    for (size_t i = 0; i < join->n_groups; i++) {
        struct tn_join_group *wanted = &join->groups[i];
        struct tn_group_row row;
        join->missing_group = (uint32_t)i;
        if (!rows->type->group_find(rows, wanted->name, &row) || !tn_rows_group_is_visible(&row))
            return tn_error_set(&rows->error, TENURE_NOT_FOUND,
                                "there is no group %.128s; create it with: tenure group create",
                                wanted->name);
        rows->type->settings_get(rows, row.id, &wanted->settings);
        struct tenure_error why;
        /* One group with a broken record must not hurt the others, nor be served with invented settings. */
        if (rows->failed == TENURE_OK && tn_settings_check(&wanted->settings, &why) != TENURE_OK)
            return tn_error_set(
                &rows->error, TENURE_CORRUPT,
                "group %.128s has invalid settings (%.200s); repair them with: tenure group set",
                wanted->name, why.text);
        wanted->group = row.id;
        wanted->fingerprint = row.fingerprint;
        if (wanted->settings.lease_ms < join->lease_ms)
            join->lease_ms = wanted->settings.lease_ms;
    }
    join->missing_group = 0;
    return TENURE_OK;
}

static bool is_member(struct tn_rows *rows, uint32_t group, uint64_t session)
{
    struct tn_session_facts facts;
    rows->type->facts(rows, group, session, &facts);
    return facts.live;
}

static void enter(struct tn_rows *rows, uint32_t group, uint64_t session)
{
    struct tn_group_row row;
    if (is_member(rows, group, session) || !rows->type->group_get(rows, group, &row))
        return;
    rows->type->member_add(rows, group, session);
    tn_rule_joined(&row.losses);
    tn_rows_members_changed(rows, &row);
}

static void enter_all(struct tn_rows *rows, const struct tn_op_join *join)
{
    for (size_t i = 0; i < join->n_groups; i++)
        enter(rows, join->groups[i].group, join->session);
}

/* The same nonce again: the reply was lost, or the session wants more groups. Its time is not touched: only
 * TICK renews. */
static enum tenure_status join_again(struct tn_rows *rows, struct tn_op_join *join, uint64_t session)
{
    struct tn_session_record record;
    if (!rows->type->session_get(rows, session, &record))
        return rows->failed;
    if (record.lease.state == TN_SESSION_DEAD)
        return tn_error_set(&rows->error, TENURE_SESSION_ENDED, "the session was ended: %s",
                            record.end_reason);
    if (strcmp(record.node_id, join->node_id) != 0)
        return tn_error_set(&rows->error, TENURE_BAD_INPUT, "this nonce belongs to node %.128s",
                            record.node_id);
    join->session = session;
    join->node = record.node;
    join->lease_until_ms = record.lease.lease_until_ms;
    if (record.lease.lease_ms < join->lease_ms)
        join->lease_ms = record.lease.lease_ms;
    enter_all(rows, join);
    return TENURE_OK;
}

static enum tenure_status look_at_rival(struct joining *joining)
{
    struct tn_rows *rows = joining->rows;
    struct tn_op_join *join = &joining->op->join;
    struct tn_session_record rival;
    if (!joining->rival || !rows->type->session_get(rows, joining->rival, &rival))
        return TENURE_OK;
    if (rival.lease.state == TN_SESSION_AWAY)
        joining->end_reason = "returned";
    else if (rival.lease.lease_until_ms <= rows->now_ms)
        joining->end_reason = "expired";
    else if (rows->type->presence(rows, joining->rival) == TN_PRESENCE_GONE)
        joining->end_reason = "crashed";
    else if (join->replace)
        joining->end_reason = "replaced";
    if (joining->end_reason)
        return TENURE_OK;
    join->rival = joining->rival;
    join->rival_until_ms = rival.lease.lease_until_ms;
    join->rival_address = tn_arena_text(joining->op->arena, rival.address);
    return tn_error_set(
        &rows->error, TENURE_ID_IN_USE,
        "node %.128s is in use by a live session (%.128s); choose another id, or --replace it", join->node_id,
        rival.address[0] ? rival.address : "no address");
}

static void begin_session(struct joining *joining)
{
    struct tn_rows *rows = joining->rows;
    struct tn_op_join *join = &joining->op->join;
    if (joining->end_reason)
        tn_rows_end_session(rows, joining->rival, joining->end_reason);
    rows->type->sessions_prune(rows, TN_SESSIONS_KEPT);
    joining->node = rows->type->node_find(rows, join->node_id);
    if (!joining->node)
        joining->node = rows->type->node_add(rows, join->node_id);
    struct tn_session_record record = {
        .node = joining->node,
        .node_id = join->node_id,
        .address = join->address,
        .labels = join->labels,
        .end_reason = "",
        .weight_milli = join->weight_milli,
        .joined_ms = rows->now_ms,
        .lease = {.state = TN_SESSION_LIVE,
                  .lease_ms = join->lease_ms,
                  .lease_until_ms = rows->now_ms + join->lease_ms},
    };
    memcpy(record.nonce, join->nonce, sizeof record.nonce);
    join->session = rows->type->session_add(rows, &record);
    join->node = joining->node;
    join->lease_until_ms = record.lease.lease_until_ms;
    enter_all(rows, join);
    tn_rows_event(
        rows, &(struct tn_event_row){
                  .group = "", .shard = -1, .node = join->node, .session = join->session, .cause = "joined"});
}

enum tenure_status tn_rows_join(struct tn_rows *rows, struct tn_op *op)
{
    struct tn_op_join *join = &op->join;
    enum tenure_status status = check_request(rows, join);
    if (status == TENURE_OK)
        status = find_groups(rows, join);
    if (status != TENURE_OK)
        return status;
    const uint64_t same = rows->type->session_by_nonce(rows, join->nonce);
    if (same)
        return join_again(rows, join, same);
    struct joining joining = {.rows = rows, .op = op, .node = rows->type->node_find(rows, join->node_id)};
    joining.rival = joining.node ? rows->type->session_of_node(rows, joining.node) : 0;
    status = look_at_rival(&joining);
    if (status == TENURE_OK)
        begin_session(&joining);
    return status;
}
