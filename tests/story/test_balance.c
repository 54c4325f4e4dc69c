/* Stories of fleets that grow, shrink and restart: what may move, and what may not. */
#include "kit/fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

enum { most_shards = 256 };

struct picture { /* whose each shard is; 0 nobody's */
    uint32_t node[most_shards];
    uint64_t token[most_shards];
};

static uint32_t node_of(struct tn_lab *lab, uint64_t session)
{
    for (int i = 0; i < TN_LAB_NODES; i++) {
        const struct tn_lab_node *node = &lab->nodes[i];
        if (node->used && node->keeper.session == session && session)
            return node->keeper.node;
    }
    return 0;
}

static struct picture look(struct tn_lab *lab)
{
    struct picture picture = {{0}, {0}};
    for (uint32_t s = 0; s < lab->settings.shards; s++) {
        const struct tn_shard_row row = tn_lab_row(lab, s);
        picture.node[s] = node_of(lab, row.session);
        picture.token[s] = row.token;
    }
    return picture;
}

static uint32_t moved(struct tn_lab *lab, const struct picture *before, const struct picture *after)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < lab->settings.shards; s++)
        n += before->node[s] != after->node[s];
    return n;
}

static struct tn_lab *fleet(uint64_t seed, uint32_t shards, uint32_t max_moves, const char *ids)
{
    struct tn_settings settings;
    tn_fleet_settings(&settings, 15000, shards);
    settings.max_moves = max_moves;
    return tn_fleet_open_with(seed, &settings, ids);
}

static bool is_member(struct tn_lab *lab, const void *id)
{
    return tn_lab_node(lab, id)->joined;
}

static void start(struct tn_lab *lab, const char *id)
{
    tn_lab_start(lab, id);
    assert_true(tn_lab_until(lab, is_member, id, 5000) >= 0);
}

/* Starts one more node; how many shards moved until all is even, each once and all to it. */
static uint32_t join(struct tn_lab *lab, const char *id)
{
    const struct picture before = look(lab);
    start(lab, id);
    assert_true(tn_lab_until(lab, tn_lab_balanced, NULL, 120000) >= 0);
    const struct picture after = look(lab);
    const uint32_t newcomer = tn_lab_node(lab, id)->keeper.node;
    for (uint32_t s = 0; s < lab->settings.shards; s++) {
        assert_true(after.node[s] == before.node[s] || after.node[s] == newcomer);
        assert_int_equal(after.token[s], before.token[s] + (after.node[s] != before.node[s]));
    }
    return moved(lab, &before, &after);
}

static void rest(struct tn_lab *lab, int64_t ms)
{
    const struct picture before = look(lab);
    tn_lab_run(lab, ms);
    const struct picture after = look(lab);
    assert_int_equal(moved(lab, &before, &after), 0);
    assert_memory_equal(before.token, after.token, sizeof before.token);
}

/* Two that each see the other as too rich would take from each other for ever (case B19). */
static void an_even_fleet_is_left_alone(void **state)
{
    (void)state;
    struct tn_lab *lab = fleet(1, 32, 5, "A");
    assert_int_equal(join(lab, "B"), 16);
    assert_int_equal(join(lab, "C"), 10);
    rest(lab, 600000);
    /* one of them hears of everything late, because the answers to its looks are lost */
    struct tn_lab_node *deaf = tn_lab_node(lab, "B");
    deaf->lose_kind = TN_OP_SYNC;
    deaf->lose_count = 1000000;
    rest(lab, 600000);
    tn_fleet_close(lab);
    lab = fleet(2, 7, 5, "AB");
    rest(lab, 600000);
    tn_fleet_close(lab);
}

/* A member that is known by its shards alone would never get its first one (case B20). */
static void a_node_that_owns_nothing_is_seen(void **state)
{
    (void)state;
    struct tn_lab *lab = fleet(3, 4, 5, "A");
    assert_int_equal(join(lab, "B"), 2);
    assert_int_equal(tn_lab_owned(lab, "A"), 2);
    assert_int_equal(tn_lab_owned(lab, "B"), 2);
    tn_fleet_close(lab);
}

/* One more node is no reason for the others to change anything among themselves (case B21). */
static void one_more_node_moves_only_what_it_gets(void **state)
{
    (void)state;
    struct tn_lab *lab = fleet(4, 10, 5, "A");
    assert_int_equal(join(lab, "B"), 5);
    assert_int_equal(join(lab, "C"), 3);
    tn_fleet_close(lab);
}

/* Newcomers that leave the list of the poor after their first shard end with one (case B22). */
static void newcomers_get_their_whole_share(void **state)
{
    (void)state;
    struct tn_lab *lab = fleet(5, 8, 5, "AB");
    start(lab, "C");
    start(lab, "D");
    assert_true(tn_lab_until(lab, tn_lab_balanced, NULL, 60000) >= 0);
    for (const char *id = "ABCD"; *id; id++)
        assert_int_equal(tn_lab_owned(lab, (char[]){*id, 0}), 2);
    tn_fleet_close(lab);
    lab = fleet(6, 40, 5, "ABCDE");
    assert_int_equal(join(lab, "F"), 6);
    assert_in_range(lab->most_in_handoff, 1, 5);
    for (const char *id = "ABCDE"; *id; id++)
        assert_in_range(tn_lab_owned(lab, (char[]){*id, 0}), 6, 7); /* of 8: at most two were taken */
    tn_fleet_close(lab);
}

static struct tn_lab *deploying(uint64_t seed)
{
    struct tn_settings settings;
    tn_fleet_settings(&settings, 15000, 256);
    settings.return_within_ms = 10000;
    settings.max_moves = 16;
    return tn_fleet_open_with(seed, &settings, "ABCD");
}

/* A deploy that moves shards moves all of them as often as there are nodes (case B47). */
static void a_rolling_restart_under_the_same_ids_moves_nothing(void **state)
{
    (void)state;
    struct tn_lab *lab = deploying(7);
    for (const char *id = "ABCD"; *id; id++) {
        const struct picture before = look(lab);
        const uint32_t node = tn_lab_node(lab, (char[]){*id, 0})->keeper.node;
        const int64_t down_ms = lab->now_ms;
        tn_lab_stop(lab, (char[]){*id, 0}, 2000);
        tn_lab_run(lab, 3000);
        tn_lab_start(lab, (char[]){*id, 0});
        assert_in_range(tn_lab_until(lab, tn_lab_all_owned, NULL, 20000), 1, 2000);
        assert_in_range(lab->now_ms - down_ms, 3000, 6000);
        const struct picture after = look(lab);
        assert_int_equal(moved(lab, &before, &after), 0);
        for (uint32_t s = 0; s < 256; s++)
            assert_true(after.node[s] == node ? after.token[s] > before.token[s]
                                              : after.token[s] == before.token[s]);
    }
    tn_fleet_close(lab);
}

static void one_that_is_down_for_longer_is_replaced(void **state)
{
    (void)state;
    struct tn_lab *lab = deploying(8);
    tn_lab_stop(lab, "B", 2000);
    tn_lab_run(lab, 8000);
    assert_int_equal(tn_lab_unowned(lab), 64);
    assert_in_range(tn_lab_until(lab, tn_lab_all_owned, NULL, 20000), 1000, 5000);
    tn_fleet_close(lab);
}

/* Without a place to come back to, a restart costs each of its shards one move away, and the newcomer's
 * share. */
static void a_rolling_restart_under_new_ids_moves_each_shard_once_a_step(void **state)
{
    (void)state;
    struct tn_settings settings;
    tn_fleet_settings(&settings, 15000, 256);
    settings.max_moves = 16;
    struct tn_lab *lab = tn_fleet_open_with(9, &settings, "ABCD");
    for (int i = 0; i < 4; i++) {
        const char old[] = {(char)('A' + i), 0}, new[] = {(char)('E' + i), 0};
        const struct picture before = look(lab);
        const uint32_t leaver = tn_lab_node(lab, old)->keeper.node;
        tn_lab_stop(lab, old, 30000);
        assert_true(tn_lab_until(lab, tn_lab_all_owned, NULL, 40000) >= 0);
        tn_lab_run(lab, 3000);
        const struct picture gone = look(lab);
        for (uint32_t s = 0; s < 256; s++) /* of those that stay nobody gives one to another */
            assert_true(gone.node[s] == before.node[s] || before.node[s] == leaver);
        assert_int_equal(moved(lab, &before, &gone), 64);
        assert_int_equal(join(lab, new), 64);
    }
    tn_fleet_close(lab);
}

/* Taking a lost connection for an order to stop, or a reconnect for a death (case B43). */
static void outages_of_the_store_leave_nothing_behind(void **state)
{
    (void)state;
    struct tn_lab *lab = fleet(10, 256, 16, "ABC");
    struct picture before = look(lab);
    lab->store_down = true;
    tn_lab_run(lab, 7500);
    lab->store_down = false;
    tn_lab_run(lab, 30000);
    struct picture after = look(lab);
    assert_memory_equal(&before, &after, sizeof before);
    lab->store_down = true;
    tn_lab_run(lab, 45000);
    assert_false(tn_lab_all_owned(lab, NULL)); /* every gate is closed by its deadline */
    lab->store_down = false;
    assert_in_range(tn_lab_until(lab, tn_lab_all_owned, NULL, 60000), 1, 15000);
    after = look(lab);
    assert_int_equal(moved(lab, &before, &after), 0);
    for (int i = 0; i < 20; i++) {
        lab->store_down = true;
        tn_lab_run(lab, (int64_t)tn_rng_below(&lab->rng, 40000));
        lab->store_down = false;
        tn_lab_run(lab, (int64_t)tn_rng_below(&lab->rng, 20000));
    }
    assert_true(tn_lab_until(lab, tn_lab_all_owned, NULL, 60000) >= 0);
    after = look(lab);
    assert_int_equal(moved(lab, &before, &after), 0);
    for (const char *id = "ABC"; *id; id++)
        assert_true(tn_lab_node(lab, (char[]){*id, 0})->running);
    tn_fleet_close(lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_even_fleet_is_left_alone),
        cmocka_unit_test(a_node_that_owns_nothing_is_seen),
        cmocka_unit_test(one_more_node_moves_only_what_it_gets),
        cmocka_unit_test(newcomers_get_their_whole_share),
        cmocka_unit_test(a_rolling_restart_under_the_same_ids_moves_nothing),
        cmocka_unit_test(one_that_is_down_for_longer_is_replaced),
        cmocka_unit_test(a_rolling_restart_under_new_ids_moves_each_shard_once_a_step),
        cmocka_unit_test(outages_of_the_store_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
