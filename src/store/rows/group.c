#include "store/rows/parts.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

bool tn_rows_group_is_visible(const struct tn_group_row *row)
{
    return row->name && row->made == row->shards;
}

enum tenure_status tn_rows_group_visible(struct tn_rows *rows, uint32_t group, struct tn_group_row *ret)
{
    if (rows->type->group_get(rows, group, ret) && tn_rows_group_is_visible(ret))
        return TENURE_OK;
    return tn_error_set(&rows->error, TENURE_NOT_FOUND, "there is no group number %u", group);
}

static enum tenure_status no_such(struct tn_rows *rows, const char *name)
{
    return tn_error_set(&rows->error, TENURE_NOT_FOUND, "there is no group %.128s", name);
}

/* ---- deleting: the name goes at once, the rows in steps ---- */

static void unname(struct tn_rows *rows, struct tn_group_row *row)
{
    row->name = NULL;
    row->epoch++;
    rows->type->group_put(rows, row);
}

static enum tenure_status sweep_step(struct tn_rows *rows, void *context)
{
    bool *more = context;
    size_t n = 0;
    const struct tn_group_row *all = rows->type->groups(rows, &n);
    *more = false;
    for (size_t i = 0; i < n && !*more; i++) {
        if (all[i].name)
            continue;
        if (rows->type->shards_drop(rows, all[i].id, TN_SHARDS_STEP) < TN_SHARDS_STEP)
            rows->type->group_drop(rows, all[i].id);
        *more = true;
    }
    return TENURE_OK;
}

/* What is left of deleted groups. A failure leaves it to the next sweep: nobody sees these rows. */
static void sweep(struct tn_rows *rows, int64_t limit_ms)
{
    bool more = true;
    while (more && tn_rows_run(rows, TN_ROWS_WRITE, limit_ms, sweep_step, &more, NULL) == TENURE_OK)
        continue;
}

static uint64_t largest_token(struct tn_rows *rows, uint32_t group)
{
    uint64_t largest = 0;
    size_t n = 0;
    const struct tn_change *changes = rows->type->shards_since(rows, group, 0, &rows->scratch, &n);
    for (size_t i = 0; i < n; i++)
        if (changes[i].row.token > largest)
            largest = changes[i].row.token;
    return largest;
}

/* Tokens only grow, also over the end of a group: a writer from before must not be taken for one of a group
 * made anew. */
static void keep_floor(struct tn_rows *rows, uint32_t group)
{
    const uint64_t largest = largest_token(rows, group);
    if (largest > rows->type->floor_get(rows))
        rows->type->floor_put(rows, largest);
}

/* Those that can still speak for themselves: nobody need be left to bury the others. */
static size_t count_alive(struct tn_rows *rows, const struct tn_member *members, size_t n)
{
    size_t alive = 0;
    for (size_t i = 0; i < n; i++)
        alive += members[i].state != TN_SESSION_AWAY && members[i].lease_until_ms > rows->now_ms &&
                 rows->type->presence(rows, members[i].session) != TN_PRESENCE_GONE;
    return alive;
}

static enum tenure_status delete_step(struct tn_rows *rows, void *context)
{
    const char *name = context;
    struct tn_group_row row;
    if (!rows->type->group_find(rows, name, &row))
        return no_such(rows, name);
    size_t n_members = 0;
    const struct tn_member *members = rows->type->members(rows, row.id, &rows->scratch, &n_members);
    const size_t n_alive = count_alive(rows, members, n_members);
    if (n_alive)
        return tn_error_set(&rows->error, TENURE_CONFLICT, "group %.128s has %zu live nodes; stop them first",
                            name, n_alive);
    for (size_t i = 0; i < n_members; i++)
        tn_rows_end_session(rows, members[i].session,
                            members[i].state == TN_SESSION_AWAY ? "stayed away" : "crashed");
    rows->type->group_find(rows, name, &row); /* as the burials left it */
    keep_floor(rows, row.id);
    unname(rows, &row);
    return TENURE_OK;
}

enum tenure_status tn_rows_group_delete(struct tn_store *store, const char *name, int64_t limit_ms,
                                        struct tenure_error *error)
{
    struct tn_rows *rows = (struct tn_rows *)store;
    char own_name[TN_NAME_MAX + 1];
    const enum tenure_status bad = tn_name_check("group", name, error);
    if (bad != TENURE_OK)
        return bad;
    strcpy(own_name, name);
    const enum tenure_status status =
        tn_rows_run(rows, TN_ROWS_WRITE, limit_ms, delete_step, own_name, error);
    if (status == TENURE_OK && !store->rehearse)
        sweep(rows, limit_ms);
    return status;
}

/* ---- creating: in steps too, invisible until the last ---- */

struct creation {
    const char *name;
    const struct tn_settings *settings;
    uint64_t fingerprint;
    bool complete, left_rows;
    bool begun; /* by this call: its rows so far are fresh */
};

static void number(struct tn_text *text, const char *what, int64_t stored, int64_t given)
{
    if (stored != given)
        tn_text_print(text, "%s%s is %" PRId64 ", not %" PRId64, text->length ? "; " : "", what, stored,
                      given);
}

static void word(struct tn_text *text, const char *what, const char *stored, const char *given)
{
    if (strcmp(stored, given) != 0)
        tn_text_print(text, "%s%s is %s, not %s", text->length ? "; " : "", what, stored, given);
}

static const char *hash_name(enum tn_hash_algo algo)
{
    const char *name = tn_hash_name(algo);
    return name ? name : "unknown";
}

static void fixed_differences(struct tn_text *text, const struct tn_settings *stored,
                              const struct tn_settings *given)
{
    number(text, "shards", stored->shards, given->shards);
    word(text, "hash", hash_name(stored->algo), hash_name(given->algo));
    number(text, "seed", (int64_t)stored->seed, (int64_t)given->seed);
}

static void differences(struct tn_text *text, const struct tn_settings *stored,
                        const struct tn_settings *given)
{
    fixed_differences(text, stored, given);
    word(text, "strategy", stored->strategy, given->strategy);
    size_t n = 0;
    const struct tn_setting *table = tn_settings_table(&n);
    for (size_t i = 0; i < n; i++)
        number(text, table[i].name, tn_setting_get(stored, &table[i]), tn_setting_get(given, &table[i]));
}

static enum tenure_status compare(struct tn_rows *rows, const struct tn_group_row *row,
                                  const struct creation *creation, const struct tn_settings *stored)
{
    enum tenure_status status = TENURE_OK;
    struct tn_text text;
    tn_text_init(&text);
    differences(&text, stored, creation->settings);
    if (text.length)
        status = tn_error_set(&rows->error, TENURE_EXISTS, "group %.128s exists with other settings: %s",
                              row->name, text.bytes);
    else if (row->fingerprint != creation->fingerprint)
        status = tn_error_set(
            &rows->error, TENURE_FINGERPRINT,
            "group %.128s exists, and this program hashes keys differently from its creator", row->name);
    tn_text_done(&text);
    return status;
}

static enum tenure_status add_rows(struct tn_rows *rows, struct tn_group_row *row, struct creation *creation)
{
    const uint32_t left = row->shards - row->made;
    const uint32_t n = left < TN_SHARDS_STEP ? left : TN_SHARDS_STEP;
    rows->type->shards_add(rows, row->id, row->made, n, row->epoch, rows->type->floor_get(rows));
    row->made += n;
    rows->type->group_put(rows, row);
    creation->complete = row->made == row->shards;
    return TENURE_OK;
}

static enum tenure_status create_step(struct tn_rows *rows, void *context)
{
    struct creation *creation = context;
    struct tn_group_row row;
    struct tn_settings stored;
    if (rows->type->group_find(rows, creation->name, &row)) {
        rows->type->settings_get(rows, row.id, &stored);
        const enum tenure_status status = compare(rows, &row, creation, &stored);
        creation->complete = row.made == row.shards;
        if (creation->complete)
            return status;
        /* Rows that were ever owned are no half-made creation, whatever the counts say: their tokens must not
         * be lost. */
        if (!creation->begun && largest_token(rows, row.id) > rows->type->floor_get(rows))
            return tn_error_set(
                &rows->error, TENURE_CORRUPT,
                "group %.128s is damaged: %u of %u shards are there and some were owned; restore "
                "the store, or delete the group",
                row.name, row.made, row.shards);
        creation->begun = true;
        if (status == TENURE_OK)
            return add_rows(rows, &row, creation);
        creation->left_rows = true; /* a creation that was given up half way, with other settings */
        unname(rows, &row);
        return TENURE_OK;
    }
    row = (struct tn_group_row){.name = creation->name,
                                .shards = creation->settings->shards,
                                .epoch = 1,
                                .members_epoch = 1,
                                .settings_epoch = 1,
                                .fingerprint = creation->fingerprint};
    creation->begun = true;
    row.id = rows->type->group_add(rows, &row, creation->settings);
    return add_rows(rows, &row, creation);
}

enum tenure_status tn_rows_group_create(struct tn_store *store, const char *name,
                                        const struct tn_settings *settings, uint64_t fingerprint,
                                        int64_t limit_ms, struct tenure_error *error)
{
    struct tn_rows *rows = (struct tn_rows *)store;
    struct creation creation = {.name = name, .settings = settings, .fingerprint = fingerprint};
    enum tenure_status status = tn_name_check("group", name, error);
    if (status == TENURE_OK)
        status = tn_settings_check(settings, error);
    while (status == TENURE_OK && !creation.complete)
        status = tn_rows_run(rows, TN_ROWS_WRITE, limit_ms, create_step, &creation, error);
    if (creation.left_rows)
        sweep(rows, limit_ms);
    return status;
}

/* ---- reading and changing ---- */

struct listing {
    struct tn_arena *arena;
    struct tn_group_info *groups;
    size_t n;
};

static enum tenure_status list(struct tn_rows *rows, void *context)
{
    struct listing *listing = context;
    size_t n = 0;
    const struct tn_group_row *all = rows->type->groups(rows, &n);
    listing->groups = tn_arena_array(listing->arena, n, sizeof *listing->groups);
    listing->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (!tn_rows_group_is_visible(&all[i]))
            continue;
        struct tn_group_info *info = &listing->groups[listing->n++];
        info->group = all[i].id;
        info->name = tn_arena_text(listing->arena, all[i].name);
        info->fingerprint = all[i].fingerprint;
        info->plan_epoch = all[i].plan_epoch;
        rows->type->settings_get(rows, all[i].id, &info->settings);
    }
    return TENURE_OK;
}

enum tenure_status tn_rows_group_list(struct tn_store *store, struct tn_arena *arena,
                                      struct tn_group_info **ret, size_t *ret_n, int64_t limit_ms,
                                      struct tenure_error *error)
{
    struct listing listing = {.arena = arena};
    const enum tenure_status status =
        tn_rows_run((struct tn_rows *)store, TN_ROWS_READ, limit_ms, list, &listing, error);
    if (status == TENURE_OK) {
        *ret = listing.groups;
        *ret_n = listing.n;
    }
    return status;
}

static enum tenure_status set(struct tn_rows *rows, void *context)
{
    const struct creation *change = context;
    struct tn_group_row row;
    struct tn_settings stored;
    if (!rows->type->group_find(rows, change->name, &row) || !tn_rows_group_is_visible(&row))
        return no_such(rows, change->name);
    rows->type->settings_get(rows, row.id, &stored);
    if (!tn_hash_name(stored.algo)) /* a broken record: the new one is all there is to go by */
        stored.algo = change->settings->algo;
    enum tenure_status status = TENURE_OK;
    struct tn_text text;
    tn_text_init(&text);
    fixed_differences(&text, &stored, change->settings);
    if (text.length)
        status = tn_error_set(
            &rows->error, TENURE_BAD_INPUT,
            "group %.128s: %s; hash and seed are for ever, shards change only by: tenure group reshard",
            change->name, text.bytes);
    tn_text_done(&text);
    if (status != TENURE_OK)
        return status;
    rows->type->settings_put(rows, row.id, change->settings);
    row.settings_epoch = ++row.epoch;
    rows->type->group_put(rows, &row);
    return TENURE_OK;
}

enum tenure_status tn_rows_group_set(struct tn_store *store, const char *name,
                                     const struct tn_settings *settings, int64_t limit_ms,
                                     struct tenure_error *error)
{
    struct creation change = {.name = name, .settings = settings};
    enum tenure_status status = tn_name_check("group", name, error);
    if (status == TENURE_OK)
        status = tn_settings_check(settings, error);
    if (status == TENURE_OK)
        status = tn_rows_run((struct tn_rows *)store, TN_ROWS_WRITE, limit_ms, set, &change, error);
    return status;
}
