#include "cli/difference.h"

#include "cli/cli.h"
#include "cli/table.h"
#include "cli/value.h"

#include <inttypes.h>
#include <string.h>

enum { OWN = 4 };

struct list {
    struct tn_difference *rows;
    size_t n;
};

static void add(struct list *list, const char *option, const char *stored, const char *asked, bool may_change)
{
    list->rows[list->n++] =
        (struct tn_difference){.option = option, .stored = stored, .asked = asked, .may_change = may_change};
}

static const char *number(struct tn_arena *arena, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    return tn_arena_text(arena, digits);
}

static const char *hash_name(enum tn_hash_algo algo)
{
    const char *const name = tn_hash_name(algo);
    return name ? name : "unknown";
}

const char *tn_difference_value(struct tn_arena *arena, const struct tn_settings *settings,
                                const struct tn_setting *setting)
{
    const int64_t value = tn_setting_get(settings, setting);
    char text[TN_VALUE_DURATION_BYTES];
    switch (setting->kind) {
    case TN_SETTING_DURATION: return tn_arena_text(arena, tn_value_print_duration(value, text));
    case TN_SETTING_CHOICE: return value == 0 ? "force" : value == 1 ? "give_up" : "unknown";
    case TN_SETTING_HOURS: return tn_arena_text(arena, tn_value_print_hours(value, text));
    case TN_SETTING_COUNT: break;
    }
    snprintf(text, sizeof text, "%" PRId64, value);
    return tn_arena_text(arena, text);
}

const struct tn_difference *tn_difference_list(struct tn_arena *arena, const struct tn_settings *stored,
                                               const struct tn_settings *asked, size_t *ret_n)
{
    size_t n;
    const struct tn_setting *const table = tn_settings_table(&n);
    struct list list = {.rows = tn_arena_array(arena, OWN + n, sizeof *list.rows)};
    if (stored->shards != asked->shards)
        add(&list, "shards", number(arena, stored->shards), number(arena, asked->shards), false);
    if (stored->algo != asked->algo)
        add(&list, "hash", hash_name(stored->algo), hash_name(asked->algo), false);
    if (stored->seed != asked->seed)
        add(&list, "seed", number(arena, stored->seed), number(arena, asked->seed), false);
    if (strcmp(stored->strategy, asked->strategy) != 0)
        add(&list, "strategy", stored->strategy, asked->strategy, true);
    for (size_t i = 0; i < n; i++)
        if (tn_setting_get(stored, &table[i]) != tn_setting_get(asked, &table[i]))
            add(&list, table[i].option, tn_difference_value(arena, stored, &table[i]),
                tn_difference_value(arena, asked, &table[i]), table[i].may_change);
    *ret_n = list.n;
    return list.rows;
}

const struct tn_difference *tn_difference_fixed(const struct tn_difference *differences, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!differences[i].may_change)
            return &differences[i];
    return NULL;
}

void tn_difference_print(const struct tn_difference *differences, size_t n, bool done, FILE *file)
{
    static const char *const asked[] = {"SETTING", "STORED", "ASKED", "MAY CHANGE", NULL};
    static const char *const changed[] = {"SETTING", "BEFORE", "AFTER", NULL};
    struct tn_table table;
    tn_table_init(&table, done ? changed : asked);
    for (size_t i = 0; i < n; i++) {
        tn_table_add(&table, differences[i].option);
        tn_table_add(&table, differences[i].stored);
        tn_table_add(&table, differences[i].asked);
        if (!done)
            tn_table_add(&table, differences[i].may_change ? "yes, by --update" : "no");
    }
    tn_table_print(&table, file, tn_cli_colour(file));
    tn_table_done(&table);
}
