#include "kit/lab.h"

#include "store/memory/memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum happening { WAKE, ARRIVES, ANSWERED, APP };

struct tn_lab_event {
    int64_t at_ms;
    uint64_t order;
    enum happening what;
    int node;
    uint64_t session; /* WAKE: which one */
    struct tn_keeper_event event;
    struct tn_op *op;
    struct tn_arena *memory; /* of op: request and reply */
};

static void line(struct tn_lab *lab, const struct tn_lab_node *node, const char *format, ...)
{
    char words[512];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    tn_text_print(&lab->trace, "%7" PRId64 " %-2s %s\n", lab->now_ms, node ? node->id : "--", words);
}

void tn_lab_broke(struct tn_lab *lab, const char *format, ...)
{
    if (lab->broken[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(lab->broken, sizeof lab->broken, format, args);
    va_end(args);
    fprintf(stderr, "at %" PRId64 " ms: broken law: %s\n%s", lab->now_ms, lab->broken,
            lab->trace.length > 6000 ? lab->trace.bytes + lab->trace.length - 6000 : lab->trace.bytes);
}

static void plan_event(struct tn_lab *lab, struct tn_lab_event event, int64_t in_ms)
{
    event.at_ms = lab->now_ms + in_ms;
    event.order = ++lab->order;
    if (lab->n_events == lab->room) {
        lab->room = lab->room ? lab->room * 2 : 256;
        lab->events = realloc(lab->events, lab->room * sizeof *lab->events);
        if (!lab->events)
            abort();
    }
    size_t i = lab->n_events++;
    for (; i > 0; i = (i - 1) / 2) {
        const struct tn_lab_event *up = &lab->events[(i - 1) / 2];
        if (up->at_ms < event.at_ms || (up->at_ms == event.at_ms && up->order < event.order))
            break;
        lab->events[i] = *up;
    }
    lab->events[i] = event;
}

static bool before(const struct tn_lab_event *a, const struct tn_lab_event *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->order < b->order;
}

static struct tn_lab_event next_event(struct tn_lab *lab)
{
    const struct tn_lab_event first = lab->events[0], last = lab->events[--lab->n_events];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= lab->n_events)
            break;
        if (child + 1 < lab->n_events && before(&lab->events[child + 1], &lab->events[child]))
            child++;
        if (!before(&lab->events[child], &last))
            break;
        lab->events[i] = lab->events[child];
        i = child;
    }
    if (lab->n_events)
        lab->events[i] = last;
    return first;
}

static int64_t clock_of(void *context)
{
    return ((struct tn_lab *)context)->now_ms;
}

/* ---- what an update does to a node ---- */

static bool gate_open(const struct tn_lab *lab, const struct tn_lab_node *node, uint32_t shard)
{
    return node->used && node->running && !node->paused && node->gate[shard] &&
           (lab->now_ms < node->deadline_ms || lab->never_stops);
}

static void judge_one_gate(struct tn_lab *lab, uint32_t shard)
{
    const struct tn_lab_node *first = NULL;
    for (int i = 0; i < TN_LAB_NODES; i++) {
        const struct tn_lab_node *node = &lab->nodes[i];
        if (!gate_open(lab, node, shard))
            continue;
        if (first)
            tn_lab_broke(lab, "shard %u has two open gates: %s and %s", shard, first->id, node->id);
        first = node;
    }
}

static void schedule_answer(struct tn_lab *lab, int index, enum tn_keeper_event_kind kind,
                            const struct tn_notice *notice, int64_t in_ms)
{
    plan_event(
        lab,
        (struct tn_lab_event){
            .what = APP,
            .node = index,
            .event = {.kind = kind, .group = notice->group, .shard = notice->shard, .token = notice->token}},
        in_ms);
}

static void hear(struct tn_lab *lab, int index, const struct tn_notice *notice)
{
    struct tn_lab_node *node = &lab->nodes[index];
    switch (notice->kind) {
    case TN_NOTICE_ASSIGNED:
        if (!lab->quiet_shards)
            line(lab, node, "shard %u assigned under token %" PRIu64 ": %s", notice->shard, notice->token,
                 notice->reason);
        if (notice->token <= node->token[notice->shard])
            tn_lab_broke(lab, "%s got shard %u under token %" PRIu64 " after %" PRIu64, node->id,
                         notice->shard, notice->token, node->token[notice->shard]);
        node->token[notice->shard] = notice->token;
        node->assigned++;
        schedule_answer(lab, index, TN_KEEPER_READY, notice, lab->ready_ms);
        break;
    case TN_NOTICE_PREPARE: schedule_answer(lab, index, TN_KEEPER_WARMED, notice, 1); break;
    case TN_NOTICE_DRAIN:
        node->drained++;
        schedule_answer(lab, index, TN_KEEPER_RELEASED, notice, lab->drain_ms);
        break;
    case TN_NOTICE_LOST:
        node->lost++;
        if (!lab->quiet_shards)
            line(lab, node, "shard %u lost: %s", notice->shard, notice->reason);
        break;
    case TN_NOTICE_GROUP: node->joined = true; break;
    case TN_NOTICE_GROUP_FAILED:
        node->failed = notice->status;

        line(lab, node, "not joined: %s", tenure_status_sentence(notice->status));
        break;
    case TN_NOTICE_JOINED: line(lab, node, "joined"); break;
    case TN_NOTICE_ENDED: line(lab, node, "session ended: %s", notice->reason); break;
    case TN_NOTICE_STOPPED:
        node->running = false;
        node->stopped = notice->status;
        line(lab, node, "stopped: %s", tenure_status_sentence(notice->status));
        break;
    case TN_NOTICE_LOG: line(lab, node, "%s", notice->reason); break;
    default: break;
    }
}

static void change_gate(struct tn_lab *lab, int index, const struct tn_gate_change *change)
{
    if (change->token || !lab->never_stops)
        lab->nodes[index].gate[change->shard] = change->token;
    if (change->token)
        judge_one_gate(lab, change->shard);
    if (change->want_idle)
        plan_event(lab,
                   (struct tn_lab_event){
                       .what = APP,
                       .node = index,
                       .event = {.kind = TN_KEEPER_IDLE, .group = change->group, .shard = change->shard}},
                   0);
}

static struct tn_op *copy_op(const struct tn_op *op, struct tn_arena *memory)
{
    struct tn_op *copy = tn_arena_copy(memory, op, sizeof *op);
    copy->items = tn_arena_copy(memory, op->items, op->n_items * sizeof *op->items);
    if (op->kind == TN_OP_TICK || op->kind == TN_OP_SYNC)
        copy->tick.cursors =
            tn_arena_copy(memory, op->tick.cursors, op->tick.n_cursors * sizeof *op->tick.cursors);
    if (op->kind == TN_OP_JOIN)
        copy->join.groups =
            tn_arena_copy(memory, op->join.groups, op->join.n_groups * sizeof *op->join.groups);
    if (op->kind == TN_OP_PROBE)
        copy->probe.sessions =
            tn_arena_copy(memory, op->probe.sessions, op->probe.n * sizeof *op->probe.sessions);
    copy->arena = memory;
    return copy;
}

static void step(struct tn_lab *lab, int index, const struct tn_keeper_event *event)
{
    struct tn_lab_node *node = &lab->nodes[index];
    struct tn_arena memory;
    tn_arena_init(&memory);
    struct tn_update update = {.arena = &memory};
    tn_keeper_step(&node->keeper, event, lab->now_ms, &update);
    node->deadline_ms = update.deadline_ms;
    for (const struct tn_gate_change *change = update.gates; change; change = change->next)
        change_gate(lab, index, change);
    for (const struct tn_notice *notice = update.notices; notice; notice = notice->next)
        hear(lab, index, notice);
    for (const struct tn_request *request = update.requests; request; request = request->next) {
        struct tn_arena *own = malloc(sizeof *own);
        if (!own)
            abort();
        tn_arena_init(own);
        node->calls[request->op.kind]++;
        plan_event(lab,
                   (struct tn_lab_event){
                       .what = ARRIVES, .node = index, .op = copy_op(&request->op, own), .memory = own},
                   lab->latency_ms + (int64_t)tn_rng_below(&lab->rng, 2));
    }
    /* Only the last wake-up asked for counts. */
    node->wake = ++lab->order;
    plan_event(lab,
               (struct tn_lab_event){
                   .what = WAKE, .node = index, .session = node->wake, .event = {.kind = TN_KEEPER_WAKE}},
               update.wake_ms > lab->now_ms ? update.wake_ms - lab->now_ms : 1);
    tn_arena_done(&memory);
    const char *law = tn_keeper_check(&node->keeper);
    if (law)
        tn_lab_broke(lab, "%s: %s", node->id, law);
}

/* Others see a change the next time they look. */
static void tell_others(struct tn_lab *lab, int but)
{
    for (int i = 0; i < TN_LAB_NODES; i++)
        if (lab->nodes[i].used && i != but)
            plan_event(lab,
                       (struct tn_lab_event){.what = APP, .node = i, .event = {.kind = TN_KEEPER_CHANGED}},
                       1 + (int64_t)tn_rng_below(&lab->rng, 5));
}

static void arrive(struct tn_lab *lab, struct tn_lab_event *event)
{
    struct tn_lab_node *node = &lab->nodes[event->node];
    if (lab->store_down || node->cut) {
        event->op->status = TENURE_UNREACHABLE;
        snprintf(event->op->error.text, sizeof event->op->error.text, "the store is down");
    } else {
        lab->store->type->exec(lab->store, event->op);
        if (event->op->kind == TN_OP_JOIN && event->op->status == TENURE_OK)
            tn_memory_set_presence(lab->store, event->op->join.session, TN_PRESENCE_THERE);
        if (event->op->kind != TN_OP_PROBE && event->op->kind != TN_OP_SYNC)
            tell_others(lab, event->node);
        tn_lab_judge_store(lab);
        if (node->lose_count && event->op->kind == node->lose_kind) {
            node->lose_count--;
            line(lab, node, "the reply to %s is lost", tn_op_name(event->op->kind));
            event->op->status = TENURE_MAYBE;
        }
    }
    event->what = ANSWERED;
    plan_event(lab, *event, lab->latency_ms);
}

static void drop(struct tn_lab_event *event)
{
    if (!event->memory)
        return;
    tn_arena_done(event->memory);
    free(event->memory);
}

static void happen(struct tn_lab *lab, struct tn_lab_event *event)
{
    struct tn_lab_node *node = &lab->nodes[event->node];
    if (event->what == ARRIVES) {
        arrive(lab, event); /* a request on its way arrives also when its sender is dead or paused */
        return;
    }
    if (event->what == WAKE && event->session != node->wake)
        return;
    if (node->paused && node->running) { /* waits until the process runs again */
        plan_event(lab, *event, 10);
        return;
    }
    if (node->running) {
        event->event.kind = event->what == ANSWERED ? TN_KEEPER_REPLY : event->event.kind;
        event->event.op = event->op;
        step(lab, event->node, &event->event);
    }
    drop(event);
}

/* ---- the public side ---- */

void tn_lab_open(struct tn_lab *lab, uint64_t seed, const struct tn_settings *settings)
{
    memset(lab, 0, sizeof *lab);
    lab->now_ms = 1000;
    lab->rng.state = seed;
    lab->settings = *settings;
    tn_settings_derive(&lab->settings);
    lab->group = "orders";
    lab->group_number = 1;
    lab->latency_ms = 1;
    lab->ready_ms = 2;
    lab->drain_ms = 5;
    tn_text_init(&lab->trace);
    lab->store = tn_memory_open(
        &(struct tn_memory_options){.lease_ms = clock_of, .unix_ms = clock_of, .context = lab});
    struct tn_hasher hasher;
    struct tenure_error error = {0};
    if (tn_hasher_init(&hasher, settings->algo, settings->seed, settings->shards, &error) != TENURE_OK ||
        lab->store->type->group_create(lab->store, lab->group, &lab->settings, tn_hash_fingerprint(&hasher),
                                       1000, &error) != TENURE_OK) {
        fprintf(stderr, "the lab could not be opened: %s\n", error.text);
        abort();
    }
}

void tn_lab_close(struct tn_lab *lab)
{
    for (size_t i = 0; i < lab->n_events; i++)
        drop(&lab->events[i]);
    free(lab->events);
    for (int i = 0; i < TN_LAB_NODES; i++) {
        if (!lab->nodes[i].used)
            continue;
        tn_keeper_done(&lab->nodes[i].keeper);
        free(lab->nodes[i].gate);
        free(lab->nodes[i].token);
    }
    tn_text_done(&lab->trace);
    lab->store->type->close(lab->store);
}

struct tn_lab_node *tn_lab_start(struct tn_lab *lab, const char *id)
{
    int index = 0;
    while (index < TN_LAB_NODES && lab->nodes[index].used)
        index++;
    if (index == TN_LAB_NODES)
        abort();
    struct tn_lab_node *node = &lab->nodes[index];
    node->used = node->running = true;
    snprintf(node->id, sizeof node->id, "%s", id);
    node->gate = calloc(lab->settings.shards, sizeof *node->gate);
    node->token = calloc(lab->settings.shards, sizeof *node->token);
    const struct tn_keeper_options options = {.node_id = node->id,
                                              .address = "",
                                              .labels = "{}",
                                              .weight_milli = 1000,
                                              .seed = tn_rng_next(&lab->rng)};
    tn_keeper_init(&node->keeper, &options);
    line(lab, node, "starts");
    step(lab, index, &(struct tn_keeper_event){.kind = TN_KEEPER_JOIN, .name = lab->group});
    return node;
}

static int index_of(struct tn_lab *lab, const char *id)
{
    for (int i = TN_LAB_NODES - 1; i >= 0; i--)
        if (lab->nodes[i].used && !strcmp(lab->nodes[i].id, id))
            return i;
    fprintf(stderr, "there is no node %s\n", id);
    abort();
}

struct tn_lab_node *tn_lab_node(struct tn_lab *lab, const char *id)
{
    return &lab->nodes[index_of(lab, id)];
}

void tn_lab_kill(struct tn_lab *lab, const char *id)
{
    struct tn_lab_node *node = tn_lab_node(lab, id);
    node->running = false;
    tn_memory_set_presence(lab->store, node->keeper.session, TN_PRESENCE_GONE);
    line(lab, node, "is killed");
}

void tn_lab_pause(struct tn_lab *lab, const char *id)
{
    tn_lab_node(lab, id)->paused = true;
    line(lab, tn_lab_node(lab, id), "is paused");
}

void tn_lab_resume(struct tn_lab *lab, const char *id)
{
    tn_lab_node(lab, id)->paused = false;
    line(lab, tn_lab_node(lab, id), "runs again");
}

void tn_lab_stop(struct tn_lab *lab, const char *id, int64_t limit_ms)
{
    line(lab, tn_lab_node(lab, id), "is asked to stop");
    step(lab, index_of(lab, id), &(struct tn_keeper_event){.kind = TN_KEEPER_STOP, .limit_ms = limit_ms});
}

void tn_lab_tell(struct tn_lab *lab, const char *id, enum tn_keeper_event_kind kind, uint32_t shard,
                 uint64_t token)
{
    step(lab, index_of(lab, id), &(struct tn_keeper_event){.kind = kind, .shard = shard, .token = token});
}

static bool run_one(struct tn_lab *lab, int64_t until_ms)
{
    if (lab->broken[0] || !lab->n_events || lab->events[0].at_ms > until_ms)
        return false;
    struct tn_lab_event event = next_event(lab);
    lab->now_ms = event.at_ms;
    happen(lab, &event);
    return true;
}

void tn_lab_run(struct tn_lab *lab, int64_t ms)
{
    const int64_t until = lab->now_ms + ms;
    while (run_one(lab, until))
        continue;
    if (!lab->broken[0])
        lab->now_ms = until;
}

int64_t tn_lab_until(struct tn_lab *lab, bool (*condition)(struct tn_lab *, const void *),
                     const void *argument, int64_t limit_ms)
{
    const int64_t began = lab->now_ms;
    while (!condition(lab, argument)) {
        const int64_t slice = lab->now_ms + 5;
        if (lab->broken[0] || lab->now_ms - began >= limit_ms)
            return -1;
        while (run_one(lab, slice))
            continue;
        lab->now_ms = slice;
    }
    return lab->now_ms - began;
}
