#include "store/store.h"

#include "store/memory/memory.h"
#include "store/sqlite/sqlite.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { url_room = 4096 };

static const char sqlite_scheme[] = "sqlite:";

/* ---- sqlite:PATH[?any_fs=1] ---- */

static enum tenure_status read_options(const char *query, struct tn_sqlite_options *options,
                                       struct tenure_error *error)
{
    while (*query) {
        const size_t length = strcspn(query, "&");
        if (length == 8 && !strncmp(query, "any_fs=1", length))
            options->any_fs = true;
        else
            return tn_error_set(error, TENURE_BAD_INPUT,
                                "store URL: unknown option '%.*s'; expected any_fs=1", (int)length, query);
        query += length + (query[length] == '&');
    }
    return TENURE_OK;
}

static enum tenure_status open_sqlite(const char *rest, unsigned how, struct tn_store **ret_store,
                                      struct tenure_error *error)
{
    struct tn_sqlite_options options = {0};
    char path[url_room];
    char usual[url_room];
    const char *question = strrchr(rest, '?');
    const size_t length = question ? (size_t)(question - rest) : strlen(rest);
    if (length >= sizeof path)
        return tn_error_set(error, TENURE_BAD_INPUT, "the store's path is too long");
    snprintf(path, sizeof path, "%.*s", (int)length, rest);
    const enum tenure_status status = read_options(question ? question + 1 : "", &options, error);
    if (status != TENURE_OK)
        return status;
    const bool create = how & TN_STORE_CREATE;
    options.adopt_machine = how & TN_STORE_ADOPT;
    options.rehearse = how & TN_STORE_REHEARSE;
    options.make_directory = create && tn_store_default_url(usual, sizeof usual, NULL) == TENURE_OK &&
                             !strcmp(path, usual + strlen(sqlite_scheme));
    return tn_sqlite_open(path, create, &options, ret_store, error);
}

/* ---- memory: ---- */

static int64_t boot_ms(void *context)
{
    (void)context;
    return tn_clock_boot_ms();
}

static int64_t unix_ms(void *context)
{
    (void)context;
    return tn_clock_unix_ms();
}

enum tenure_status tn_store_open(const char *url, unsigned how, struct tn_store **ret_store,
                                 struct tenure_error *error)
{
    if (!strncmp(url, sqlite_scheme, strlen(sqlite_scheme)))
        return open_sqlite(url + strlen(sqlite_scheme), how, ret_store, error);
    if (strcmp(url, "memory:") != 0)
        return tn_error_set(
            error, TENURE_BAD_INPUT,
            "store URL '%.200s': unknown kind of store; this program has sqlite:PATH and memory:", url);
    *ret_store = tn_memory_open(&(struct tn_memory_options){.lease_ms = boot_ms, .unix_ms = unix_ms});
    (*ret_store)->rehearse = how & TN_STORE_REHEARSE;
    return TENURE_OK;
}

int tn_store_presence(const struct tn_store *store)
{
    return strcmp(store->type->name, "sqlite") ? -1 : tn_sqlite_presence_fd(store);
}

enum tenure_status tn_store_default_url(char *into, size_t room, struct tenure_error *error)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    /* The XDG base directory specification: a relative path is to be ignored. */
    const bool given = state && state[0] == '/';
    if (!given && (!home || !home[0]))
        return tn_error_set(error, TENURE_BAD_INPUT,
                            "neither XDG_STATE_HOME nor HOME is set: say which --store to use");
    const int length = snprintf(into, room, "%s%s%s/tenure/store.db", sqlite_scheme, given ? state : home,
                                given ? "" : "/.local/state");
    if (length < 0 || (size_t)length >= room)
        return tn_error_set(error, TENURE_BAD_INPUT, "the state directory's path is too long");
    return TENURE_OK;
}
