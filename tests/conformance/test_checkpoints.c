/* Clauses C11 and C14 for progress: bytes under a token. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

/* Progress that comes back changed, or under a token it was not written with, is lost or done twice. */
static void bytes_come_back_exactly(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const uint64_t token = world_own(world, a, 0);
    unsigned char *data = malloc(TN_CHECKPOINT_MAX + 1);
    for (size_t i = 0; i <= TN_CHECKPOINT_MAX; i++)
        data[i] = (unsigned char)(i * 7 % 256);
    const size_t sizes[] = {0, 1, 255, 4096, TN_CHECKPOINT_MAX};
    for (size_t i = 0; i < 5; i++) {
        const struct tn_item *item = world_save(world, a, 0, token, 0, data, sizes[i]);
        assert_int_equal(item->outcome, TN_DONE);
        assert_int_equal(item->checkpoint.seq, i + 1);
        item = world_verb(world, TN_OP_LOAD, a, 0, token, 0);
        assert_non_null(item->checkpoint.data);
        assert_int_equal(item->checkpoint.size, sizes[i]);
        assert_memory_equal(item->checkpoint.data, data, sizes[i]);
        assert_int_equal(item->checkpoint.seq, i + 1);
        assert_int_equal(item->checkpoint.token, token);
        assert_int_equal(item->checkpoint.saved_ms, world->unix_ms);
    }
    world_save(world, a, 0, token, 0, data, TN_CHECKPOINT_MAX + 1);
    assert_int_equal(world->op.status, TENURE_TOO_BIG);
    assert_int_equal(world_verb(world, TN_OP_LOAD, a, 0, token, 0)->checkpoint.seq, 5);
    free(data);
}

/* The last write of a process that lost the shard must not land on top of its successor's. */
static void only_the_current_token_writes(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const uint64_t token = world_own(world, a, 0);
    assert_int_equal(world_save(world, a, 0, token, 10, "old", 3)->outcome, TN_DONE);
    const struct tn_item *item = world_verb(world, TN_OP_RELOAD, a, 0, token, 0);
    assert_string_equal((const char *)item->checkpoint.data, "old");
    assert_int_equal(item->checkpoint.seq, 10);
    assert_int_equal(world_save(world, a, 0, token, 11, "zombie", 6)->outcome, TN_STALE);
    const uint64_t b = world_join(world, "B");
    assert_int_equal(world_save(world, b, 0, token + 1, 11, "thief", 5)->outcome, TN_STALE);
    assert_int_equal(world_save(world, a, 0, token + 1, 11, "new", 3)->outcome, TN_DONE);
    assert_int_equal(world_verb(world, TN_OP_LOAD, b, 0, token + 1, 0)->outcome, TN_STALE);
    struct tn_store_info info;
    struct tenure_error error;
    assert_int_equal(world->store->type->info(world->store, &world->arena, &info, 1000, &error), TENURE_OK);
    assert_int_equal(info.stale_rejected, 2);
}

/* Work that arrives out of order must not turn progress back, unless somebody means it. */
static void sequences_grow(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const uint64_t token = world_own(world, a, 0);
    assert_int_equal(world_save(world, a, 0, token, 5, "five", 4)->outcome, TN_DONE);
    const struct tn_item *item = world_save(world, a, 0, token, 5, "FIVE", 4);
    assert_int_equal(item->outcome, TN_SEQ_REGRESSED);
    assert_int_equal(item->checkpoint.seq, 5);
    assert_int_equal(world_save(world, a, 0, token, 4, "four", 4)->outcome, TN_SEQ_REGRESSED);
    world->items[0] = (struct tn_item){
        .shard = 0, .token = token, .rewind = true, .checkpoint = {.data = "four", .size = 4, .seq = 4}};
    world_exec(world, world->op);
    assert_int_equal(world->items[0].outcome, TN_DONE);
    assert_int_equal(world_save(world, a, 0, token, 0, "next", 4)->checkpoint.seq, 5);
}

/* A save whose reply was lost is sent again: it must succeed and not count as a step back. */
static void a_save_can_be_repeated(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const uint64_t token = world_own(world, a, 0);
    assert_int_equal(world_save(world, a, 0, token, 5, "five", 4)->outcome, TN_DONE);
    const int64_t saved = world->unix_ms;
    world_pass(world, 50);
    const struct tn_item *item = world_save(world, a, 0, token, 5, "five", 4);
    assert_int_equal(item->outcome, TN_DONE);
    assert_int_equal(item->checkpoint.saved_ms, saved);
}

/* A new owner must start from what its predecessor saved last. */
static void a_claim_brings_the_checkpoint(struct world *world)
{
    const uint64_t a = world_join(world, "A");
    const uint64_t token = world_own(world, a, 0);
    world_save(world, a, 0, token, 3, "a\0b", 3);
    world_leave(world, a);
    const uint64_t b = world_join(world, "B");
    world_plan(world, world_node_of(world, b));
    const struct tn_item *item = world_verb(world, TN_OP_CLAIM, b, 0, token, 0);
    assert_int_equal(item->outcome, TN_DONE);
    assert_int_equal(item->checkpoint.size, 3);
    assert_memory_equal(item->checkpoint.data, "a\0b", 3);
    assert_int_equal(item->checkpoint.token, token);
}

/* Operators repair progress by hand: under the same rules unless they say --force. */
static void operators_write_under_the_same_rules(struct world *world)
{
    struct tenure_error error;
    struct tn_checkpoint found;
    struct tn_store *store = world->store;
    uint64_t seq = 0;
    const uint64_t a = world_join(world, "A");
    const uint64_t token = world_own(world, a, 0);
    world_save(world, a, 0, token, 5, "five", 4);
    struct tn_item item = {
        .shard = 0, .token = token + 1, .checkpoint = {.data = "six", .size = 3, .seq = 6}};
    assert_int_equal(store->type->checkpoint_set(store, 1, &item, false, &seq, 1000, &error), TENURE_STALE);
    item.token = token;
    assert_int_equal(store->type->checkpoint_set(store, 1, &item, false, &seq, 1000, &error), TENURE_OK);
    assert_int_equal(seq, 6);
    item.checkpoint.seq = 2;
    assert_int_equal(store->type->checkpoint_set(store, 1, &item, true, &seq, 1000, &error),
                     TENURE_REGRESSED);
    item.rewind = true;
    item.token = 0;
    assert_int_equal(store->type->checkpoint_set(store, 1, &item, true, &seq, 1000, &error), TENURE_OK);
    assert_int_equal(store->type->checkpoint_get(store, 1, 0, &world->arena, &found, 1000, &error),
                     TENURE_OK);
    assert_int_equal(found.seq, 2);
    assert_memory_equal(found.data, "six", 3);
    assert_int_equal(store->type->checkpoint_get(store, 1, 1, &world->arena, &found, 1000, &error),
                     TENURE_OK);
    assert_null(found.data);
    assert_int_equal(store->type->checkpoint_get(store, 1, 99, &world->arena, &found, 1000, &error),
                     TENURE_BAD_INPUT);
    item.checkpoint.size = TN_CHECKPOINT_MAX + 1;
    assert_int_equal(store->type->checkpoint_set(store, 1, &item, true, &seq, 1000, &error), TENURE_TOO_BIG);
}

int main(void)
{
    static const struct clause clauses[] = {
        {"C11 bytes come back exactly", bytes_come_back_exactly},
        {"C11 only the current token writes", only_the_current_token_writes},
        {"C11 sequences grow", sequences_grow},
        {"C11 a claim brings the checkpoint", a_claim_brings_the_checkpoint},
        {"C14 a save can be repeated", a_save_can_be_repeated},
        {"C11 operators write under the same rules", operators_write_under_the_same_rules},
    };
    return world_run(clauses, sizeof clauses / sizeof clauses[0]);
}
