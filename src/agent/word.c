#include "agent/word.h"

#include "agent/log.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct kind {
    const char *name;
    bool of_shard;
};

static const struct kind kinds[] = {
#define X(name, of_shard) {#name, of_shard},
    TN_WORDS(X)
#undef X
};

const char *tn_word_name(enum tn_word_kind kind)
{
    return kinds[kind].name;
}

/* ---- reading ---- */

static bool same_word(const char *upper, const char *word)
{
    for (; *upper && *word; upper++, word++)
        if (*upper != toupper((unsigned char)*word) || isupper((unsigned char)*word))
            return false;
    return *upper == *word;
}

static bool find_kind(const char *name, enum tn_word_kind *ret_kind)
{
    for (int i = 0; name && i < TN_WORD_KINDS; i++)
        if (same_word(kinds[i].name, name)) {
            *ret_kind = (enum tn_word_kind)i;
            return true;
        }
    return false;
}

/* A whole number that is not negative; false also when the field is there and is something else. */
static bool read_number(const json_t *root, const char *field, bool needed, uint64_t most, uint64_t *ret)
{
    const json_t *value = json_object_get(root, field);
    if (!value)
        return !needed;
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) > most)
        return false;
    *ret = (uint64_t)json_integer_value(value);
    return true;
}

static const char *read_checkpoint(struct tn_word *word)
{
    const json_t *data = json_object_get(word->root, "data"), *rewind = json_object_get(word->root, "rewind");
    if (!json_is_string(data))
        return "`data` must be a string";
    if (rewind && !json_is_boolean(rewind))
        return "`rewind` must be true or false";
    if (!read_number(word->root, "seq", false, INT64_MAX, &word->seq))
        return "`seq` must be a whole number";
    word->data = json_string_value(data);
    word->data_size = json_string_length(data);
    word->rewind = json_is_true(rewind);
    return NULL;
}

static const char *read_load(struct tn_word *word)
{
    const bool good = read_number(word->root, "ops", false, INT64_MAX, &word->ops) &&
                      read_number(word->root, "bytes", false, INT64_MAX, &word->bytes) &&
                      read_number(word->root, "ms", false, INT64_MAX, &word->ms);
    return good ? NULL : "`ops`, `bytes` and `ms` must be whole numbers";
}

static const char *read_log(struct tn_word *word)
{
    const char *level = json_string_value(json_object_get(word->root, "level"));
    word->text = json_string_value(json_object_get(word->root, "text"));
    if (!word->text)
        word->text = json_string_value(json_object_get(word->root, "message"));
    if (!word->text)
        return "`text` must be a string";
    word->level = TENURE_LOG_INFO;
    if (level && !tn_log_level_parse(level, strlen(level), &word->level))
        return "`level` must be error, warning, info or debug";
    return NULL;
}

static const char *read_fields(struct tn_word *word)
{
    uint64_t shard = 0;
    if (!json_is_object(word->root))
        return "not a JSON object";
    if (!find_kind(json_string_value(json_object_get(word->root, "event")), &word->kind))
        return "`event` is not one that a worker sends";
    if (kinds[word->kind].of_shard && (!read_number(word->root, "shard", true, UINT32_MAX, &shard) ||
                                       !read_number(word->root, "token", true, INT64_MAX, &word->token)))
        return "`shard` and `token` must be whole numbers";
    word->shard = (uint32_t)shard;
    switch (word->kind) {
    case TN_WORD_CHECKPOINT: return read_checkpoint(word);
    case TN_WORD_LOAD: return read_load(word);
    case TN_WORD_LOG: return read_log(word);
    default: return NULL;
    }
}

bool tn_word_read(const char *line, size_t length, struct tn_word *word, const char **ret_why)
{
    *word = (struct tn_word){.root = json_loadb(line, length, JSON_ALLOW_NUL, NULL)};
    *ret_why = word->root ? read_fields(word) : "not JSON";
    if (!*ret_why)
        return true;
    tn_word_done(word);
    return false;
}

void tn_word_done(struct tn_word *word)
{
    json_decref(word->root);
    word->root = NULL;
}

/* ---- writing ---- */

static int add_bytes(const char *bytes, size_t n, void *line)
{
    tn_text_add(line, bytes, n);
    return 0;
}

static void print(struct tn_text *line, json_t *value)
{
    tn_text_clear(line);
    json_dump_callback(value, add_bytes, line, JSON_COMPACT);
    json_decref(value);
}

static json_t *of_shard(const char *event, uint32_t shard, uint64_t token)
{
    return json_pack("{s:s, s:I, s:I}", "event", event, "shard", (json_int_t)shard, "token",
                     (json_int_t)token);
}

static json_t *text_or_null(const char *text)
{
    json_t *value = text ? json_string(text) : NULL;
    return value ? value : json_null();
}

static void add_hex(json_t *object, const unsigned char *data, size_t size)
{
    struct tn_text hex;
    tn_text_init(&hex);
    for (size_t i = 0; i < size; i++)
        tn_text_print(&hex, "%02x", data[i]);
    json_object_set_new(object, "checkpoint", json_null());
    json_object_set_new(object, "checkpoint_hex", json_string(hex.bytes));
    tn_text_done(&hex);
}

static void add_checkpoint(json_t *object, const void *data, size_t size)
{
    json_t *text = data ? json_stringn(data, size) : json_null();
    if (text)
        json_object_set_new(object, "checkpoint", text);
    else
        add_hex(object, data, size);
}

void tn_word_hello(struct tn_text *line, const struct tn_word_hello *hello)
{
    json_t *object =
        json_pack("{s:s, s:i, s:o, s:o, s:I, s:I, s:s}", "event", "hello", "protocol", 1, "group",
                  text_or_null(hello->group), "node", text_or_null(hello->node), "session",
                  (json_int_t)hello->session, "shards", (json_int_t)hello->shards, "hash", hello->hash);
    char wide[32];
    snprintf(wide, sizeof wide, "%llu", (unsigned long long)hello->seed);
    json_object_set_new(object, "seed",
                        hello->seed <= INT64_MAX ? json_integer((json_int_t)hello->seed) : json_string(wide));
    json_object_set_new(object, "store", text_or_null(hello->store));
    json_object_set_new(object, "gate", text_or_null(hello->gate));
    print(line, object);
}

void tn_word_assigned(struct tn_text *line, uint32_t shard, uint64_t token, const void *data, size_t size,
                      uint64_t seq)
{
    json_t *object = of_shard("assigned", shard, token);
    add_checkpoint(object, data, size);
    json_object_set_new(object, "seq", json_integer((json_int_t)seq));
    print(line, object);
}

void tn_word_prepare(struct tn_text *line, uint32_t shard, uint64_t token, const void *data, size_t size,
                     int64_t deadline_in_ms)
{
    json_t *object = of_shard("prepare", shard, token);
    add_checkpoint(object, data, size);
    json_object_set_new(object, "deadline_in_ms", json_integer(deadline_in_ms));
    print(line, object);
}

void tn_word_drain(struct tn_text *line, uint32_t shard, uint64_t token, int64_t deadline_in_ms)
{
    json_t *object = of_shard("drain", shard, token);
    json_object_set_new(object, "deadline_in_ms", json_integer(deadline_in_ms));
    print(line, object);
}

void tn_word_lost(struct tn_text *line, uint32_t shard, uint64_t token, const char *reason)
{
    json_t *object = of_shard("lost", shard, token);
    json_object_set_new(object, "reason", text_or_null(reason));
    print(line, object);
}

void tn_word_saved(struct tn_text *line, uint32_t shard, uint64_t token, uint64_t seq)
{
    json_t *object = of_shard("saved", shard, token);
    json_object_set_new(object, "seq", json_integer((json_int_t)seq));
    print(line, object);
}

void tn_word_save_failed(struct tn_text *line, uint32_t shard, uint64_t token, uint64_t seq,
                         enum tenure_status status)
{
    char reason[32];
    snprintf(reason, sizeof reason, "%s", tenure_status_name(status));
    for (char *c = reason; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    json_t *object = of_shard("save_failed", shard, token);
    json_object_set_new(object, "seq", json_integer((json_int_t)seq));
    json_object_set_new(object, "reason", json_string(reason));
    json_object_set_new(object, "text", json_string(tenure_status_sentence(status)));
    print(line, object);
}

void tn_word_shutdown(struct tn_text *line, int64_t deadline_in_ms)
{
    print(line, json_pack("{s:s, s:I}", "event", "shutdown", "deadline_in_ms", (json_int_t)deadline_in_ms));
}
