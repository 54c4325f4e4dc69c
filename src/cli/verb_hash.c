/* tenure hash: key -> hash -> shard, without a store. */
#include "cli/batch.h"
#include "cli/escape.h"
#include "cli/json.h"
#include "cli/lines.h"
#include "cli/setting_options.h"
#include "cli/value.h"
#include "cli/verb.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static enum tenure_status answer(struct tn_cli *cli, const json_t *request, json_t *reply,
                                 struct tenure_error *error);
static enum tenure_status run_keys(struct tn_cli *cli);

static enum tenure_status run(struct tn_cli *cli)
{
    static const char *const fields[] = {"algo", "shards", "seed", "key", "key_hex", "allow_empty", NULL};
    if (!tn_cli_flag(cli, "batch"))
        return run_keys(cli);
    if (cli->options.n_arguments)
        return tn_cli_fail(cli, TENURE_BAD_INPUT,
                           "--batch reads requests from standard input: it takes no keys");
    return tn_batch_run(cli, fields, answer);
}

/* ---- keys as arguments or lines ---- */

static enum tenure_status make_hasher(struct tn_cli *cli, struct tn_hasher *ret)
{
    const struct tn_option_value *const seed = tn_options_get(&cli->options, "seed");
    const char *const name = tn_options_text(&cli->options, "algo");
    if (!name || !tn_options_given(&cli->options, "shards"))
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "--algo A and --shards N are needed");
    enum tn_hash_algo algo;
    const enum tenure_status status =
        tn_setting_options_hash(&cli->arena, "--algo", name, &algo, &cli->error);
    if (status != TENURE_OK)
        return status;
    if (seed->given && !tn_hash_seedable(algo))
        return tn_cli_fail(cli, TENURE_BAD_INPUT, "--seed: %s takes none; xxh3, xxh64 and murmur3_32 do",
                           name);
    return tn_hasher_init(ret, algo, seed->wide, (uint32_t)tn_options_number(&cli->options, "shards", 0),
                          &cli->error);
}

/* On a terminal a key cannot send control sequences; a pipe gets its bytes. */
static void print_key(const struct tn_hasher *hasher, const void *key, size_t size, bool terminal)
{
    const uint64_t hash = tn_hash(hasher, key, size);
    if (terminal) {
        struct tn_text shown;
        tn_text_init(&shown);
        tn_escape_add(&shown, key, size);
        fputs(shown.bytes, stdout);
        tn_text_done(&shown);
    } else {
        fwrite(key, 1, size, stdout);
    }
    if (tn_hash_signed(hasher->algo))
        printf("\t%" PRId64, (int64_t)hash);
    else
        printf("\t%" PRIu64, hash);
    printf("\t%" PRIu32 "\n", tn_hash_reduce(hasher, hash));
}

static enum tenure_status run_lines(struct tn_cli *cli, const struct tn_hasher *hasher)
{
    const bool terminal = isatty(STDOUT_FILENO), empty = tn_cli_flag(cli, "allow-empty");
    struct tn_lines lines;
    struct tn_line line;
    enum tenure_status status;
    tn_lines_init(&lines, STDIN_FILENO, tn_cli_flag(cli, "null") ? '\0' : '\n');
    for (uint64_t n = 1; (status = tn_lines_next(&lines, &line, &cli->error)) == TENURE_OK; n++) {
        if (line.too_long)
            status =
                tn_cli_fail(cli, TENURE_TOO_BIG, "key %" PRIu64 " has more than %d bytes", n, TN_LINES_MAX);
        else if (line.size == 0 && !empty)
            status =
                tn_cli_fail(cli, TENURE_BAD_INPUT, "key %" PRIu64 " is empty (--allow-empty hashes it)", n);
        if (status != TENURE_OK)
            break;
        print_key(hasher, line.bytes, line.size, terminal);
    }
    tn_lines_done(&lines);
    return status == TENURE_CLOSED ? TENURE_OK : status;
}

static enum tenure_status run_keys(struct tn_cli *cli)
{
    struct tn_hasher hasher;
    const enum tenure_status status = make_hasher(cli, &hasher);
    if (status != TENURE_OK)
        return status;
    const char *key = tn_cli_argument(cli, 0);
    if (!key)
        return run_lines(cli, &hasher);
    for (size_t i = 0; (key = tn_cli_argument(cli, i)); i++)
        if (!*key && !tn_cli_flag(cli, "allow-empty"))
            return tn_cli_fail(cli, TENURE_BAD_INPUT, "key %zu is empty (--allow-empty hashes it)", i + 1);
    for (size_t i = 0; (key = tn_cli_argument(cli, i)); i++)
        print_key(&hasher, key, strlen(key), isatty(STDOUT_FILENO));
    return TENURE_OK;
}

/* ---- batch ---- */

/* A number, or a decimal string for what a double cannot hold. Null or absent: none. Zero says the same as
 * none. */
static enum tenure_status read_seed(const json_t *request, uint64_t *ret, struct tenure_error *error)
{
    const json_t *const seed = json_object_get(request, "seed");
    *ret = 0;
    if (!seed || json_is_null(seed))
        return TENURE_OK;
    if (json_is_integer(seed) && json_integer_value(seed) >= 0) {
        *ret = (uint64_t)json_integer_value(seed);
        return TENURE_OK;
    }
    if (json_is_string(seed) && tn_value_unsigned(json_string_value(seed), ret))
        return TENURE_OK;
    return tn_error_set(error, TENURE_BAD_INPUT, "\"seed\" is not a whole number from 0 to 2^64 - 1");
}

static enum tenure_status read_hasher(struct tn_cli *cli, const json_t *request, struct tn_hasher *ret,
                                      struct tenure_error *error)
{
    const json_t *const name = json_object_get(request, "algo"), *const shards =
                                                                     json_object_get(request, "shards");
    if (!json_is_string(name))
        return tn_error_set(error, TENURE_BAD_INPUT, "\"algo\" must be the name of a hash");
    enum tn_hash_algo algo;
    uint64_t seed;
    enum tenure_status status =
        tn_setting_options_hash(&cli->arena, "\"algo\"", json_string_value(name), &algo, error);
    if (status == TENURE_OK)
        status = read_seed(request, &seed, error);
    if (status != TENURE_OK)
        return status;
    if (seed && !tn_hash_seedable(algo))
        return tn_error_set(error, TENURE_BAD_INPUT, "\"seed\": %s takes none", tn_hash_name(algo));
    if (!json_is_integer(shards) || json_integer_value(shards) < 1 ||
        json_integer_value(shards) > TN_SHARDS_MAX)
        return tn_error_set(error, TENURE_BAD_INPUT, "\"shards\" is not a whole number from 1 to %d",
                            TN_SHARDS_MAX);
    return tn_hasher_init(ret, algo, seed, (uint32_t)json_integer_value(shards), error);
}

static enum tenure_status read_key(struct tn_cli *cli, const json_t *request, const void **ret_key,
                                   size_t *ret_size, struct tenure_error *error)
{
    const json_t *const key = json_object_get(request, "key"), *const hex =
                                                                   json_object_get(request, "key_hex");
    const json_t *const empty = json_object_get(request, "allow_empty");
    if (!key == !hex || (key && !json_is_string(key)) || (hex && !json_is_string(hex)))
        return tn_error_set(error, TENURE_BAD_INPUT,
                            "one of \"key\" and \"key_hex\" must be there, and be a string");
    if (key) {
        *ret_key = json_string_value(key);
        *ret_size = json_string_length(key);
    } else if (!tn_batch_hex(&cli->arena, json_string_value(hex), json_string_length(hex), ret_key,
                             ret_size)) {
        return tn_error_set(error, TENURE_BAD_INPUT, "\"key_hex\" is not hexadecimal, two digits a byte");
    }
    if (empty && !json_is_boolean(empty))
        return tn_error_set(error, TENURE_BAD_INPUT, "\"allow_empty\" is not true or false");
    if (*ret_size == 0 && !json_is_true(empty) && !tn_cli_flag(cli, "allow-empty"))
        return tn_error_set(error, TENURE_BAD_INPUT, "the key is empty (\"allow_empty\": true hashes it)");
    return TENURE_OK;
}

static bool is_wide(enum tn_hash_algo algo)
{
    return algo == TN_HASH_XXH3 || algo == TN_HASH_XXH64 || algo == TN_HASH_FNV1A64 ||
           algo == TN_HASH_POSTGRES;
}

static enum tenure_status answer(struct tn_cli *cli, const json_t *request, json_t *reply,
                                 struct tenure_error *error)
{
    struct tn_hasher hasher;
    const void *key;
    size_t size;
    enum tenure_status status = read_hasher(cli, request, &hasher, error);
    if (status == TENURE_OK)
        status = read_key(cli, request, &key, &size, error);
    if (status != TENURE_OK)
        return status;
    const uint64_t hash = tn_hash(&hasher, key, size);
    json_object_set_new(reply, "hash",
                        is_wide(hasher.algo) ? tn_json_wide(hash) : json_integer((int64_t)hash));
    json_object_set_new(reply, "shard", tn_json_number(tn_hash_reduce(&hasher, hash)));
    return TENURE_OK;
}

static const struct tn_option options[] = {
    {"algo", 'a', TN_OPTION_TEXT, "A",
     "xxh3 xxh64 java murmur3_32 murmur2 crc16 crc32 crc32c fnv1a32 fnv1a64 postgres", 0, 0},
    {"shards", 0, TN_OPTION_COUNT, "N", "how many shards", 1, TN_SHARDS_MAX},
    {"seed", 0, TN_OPTION_UNSIGNED, "S", "only with xxh3, xxh64 and murmur3_32 (default 0)", 0, 0},
    {"allow-empty", 0, TN_OPTION_FLAG, NULL, "hash the empty key instead of refusing it", 0, 0},
    {"null", '0', TN_OPTION_FLAG, NULL, "keys on standard input end with a NUL byte, not a newline", 0, 0},
    {"batch", 0, TN_OPTION_FLAG, NULL, "a JSON request a line in, a JSON answer a line out", 0, 0},
    {0},
};

const struct tn_verb tn_verb_hash = {
    .name = "hash",
    .arguments = "[KEY...]",
    .summary = "compute the hash and the shard of keys",
    .details = "Prints KEY, HASH and SHARD, with tabs between. Without keys, reads them from standard input, "
               "one a line.\n"
               "Batch requests: {\"algo\",\"shards\",\"seed\",\"key\" or \"key_hex\",\"allow_empty\"} -> "
               "{\"hash\",\"shard\"}.",
    .options = options,
    .most = TN_ANY,
    .run = run,
};
