/* A node for tests with real processes: answers at once, and says on standard output, a JSON line an event,
 * what happened when (boot clock).
 *
 * usage: lab_node STORE_URL GROUP NODE [--data FILE] [--ready-ms N] [--drain-ms N] [--replace] [--limit-ms N]
 * [--wait] Between events it looks at its gates. When it finds that it did not run for a second (it was
 * paused), it asks both gates first of all, and then tries what a zombie tries: a protected write to --data
 * and a checkpoint under its old token. */
#include "sys/clock.h"
#include "tenure/tenure.h"

#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { look_ms = 5, held_up_ms = 1000, shards_max = 1 << 20 };

static volatile sig_atomic_t asked_to_stop;
static const char *data_file;
static int64_t ready_ms, drain_ms;

static void on_signal(int signal)
{
    (void)signal;
    asked_to_stop = 1;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("{\"t\":%.3f,", (double)tn_clock_boot_ns() / 1e6);
    vprintf(format, args);
    puts("}");
    fflush(stdout);
    va_end(args);
}

static void say_shard(const char *what, const struct tenure_event *event)
{
    say("\"what\":\"%s\",\"shard\":%u,\"token\":%" PRIu64 ",\"seq\":%" PRIu64 ",\"reason\":\"%s\"", what,
        event->shard, event->token, event->seq, event->reason);
}

static void log_line(void *context, int level, const char *line)
{
    (void)context;
    (void)level;
    fprintf(stderr, "%.3f %s\n", (double)tn_clock_boot_ns() / 1e6, line);
}

/* A fenced write as any program makes it. */
static const char *protected_write(const char *group, uint32_t shard, const char *node, uint64_t token)
{
    sqlite3 *db;
    char sql[512];
    snprintf(sql, sizeof sql,
             "begin immediate; insert into tenure_fence(group_name, shard, node, token) values ('%s', %u, "
             "'%s', %" PRIu64 "); insert into work(shard, token) values (%u, %" PRIu64 "); commit",
             group, shard, node, token, shard, token);
    if (sqlite3_open(data_file, &db) != SQLITE_OK)
        return "not opened";
    sqlite3_busy_timeout(db, 2000);
    const char *said = "done";
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        said = strstr(sqlite3_errmsg(db), "TN001") ? "refused" : "failed";
    sqlite3_close(db);
    return said;
}

static void act_like_a_zombie(struct tenure *tenure, struct tenure_group *group, const uint64_t *tokens)
{
    const uint32_t shards = tenure_group_shards(group);
    uint32_t exact = 0, quick = 0, owned = 0, first = UINT32_MAX;
    for (uint32_t s = 0; s < shards; s++) {
        if (!tokens[s])
            continue;
        owned++;
        exact += tenure_gate_exact(group, s, tokens[s]);
        quick += tenure_gate_quick(group, s, tokens[s]);
        if (first == UINT32_MAX)
            first = s;
    }
    if (first == UINT32_MAX)
        return;
    say("\"what\":\"held up\",\"owned\":%u,\"exact\":%u,\"quick\":%u", owned, exact, quick);
    const char *write =
        data_file ? protected_write(tenure_group_name(group), first, tenure_node_id(tenure), tokens[first])
                  : "none";
    const enum tenure_status saved =
        tenure_checkpoint_save(group, first, tokens[first], "late", 4, 0, false, NULL);
    struct tenure_counters counters;
    tenure_counters(tenure, &counters);
    say("\"what\":\"zombie\",\"shard\":%u,\"token\":%" PRIu64
        ",\"write\":\"%s\",\"checkpoint\":\"%s\",\"stale_rejected\":%" PRIu64,
        first, tokens[first], write, tenure_status_name(saved), counters.stale_rejected);
}

/* Raises the stamp before anything is read, as a worker must. */
static bool take_up(const struct tenure_event *event)
{
    if (ready_ms)
        tn_clock_sleep_ms(ready_ms);
    if (data_file && tenure_stamp_raise(data_file, tenure_group_name(event->group), event->shard,
                                        event->token, 5000, NULL) != TENURE_OK)
        return false;
    return tenure_ready(event->group, event->shard, event->token) == TENURE_OK;
}

static bool on_event(const struct tenure_event *event, uint64_t *tokens, int *ret_exit)
{
    switch (event->kind) {
    case TENURE_EVENT_ASSIGNED:
        say_shard("assigned", event);
        if (take_up(event)) {
            tokens[event->shard] = event->token;
            say_shard("ready", event);
        }
        break;
    case TENURE_EVENT_PREPARE: tenure_prepared(event->group, event->shard); break;
    case TENURE_EVENT_DRAIN:
        say_shard("drain", event);
        if (drain_ms)
            tn_clock_sleep_ms(drain_ms);
        tenure_checkpoint_save(event->group, event->shard, event->token, "drained", 7, 0, false, NULL);
        tokens[event->shard] = 0;
        tenure_released(event->group, event->shard, event->token);
        say_shard("released", event);
        break;
    case TENURE_EVENT_LOST:
        tokens[event->shard] = 0;
        say_shard("lost", event);
        break;
    case TENURE_EVENT_JOINED: say("\"what\":\"joined\",\"session\":%" PRIu64, event->token); break;
    case TENURE_EVENT_ENDED:
        say("\"what\":\"ended\",\"status\":\"%s\"", tenure_status_name(event->status));
        break;
    case TENURE_EVENT_STOPPED:
        say("\"what\":\"stopped\",\"status\":\"%s\"", tenure_status_name(event->status));
        *ret_exit = tenure_status_exit(event->status);
        return false;
    default: break;
    }
    return true;
}

static int work(struct tenure *tenure, struct tenure_group *group, int64_t limit_ms)
{
    uint64_t *tokens = calloc(tenure_group_shards(group), sizeof *tokens);
    int exit_status = 0;
    bool stopping = false;
    int64_t last = tn_clock_boot_ms();
    for (;;) {
        if (tn_clock_boot_ms() - last > held_up_ms)
            act_like_a_zombie(tenure, group, tokens);
        last = tn_clock_boot_ms();
        if (asked_to_stop && !stopping) {
            stopping = true;
            tenure_stop(tenure, limit_ms);
        }
        struct tenure_event event;
        if (tenure_next(tenure, look_ms, &event) != TENURE_OK)
            continue;
        /* an event that was waiting while the process stood still must not hide the pause */
        if (tn_clock_boot_ms() - last > held_up_ms)
            act_like_a_zombie(tenure, group, tokens);
        if (!on_event(&event, tokens, &exit_status))
            break;
        last = tn_clock_boot_ms();
    }
    struct tenure_counters counters;
    tenure_counters(tenure, &counters);
    say("\"what\":\"counters\",\"renewals\":%" PRIu64 ",\"renewal_failures\":%" PRIu64
        ",\"stale_rejected\":%" PRIu64 ",\"store_calls\":%" PRIu64,
        counters.renewals, counters.renewal_failures, counters.stale_rejected, counters.store_calls);
    free(tokens);
    return exit_status;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    struct tenure_options options;
    tenure_options_init(&options);
    options.store = argv[1];
    options.node_id = argv[3][0] ? argv[3] : NULL;
    options.log = log_line;
    int64_t limit_ms = 30000;
    for (int i = 4; i < argc; i++) {
        if (!strcmp(argv[i], "--replace"))
            options.replace = true;
        else if (!strcmp(argv[i],
                         "--wait")) /* so that many can be let go at once: until standard input ends */
            while (getchar() != EOF)
                continue;
        else if (!strcmp(argv[i], "--data"))
            data_file = argv[++i];
        else if (!strcmp(argv[i], "--ready-ms"))
            ready_ms = atoll(argv[++i]);
        else if (!strcmp(argv[i], "--drain-ms"))
            drain_ms = atoll(argv[++i]);
        else if (!strcmp(argv[i], "--limit-ms"))
            limit_ms = atoll(argv[++i]);
    }
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    struct tenure_error error = {0};
    struct tenure *tenure;
    struct tenure_group *group;
    enum tenure_status status = tenure_open(&options, &tenure, &error);
    if (status == TENURE_OK) {
        status = tenure_join(tenure, argv[2], &group, &error);
        if (status != TENURE_OK)
            tenure_close(tenure);
    }
    if (status != TENURE_OK) {
        say("\"what\":\"refused\",\"status\":\"%s\"", tenure_status_name(status));
        fprintf(stderr, "%s\n", error.text);
        return tenure_status_exit(status);
    }
    const int exit_status = work(tenure, group, limit_ms);
    tenure_close(tenure);
    return exit_status;
}
