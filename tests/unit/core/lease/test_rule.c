#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "core/lease/rule.h"
#include "core/lease/token.h"

#include <stdio.h>
#include <string.h>

/* ---- laws of the verbs, over random rows ---- */

enum { n_sessions = 4, rounds = 200000 };

struct scene {
    struct tn_settings settings;
    struct tn_session_facts sessions[n_sessions]; /* [0]: no session */
    struct tn_rule_world world;
    struct tn_shard_row row;
    struct tn_item item;
    enum tn_op_kind verb;
};

static void look(struct scene *scene)
{
    scene->world.requester = scene->sessions[scene->world.me];
    scene->world.owner = scene->sessions[scene->row.session];
    scene->world.target =
        scene->sessions[scene->verb == TN_OP_PREPARE ? scene->item.peer : scene->row.target];
}

static const enum tn_op_kind verbs[] = {TN_OP_CLAIM,  TN_OP_PREPARE, TN_OP_PREPARED, TN_OP_TRANSFER,
                                        TN_OP_FORCE,  TN_OP_ABORT,   TN_OP_READY,    TN_OP_RELOAD,
                                        TN_OP_REVOKE, TN_OP_RELEASE, TN_OP_LOAD,     TN_OP_SAVE};

static void draw(struct scene *scene, struct tn_rng *rng)
{
    *scene = (struct scene){.verb = verbs[tn_rng_below(rng, sizeof verbs / sizeof verbs[0])]};
    tn_settings_init(&scene->settings);
    scene->settings.quarantine_after = (int64_t)tn_rng_below(rng, 4);
    for (uint32_t i = 1; i < n_sessions; i++) {
        const bool live = i == 1 || tn_rng_below(rng, 4);
        scene->sessions[i] = (struct tn_session_facts){
            .live = live, .takes = live && tn_rng_below(rng, 4), .node = live ? 10 + i : 0};
        scene->sessions[i].died = !live && tn_rng_below(rng, 2);
        scene->sessions[i].died_node = scene->sessions[i].died ? 10 + i : 0;
    }
    const uint64_t session = tn_rng_below(rng, n_sessions);
    scene->world = (struct tn_rule_world){.now_ms = 1000 + (int64_t)tn_rng_below(rng, 100),
                                          .settings = &scene->settings,
                                          .me = 1,
                                          .in_handoff = (uint32_t)tn_rng_below(rng, 7),
                                          .starting = (uint32_t)tn_rng_below(rng, 7),
                                          .most_starting = tn_rng_below(rng, 2) ? UINT32_MAX : 5};
    scene->row =
        (struct tn_shard_row){.session = session,
                              .token = 5 + tn_rng_below(rng, 2),
                              .desired = 10 + (uint32_t)tn_rng_below(rng, n_sessions),
                              .state = session ? (uint8_t)(1 + tn_rng_below(rng, 5)) : TN_SHARD_UNOWNED,
                              .since_ms = 900,
                              .moved_ms = 800,
                              .fails = (uint8_t)tn_rng_below(rng, 8),
                              .deaths = (uint8_t)tn_rng_below(rng, 3),
                              .death_ms = 700,
                              .hold_until_ms = tn_rng_below(rng, 2) ? 1050 : 0};
    if (scene->row.state == TN_SHARD_PREPARING || scene->row.state == TN_SHARD_DRAINING)
        scene->row.target = tn_rng_below(rng, n_sessions);
    if (scene->row.state >= TN_SHARD_PREPARING)
        scene->row.until_ms = 1000 + (int64_t)tn_rng_below(rng, 100);
    scene->row.handed = scene->row.state == TN_SHARD_RESTORING && tn_rng_below(rng, 2);
    scene->item = (struct tn_item){.token = 5 + tn_rng_below(rng, 2), .peer = tn_rng_below(rng, n_sessions)};
    scene->item.unable = scene->verb == TN_OP_RELEASE && tn_rng_below(rng, 2);
    look(scene);
}

/* Each of these, broken once, is two owners, a lost token or a stuck shard somewhere. NULL: all hold. */
static const char *broken_law(const struct scene *scene, const struct tn_shard_row *after,
                              enum tn_outcome outcome)
{
    const struct tn_shard_row *before = &scene->row;
    const bool raised = after->token == before->token + 1;
    const bool timely = scene->world.now_ms >= before->until_ms;
    const bool taken = raised && !after->session; /* revoked, or set aside */
    const bool given = after->session && (after->session != before->session || raised);
    if (outcome != TN_DONE && outcome != TN_TARGET_GONE && outcome != TN_SET_ASIDE &&
        !tn_rule_same(before, after))
        return "a refusal changed the row";
    if (after->token != before->token && !raised)
        return "a token moved by other than one";
    if (given != (raised && !taken))
        return "an owner changed without a new token, or the reverse";
    if (taken && after->state == TN_SHARD_QUARANTINED &&
        (scene->verb != TN_OP_CLAIM || !scene->world.owner.died || !scene->settings.quarantine_after ||
         before->deaths + 1 < scene->settings.quarantine_after))
        return "a shard set aside without as many dead owners";
    if (taken && after->state != TN_SHARD_QUARANTINED &&
        (scene->verb != TN_OP_REVOKE || before->state != TN_SHARD_RESTORING || !timely))
        return "a shard taken away before its time";
    if (raised && !taken && (after->state != TN_SHARD_RESTORING || after->since_ms != scene->world.now_ms))
        return "a new token without restoring";
    if (raised && before->token != scene->item.token)
        return "a token raised by somebody who did not know it";
    if (after->session != before->session && scene->world.owner.live && before->session != scene->world.me &&
        ((scene->verb != TN_OP_FORCE && scene->verb != TN_OP_REVOKE) || !timely))
        return "a live owner lost the shard without its doing and before its time";
    if (given && after->session != before->session && !scene->sessions[after->session].takes)
        return "a shard given to a session that may not take it";
    if (after->desired != before->desired &&
        (after->desired || (scene->verb != TN_OP_REVOKE && !scene->item.unable)))
        return "the plan changed";
    if (!tn_rule_in_handoff(before) && tn_rule_in_handoff(after) &&
        (scene->verb != TN_OP_PREPARE || scene->world.in_handoff >= scene->settings.max_moves))
        return "a move began over the budget";
    if (scene->verb == TN_OP_CLAIM && after->session != before->session && after->session &&
        scene->world.starting >= scene->world.most_starting)
        return "a shard started over the budget";
    if (after->state == TN_SHARD_OWNED && (after->target || after->until_ms || after->handed))
        return "leftovers of a move";
    if ((scene->verb == TN_OP_LOAD || scene->verb == TN_OP_SAVE) && !tn_rule_same(before, after))
        return "a load or save changed the row";
    return NULL;
}

static void laws_hold_for_random_rows(void **state)
{
    (void)state;
    struct tn_rng rng = {.state = 20250101};
    size_t done[TN_OP_COUNT] = {0};
    for (int i = 0; i < rounds; i++) {
        struct scene scene;
        draw(&scene, &rng);
        struct tn_shard_row after = scene.row;
        const enum tn_outcome outcome = tn_rule_shard(scene.verb, &scene.world, &scene.item, &after);
        done[scene.verb] += outcome == TN_DONE;
        const char *law = broken_law(&scene, &after, outcome);
        if (law)
            fail_msg("round %d, %s: %s", i, tn_op_name(scene.verb), law);
    }
    for (size_t v = 0; v < sizeof verbs / sizeof verbs[0]; v++)
        assert_true(done[verbs[v]] > 100); /* the laws were put to the test */
}

/* A request repeated after a lost reply must find DONE and change nothing (case B14). */
static void repeating_changes_nothing(void **state)
{
    (void)state;
    struct tn_rng rng = {.state = 7};
    for (int i = 0; i < rounds; i++) {
        struct scene scene;
        draw(&scene, &rng);
        if (scene.verb == TN_OP_TRANSFER || scene.verb == TN_OP_FORCE)
            scene.item.peer = scene.row.target; /* as the requester saw it */
        if (tn_rule_shard(scene.verb, &scene.world, &scene.item, &scene.row) != TN_DONE)
            continue;
        look(&scene);
        scene.world.now_ms += 5;
        struct tn_shard_row again = scene.row;
        if (tn_rule_shard(scene.verb, &scene.world, &scene.item, &again) != TN_DONE ||
            !tn_rule_same(&again, &scene.row))
            fail_msg("round %d: %s is not idempotent", i, tn_op_name(scene.verb));
    }
}

/* A law that never fires is not a law. */
static void the_laws_catch_broken_rules(void **state)
{
    (void)state;
    struct tn_rng rng = {.state = 3};
    struct scene scene;
    do
        draw(&scene, &rng);
    while (!scene.row.session || !scene.world.owner.live || scene.row.session == 1);
    struct tn_shard_row after = scene.row;
    after.session = 1;
    assert_string_equal(broken_law(&scene, &after, TN_DONE),
                        "an owner changed without a new token, or the reverse");
    after.token += 2;
    assert_string_equal(broken_law(&scene, &after, TN_DONE), "a token moved by other than one");
    after = scene.row;
    after.since_ms++;
    assert_string_equal(broken_law(&scene, &after, TN_STALE), "a refusal changed the row");
    after = scene.row;
    after.desired++;
    assert_string_equal(broken_law(&scene, &after, TN_DONE), "the plan changed");
}

/* A reload is not a move: the time of the last move decides when balance may move the shard again. */
static void a_reload_keeps_the_time_of_the_last_move(void **state)
{
    (void)state;
    struct tn_settings settings;
    tn_settings_init(&settings);
    const struct tn_rule_world world = {.now_ms = 5000, .settings = &settings, .me = 1};
    for (uint8_t handed = 0; handed <= 1; handed++) {
        struct tn_shard_row row = {
            .session = 1, .token = 9, .state = TN_SHARD_RESTORING, .handed = handed, .moved_ms = 1234};
        assert_int_equal(tn_rule_shard(TN_OP_RELOAD, &world, &(struct tn_item){.token = 9}, &row), TN_DONE);
        assert_int_equal(row.token, 10);
        assert_int_equal(row.moved_ms, 1234);
        assert_int_equal(row.handed, handed);
    }
}

/* ---- checkpoints ---- */

static enum tn_outcome save(uint64_t stored_seq, uint64_t stored_token, const char *stored,
                            struct tn_item item, uint64_t *ret_seq, bool *ret_write)
{
    const struct tn_checkpoint before = {
        .data = stored, .size = stored ? strlen(stored) : 0, .seq = stored_seq, .token = stored_token};
    return tn_rule_save(&item, &before, ret_seq, ret_write);
}

static struct tn_item write_of(uint64_t token, uint64_t seq, const char *data, bool rewind)
{
    return (struct tn_item){
        .token = token, .rewind = rewind, .checkpoint = {.data = data, .size = strlen(data), .seq = seq}};
}

/* Progress that goes back is work done twice. */
static void sequences_only_grow_unless_rewound(void **state)
{
    (void)state;
    uint64_t seq = 0;
    bool write = false;
    assert_int_equal(save(0, 0, NULL, write_of(7, 0, "a", false), &seq, &write), TN_DONE);
    assert_int_equal(seq, 1);
    assert_int_equal(save(4, 7, "x", write_of(7, 0, "a", false), &seq, &write), TN_DONE);
    assert_int_equal(seq, 5);
    assert_int_equal(save(4, 7, "x", write_of(7, 4, "a", false), &seq, &write), TN_SEQ_REGRESSED);
    assert_int_equal(save(4, 7, "x", write_of(7, 3, "x", false), &seq, &write), TN_SEQ_REGRESSED);
    assert_int_equal(save(4, 7, "x", write_of(7, 3, "x", true), &seq, &write), TN_DONE);
    assert_true(write);
    assert_int_equal(save(4, 7, "x", write_of(7, 4, "x", false), &seq, &write), TN_DONE);
    assert_false(write);
    assert_int_equal(save(4, 6, "x", write_of(7, 4, "x", false), &seq, &write), TN_SEQ_REGRESSED);
}

/* ---- sessions ---- */

/* An expired lease is never simply prolonged: between its end and the renewal anything may have happened. */
static void a_renewal_past_its_time_is_late(void **state)
{
    (void)state;
    struct tn_op_tick tick = {.lease_ms = 15000};
    struct tn_session_row row = {.lease_ms = 15000, .lease_until_ms = 20000};
    assert_int_equal(tn_rule_renew(&row, &tick, 19999), TN_RENEWED);
    assert_int_equal(row.lease_until_ms, 34999);
    assert_int_equal(tn_rule_renew(&row, &tick, 34999), TN_LATE);
    assert_int_equal(row.lates, 1);
    assert_int_equal(tn_rule_renew(&row, &tick, 35000), TN_LATE); /* until the node has seen it */
    tick.lates_seen = 1;
    tick.leaving = true;
    tick.lease_ms = 5000;
    assert_int_equal(tn_rule_renew(&row, &tick, 35001), TN_RENEWED);
    assert_int_equal(row.state, TN_SESSION_LEAVING);
    assert_int_equal(row.lease_until_ms, 40001);
    tick.leaving = false;
    tn_rule_renew(&row, &tick, 35002);
    assert_int_equal(row.state, TN_SESSION_LEAVING);
    row.state = TN_SESSION_DEAD;
    const struct tn_session_row before = row;
    assert_int_equal(tn_rule_renew(&row, &tick, 35003), TN_ENDED);
    assert_int_equal(row.lease_until_ms, before.lease_until_ms);
}

/* Burial is the only way in which one node may take from another that does not answer. */
static void a_burial_needs_its_evidence(void **state)
{
    (void)state;
    struct tn_session_row row = {.lease_ms = 15000, .lease_until_ms = 20000};
    struct tn_op_bury bury = {.evidence = TN_EXPIRED};
    assert_false(tn_rule_bury(&row, &bury, TN_PRESENCE_GONE, 19999));
    assert_true(tn_rule_bury(&row, &bury, TN_PRESENCE_THERE, 20000));
    bury.evidence = TN_CRASHED;
    assert_false(tn_rule_bury(&row, &bury, TN_PRESENCE_THERE, 10000));
    assert_false(tn_rule_bury(&row, &bury, TN_PRESENCE_UNKNOWN, 10000));
    assert_true(tn_rule_bury(&row, &bury, TN_PRESENCE_GONE, 10000));
    bury = (struct tn_op_bury){.evidence = TN_TOO_FAR, .seen_until_ms = 20000};
    assert_false(tn_rule_bury(&row, &bury, TN_PRESENCE_UNKNOWN, 5000));
    assert_true(tn_rule_bury(&row, &bury, TN_PRESENCE_UNKNOWN, 4999));
    bury.seen_until_ms = 19000; /* it has renewed since */
    assert_false(tn_rule_bury(&row, &bury, TN_PRESENCE_UNKNOWN, 4999));
    row.state = TN_SESSION_DEAD;
    bury.evidence = TN_EXPIRED;
    assert_false(tn_rule_bury(&row, &bury, TN_PRESENCE_GONE, 99999));
}

/* A session nobody is told about is buried late; a healthy one told about costs every renewal. */
static void suspects_are_near_their_end_or_impossibly_far(void **state)
{
    (void)state;
    const struct tn_session_row row = {.lease_ms = 16000, .lease_until_ms = 16000};
    assert_false(tn_rule_suspect(&row, 0));
    assert_false(tn_rule_suspect(&row, 6000));
    assert_true(tn_rule_suspect(&row, 6001));
    assert_true(tn_rule_suspect(&row, 99999));
    assert_true(tn_rule_suspect(&row, -1));
}

/* Tokens must grow also when the store has forgotten how far they were. */
static void a_new_history_is_above_everything_known(void **state)
{
    (void)state;
    const int64_t in_2026 = 1767225600000;
    assert_int_equal(tn_rule_next_history(0, 0, in_2026), 525600);
    assert_int_equal(tn_rule_next_history(525600, 3, in_2026), 525601);
    assert_int_equal(tn_rule_next_history(3, 600000, in_2026), 600001);
    assert_int_equal(tn_rule_next_history(4, 0, 0), 5);
    struct tn_shard_row row = {.session = 3,
                               .token = 99,
                               .target = 2,
                               .desired = 4,
                               .state = TN_SHARD_DRAINING,
                               .handed = 1,
                               .until_ms = 5};
    tn_rule_new_history(&row, 6, 77);
    assert_int_equal(row.token, tn_token_first(6));
    assert_int_equal(row.state, TN_SHARD_UNOWNED);
    assert_int_equal(row.session + row.target + row.handed, 0);
    assert_int_equal(row.desired, 4);
    row.state = TN_SHARD_QUARANTINED;
    tn_rule_new_history(&row, 7, 78);
    assert_int_equal(row.state, TN_SHARD_QUARANTINED);
    assert_true(tn_token_first(TN_HISTORY_MAX) + (1 << TN_TOKEN_COUNTER_BITS) - 2 < (1ull << 53));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_hold_for_random_rows),
        cmocka_unit_test(repeating_changes_nothing),
        cmocka_unit_test(the_laws_catch_broken_rules),
        cmocka_unit_test(a_reload_keeps_the_time_of_the_last_move),
        cmocka_unit_test(sequences_only_grow_unless_rewound),
        cmocka_unit_test(a_renewal_past_its_time_is_late),
        cmocka_unit_test(a_burial_needs_its_evidence),
        cmocka_unit_test(suspects_are_near_their_end_or_impossibly_far),
        cmocka_unit_test(a_new_history_is_above_everything_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
