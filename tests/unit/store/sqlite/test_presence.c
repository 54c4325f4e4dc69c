/* Presence between real processes: "gone" costs a live node its shards if it is wrong. */
#include "scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static enum tn_presence probe(struct scratch *scratch, struct tn_store *store, uint64_t session)
{
    struct tn_op op = {
        .kind = TN_OP_PROBE, .limit_ms = 1000, .arena = &scratch->arena, .probe = {&session, 1, NULL}};
    store->type->exec(store, &op);
    assert_int_equal(op.status, TENURE_OK);
    return op.probe.found[0];
}

static bool bury_crashed(struct scratch *scratch, struct tn_store *store, uint64_t session)
{
    struct tn_op op = {.kind = TN_OP_BURY,
                       .limit_ms = 1000,
                       .arena = &scratch->arena,
                       .bury = {session, TN_CRASHED, 0, 0, 0, 0}};
    store->type->exec(store, &op);
    assert_int_equal(op.status, TENURE_OK);
    return op.bury.buried;
}

/* A process of its own that has joined: the pipe tells its session, then it waits to be killed. */
struct process {
    pid_t pid, worker;
    uint64_t session;
};

static void live(struct scratch *scratch, bool with_worker, int report)
{
    struct process self = {.pid = getpid()};
    struct tn_store *store = NULL;
    tn_sqlite_open(scratch->path, false, &scratch->options, &store, &scratch->error);
    self.session = scratch_join(scratch, store, "A", 1).join.session;
    if (with_worker) {
        const int fd = tn_sqlite_presence_fd(store);
        self.worker = fork();
        if (self.worker == 0) {
            fcntl(fd, F_SETFD, 0); /* inherited on purpose, over exec too */
            execlp("sleep", "sleep", "30", (char *)NULL);
            _exit(9);
        }
    }
    if (write(report, &self, sizeof self) != sizeof self)
        _exit(9);
    for (;;)
        pause();
}

static struct process start(struct scratch *scratch, bool with_worker)
{
    int ends[2];
    struct process process = {0};
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0)
        live(scratch, with_worker, ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &process, sizeof process), sizeof process);
    close(ends[0]);
    return process;
}

static void stop(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void a_killed_process_is_gone_at_once(void **state)
{
    struct scratch *scratch = *state;
    scratch_close(scratch_open(scratch));
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    const struct process process = start(scratch, false);
    assert_int_equal(probe(scratch, store, process.session), TN_PRESENCE_THERE);
    assert_false(bury_crashed(scratch, store, process.session));
    kill(process.pid, SIGSTOP); /* paused is not gone */
    assert_int_equal(probe(scratch, store, process.session), TN_PRESENCE_THERE);
    stop(process.pid);
    assert_int_equal(probe(scratch, store, process.session), TN_PRESENCE_GONE);
    const struct tn_op again = scratch_join(scratch, store, "A", 2);
    assert_int_equal(again.status, TENURE_OK); /* a restart is let in at once */
    assert_string_equal(scratch_tick(scratch, store, process.session, 1000).tick.end_reason, "crashed");
    assert_int_equal(probe(scratch, store, again.join.session), TN_PRESENCE_THERE); /* its own */
    scratch_close(store);
}

/* A worker that outlives its agent may still write: the session must not end before its lease. */
static void an_inheritor_keeps_the_session(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    const struct process process = start(scratch, true);
    stop(process.pid);
    assert_int_equal(probe(scratch, store, process.session), TN_PRESENCE_THERE);
    assert_int_equal(scratch_join(scratch, store, "A", 2).status, TENURE_ID_IN_USE);
    kill(process.worker, SIGKILL);
    for (int i = 0; i < 2000 && probe(scratch, store, process.session) != TN_PRESENCE_GONE; i++)
        usleep(1000); /* it is init's child now: nobody here can wait for it */
    assert_true(bury_crashed(scratch, store, process.session));
    scratch_close(store);
}

/* Somebody who tidies up beside the database must not thereby declare the fleet dead. */
static void a_missing_or_other_file_says_nothing(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    struct tn_store *other = scratch_open(scratch);
    char name[128];
    char aside[128];
    snprintf(name, sizeof name, "%s-presence", scratch->path);
    snprintf(aside, sizeof aside, "%s-aside", scratch->path);
    scratch_group(scratch, store, 8);
    const uint64_t a = scratch_join(scratch, store, "A", 1).join.session;
    assert_int_equal(probe(scratch, other, a), TN_PRESENCE_THERE);
    assert_int_equal(rename(name, aside), 0);
    assert_int_equal(probe(scratch, other, a), TN_PRESENCE_UNKNOWN);
    const uint64_t b = scratch_join(scratch, other, "B", 2).join.session; /* makes a new file */
    assert_int_equal(probe(scratch, store, b), TN_PRESENCE_THERE);
    assert_int_equal(probe(scratch, other, a), TN_PRESENCE_UNKNOWN);
    assert_false(bury_crashed(scratch, other, a));
    assert_int_equal(rename(aside, name), 0);
    assert_int_equal(probe(scratch, other, a), TN_PRESENCE_THERE);
    assert_int_equal(probe(scratch, store, b), TN_PRESENCE_UNKNOWN);
    /* The same file with another id in it is another file. */
    const int fd = open(name, O_WRONLY);
    assert_int_equal(pwrite(fd, "xxxx", 4, 0), 4);
    close(fd);
    assert_int_equal(probe(scratch, other, a), TN_PRESENCE_UNKNOWN);
    scratch_close(other);
    scratch_close(store);
}

/* Without presence a node must work all the same, and nobody may believe to know anything about it. */
static void a_join_works_without_presence(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    char name[128];
    snprintf(name, sizeof name, "%s-presence", scratch->path);
    scratch_group(scratch, store, 8);
    mkdir(name, 0755);
    const uint64_t a = scratch_join(scratch, store, "A", 1).join.session;
    assert_int_equal(scratch_number(scratch, "select presence is null from session"), 1);
    assert_int_equal(probe(scratch, store, a), TN_PRESENCE_UNKNOWN);
    assert_int_equal(tn_sqlite_presence_fd(store), -1);
    scratch_close(store);
}

/* A byte that stays locked after a join was rolled back would make the next session with that number look
 * alive for ever. */
static void a_join_that_fails_gives_its_lock_up(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    struct tn_store *other = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    scratch_sql(scratch, "create trigger no before insert on event begin select raise(abort, 'no'); end");
    assert_int_equal(scratch_join(scratch, store, "A", 1).status, TENURE_BUG);
    scratch_sql(scratch, "drop trigger no");
    const uint64_t b = scratch_join(scratch, other, "B", 2).join.session;
    assert_int_equal(b, 1);
    assert_int_equal(scratch_number(scratch, "select presence is not null from session"), 1);
    scratch_close(other);
    assert_int_equal(probe(scratch, store, b), TN_PRESENCE_GONE);
    scratch_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_killed_process_is_gone_at_once),     SCRATCH_TEST(an_inheritor_keeps_the_session),
        SCRATCH_TEST(a_missing_or_other_file_says_nothing), SCRATCH_TEST(a_join_works_without_presence),
        SCRATCH_TEST(a_join_that_fails_gives_its_lock_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
