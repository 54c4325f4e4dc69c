/* What the SQLite store refuses to open, and what it says. A store opened in spite of it would be damaged or
 * would lie. */
#include "scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_file(const char *path, const void *bytes, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

/* A typo in a path must not quietly make a second, empty store next to the real one. */
static void a_missing_store_is_made_only_on_request(void **state)
{
    struct scratch *scratch = *state;
    assert_int_equal(scratch_try(scratch, false), TENURE_UNREACHABLE);
    assert_non_null(strstr(scratch->error.text, scratch->path));
    assert_int_equal(access(scratch->path, F_OK), -1);
    assert_int_equal(scratch_try(scratch, true), TENURE_OK);
    assert_int_equal(scratch_try(scratch, false), TENURE_OK);
    snprintf(scratch->path, sizeof scratch->path, "%s/none/store.db", scratch->directory);
    assert_int_equal(scratch_try(scratch, true), TENURE_UNREACHABLE);
    assert_non_null(strstr(scratch->error.text, "No such file or directory"));
    write_file(strcat(scratch->directory, "/empty.db"), "", 0);
    snprintf(scratch->path, sizeof scratch->path, "%s", scratch->directory);
    *strrchr(scratch->directory, '/') = 0;
    assert_int_equal(scratch_try(scratch, false), TENURE_UNREACHABLE);
    assert_int_equal(scratch_try(scratch, true), TENURE_OK);
}

/* Only the default place is made; for any other a missing directory is more likely a mistake. */
static void the_default_directory_is_made(void **state)
{
    struct scratch *scratch = *state;
    char url[256];
    struct tn_store *store = NULL;
    setenv("XDG_STATE_HOME", scratch->directory, 1);
    assert_int_equal(tn_store_default_url(url, sizeof url, &scratch->error), TENURE_OK);
    assert_non_null(strstr(url, "/tenure/store.db"));
    assert_int_equal(tn_store_open(url, 0, &store, &scratch->error), TENURE_UNREACHABLE);
    assert_int_equal(tn_store_open(url, TN_STORE_CREATE, &store, &scratch->error), TENURE_OK);
    scratch_close(store);
    assert_int_equal(tn_store_default_url(url, 10, &scratch->error), TENURE_BAD_INPUT);
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", "/home/somebody", 1);
    assert_int_equal(tn_store_default_url(url, sizeof url, &scratch->error), TENURE_OK);
    assert_string_equal(url, "sqlite:/home/somebody/.local/state/tenure/store.db");
}

static void urls_are_checked(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = NULL;
    const char *const bad[] = {
        "", "sqlite:", "mysql://x", "/tmp/store.db", "sqlite:/tmp/x.db?any_fs=2", "sqlite:/tmp/x.db?foo=1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(tn_store_open(bad[i], TN_STORE_CREATE, &store, &scratch->error), TENURE_BAD_INPUT);
    assert_int_equal(tn_store_open("mysql://x", TN_STORE_CREATE, &store, &scratch->error), TENURE_BAD_INPUT);
    assert_non_null(strstr(scratch->error.text, "mysql://x"));
    assert_int_equal(tn_store_open("memory:", TN_STORE_CREATE, &store, &scratch->error), TENURE_OK);
    scratch_close(store);
    char url[160];
    snprintf(url, sizeof url, "sqlite:%s?any_fs=1", scratch->path);
    assert_int_equal(tn_store_open(url, TN_STORE_CREATE, &store, &scratch->error), TENURE_OK);
    struct tn_store_info info;
    assert_int_equal(store->type->info(store, &scratch->arena, &info, 1000, &scratch->error), TENURE_OK);
    assert_string_equal(info.location, scratch->path);
    assert_string_equal(info.backend, "sqlite");
    assert_int_equal(strlen(info.identity), 32);
    scratch_close(store);
}

/* The user's own database given by mistake must come out of it byte for byte as it was. */
static void a_foreign_database_is_left_alone(void **state)
{
    struct scratch *scratch = *state;
    scratch_sql(scratch, "create table t (x); insert into t values (1)");
    struct stat before;
    struct stat after;
    stat(scratch->path, &before);
    assert_int_equal(scratch_try(scratch, true), TENURE_CORRUPT);
    assert_non_null(strstr(scratch->error.text, "not a Tenure store"));
    assert_non_null(strstr(scratch->error.text, scratch->path));
    stat(scratch->path, &after);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_int_equal(scratch_number(scratch, "select count(*) from sqlite_master"), 1);
}

static void a_file_that_is_no_database_is_named(void **state)
{
    struct scratch *scratch = *state;
    char text[5000];
    memset(text, 'x', sizeof text);
    write_file(scratch->path, text, sizeof text);
    assert_int_equal(scratch_try(scratch, true), TENURE_CORRUPT);
    assert_non_null(strstr(scratch->error.text, scratch->path));
    snprintf(scratch->path, sizeof scratch->path, "%s", scratch->directory);
    assert_int_equal(scratch_try(scratch, true), TENURE_CORRUPT);
}

/* Damage in the middle of the file shows when it is read, as CORRUPT with the path, and nothing is written on
 * top. */
static void a_damaged_store_is_reported(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 4096);
    scratch_close(store);
    char garbage[4096];
    memset(garbage, 0xa5, sizeof garbage);
    const int fd = open(scratch->path, O_WRONLY);
    struct stat found;
    fstat(fd, &found);
    for (off_t at = 4096; at < found.st_size; at += 4096)
        assert_int_equal(pwrite(fd, garbage, sizeof garbage, at), sizeof garbage);
    close(fd);
    assert_int_equal(scratch_try(scratch, true), TENURE_CORRUPT);
    assert_non_null(strstr(scratch->error.text, scratch->path));
}

/* An old program that writes into a newer store would break what it does not know. */
static void a_newer_schema_is_refused(void **state)
{
    struct scratch *scratch = *state;
    scratch_close(scratch_open(scratch));
    scratch_sql(scratch, "pragma user_version = 99");
    assert_int_equal(scratch_try(scratch, true), TENURE_NEWER_SCHEMA);
    assert_non_null(strstr(scratch->error.text, "99"));
    assert_int_equal(scratch_number(scratch, "pragma user_version"), 99);
}

/* On a network file system locks may be local to each machine: two owners of everything. */
static void unknown_file_systems_are_refused(void **state)
{
    struct scratch *scratch = *state;
    scratch->options.fs_type = 0x6969; /* NFS */
    assert_int_equal(scratch_try(scratch, true), TENURE_REFUSED);
    assert_non_null(strstr(scratch->error.text, "0x6969"));
    assert_non_null(strstr(scratch->error.text, "any_fs=1"));
    assert_int_equal(access(scratch->path, F_OK), -1);
    scratch->options.any_fs = true;
    assert_int_equal(scratch_try(scratch, true), TENURE_OK);
}

/* The operator needs the path and the system's word for it, and root needs no permission: so this asks as
 * somebody else. */
static void what_cannot_be_read_is_named(void **state)
{
    struct scratch *scratch = *state;
    scratch_close(scratch_open(scratch));
    chmod(scratch->path, 0600);
    chmod(scratch->directory, 0755);
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(9);
        if (geteuid() != 65534)
            chmod(scratch->path, 0);
        struct tn_store *store = NULL;
        const enum tenure_status status =
            tn_sqlite_open(scratch->path, false, &scratch->options, &store, &scratch->error);
        const bool named = strstr(scratch->error.text, scratch->directory) &&
                           strstr(scratch->error.text, "Permission denied");
        _exit(status == TENURE_IO && named ? 0 : 1);
    }
    int code = 0;
    waitpid(child, &code, 0);
    assert_int_equal(code, 0);
    chmod(scratch->path, 0600);
}

/* A handle on a file that was replaced would go on renewing a lease that nobody else can see. */
static void a_replaced_file_is_noticed(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    const uint64_t session = scratch_join(scratch, store, "A", 1).join.session;
    assert_int_equal(scratch_tick(scratch, store, session, 1000).status, TENURE_OK);
    char aside[128];
    snprintf(aside, sizeof aside, "%s.old", scratch->path);
    rename(scratch->path, aside);
    struct tn_op op = scratch_tick(scratch, store, session, 1000);
    assert_int_equal(op.status, TENURE_CORRUPT);
    assert_non_null(strstr(op.error.text, "replaced or deleted"));
    write_file(scratch->path, "", 0);
    assert_int_equal(scratch_tick(scratch, store, session, 1000).status, TENURE_CORRUPT);
    unlink(scratch->path);
    rename(aside, scratch->path);
    assert_int_equal(scratch_tick(scratch, store, session, 1000).status, TENURE_OK);
    scratch_close(store);
}

/* SQLite handles break across fork in ways that damage the file: the child must be told, and the parent not
 * disturbed. */
static void a_handle_does_not_survive_fork(void **state)
{
    struct scratch *scratch = *state;
    struct tn_store *store = scratch_open(scratch);
    scratch_group(scratch, store, 8);
    const uint64_t session = scratch_join(scratch, store, "A", 1).join.session;
    const pid_t child = fork();
    if (child == 0) {
        const struct tn_op op = scratch_tick(scratch, store, session, 1000);
        const bool changed = store->type->changed(store);
        scratch_close(store);
        _exit(op.status == TENURE_BUG && !changed ? 0 : 1);
    }
    int code = 0;
    waitpid(child, &code, 0);
    assert_int_equal(code, 0);
    assert_int_equal(scratch_tick(scratch, store, session, 1000).status, TENURE_OK);
    scratch_close(store);
    scratch_check(scratch);
}

/* Two processes that start at once on nothing must come out with one whole store. */
static void many_may_create_at_once(void **state)
{
    struct scratch *scratch = *state;
    pid_t children[8];
    for (int i = 0; i < 8; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            struct tn_store *store = NULL;
            const enum tenure_status status =
                tn_sqlite_open(scratch->path, true, &scratch->options, &store, &scratch->error);
            if (status != TENURE_OK)
                fprintf(stderr, "%s\n", scratch->error.text);
            _exit(status);
        }
    }
    for (int i = 0; i < 8; i++) {
        int code = 0;
        waitpid(children[i], &code, 0);
        assert_int_equal(code, 0);
    }
    assert_int_equal(scratch_number(scratch, "select count(*) from store"), 1);
    scratch_check(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_missing_store_is_made_only_on_request),
        SCRATCH_TEST(the_default_directory_is_made),
        SCRATCH_TEST(urls_are_checked),
        SCRATCH_TEST(a_foreign_database_is_left_alone),
        SCRATCH_TEST(a_file_that_is_no_database_is_named),
        SCRATCH_TEST(a_damaged_store_is_reported),
        SCRATCH_TEST(a_newer_schema_is_refused),
        SCRATCH_TEST(unknown_file_systems_are_refused),
        SCRATCH_TEST(what_cannot_be_read_is_named),
        SCRATCH_TEST(a_replaced_file_is_noticed),
        SCRATCH_TEST(a_handle_does_not_survive_fork),
        SCRATCH_TEST(many_may_create_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
