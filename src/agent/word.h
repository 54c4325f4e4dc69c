/* The worker line protocol as text: JSON lines to words and words to JSON lines. docs/WORKERS.md has the
 * protocol; this file knows its spelling and nothing of what it means. Confined; no I/O. */
#ifndef TN_AGENT_WORD_H
#define TN_AGENT_WORD_H

#include "base/text.h"
#include "tenure/tenure.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* X(name, of a shard): what a worker may say; spelled in lower case */
#define TN_WORDS(X)                                                                                          \
    X(READY, true)                                                                                           \
    X(PREPARED, true)                                                                                        \
    X(RELEASED, true)                                                                                        \
    X(CHECKPOINT, true)                                                                                      \
    X(RELOAD, true)                                                                                          \
    X(REJECTED, true)                                                                                        \
    X(LOAD, true)                                                                                            \
    X(TOUCH, true)                                                                                           \
    X(PROGRESS, true)                                                                                        \
    X(DONE, false)                                                                                           \
    X(FAILED, false)                                                                                         \
    X(LOG, false)

enum tn_word_kind {
#define X(name, of_shard) TN_WORD_##name,
    TN_WORDS(X)
#undef X
        TN_WORD_KINDS
};

struct tn_word {
    enum tn_word_kind kind;
    uint32_t shard;
    uint64_t token;
    uint64_t seq; /* CHECKPOINT; 0: one more */
    bool rewind;
    const char *data; /* CHECKPOINT: not NULL */
    size_t data_size;
    uint64_t ops, bytes, ms; /* LOAD */
    const char *text;        /* LOG; TOUCH: the key */
    enum tenure_log_level level;
    json_t *root; /* owns the texts */
};

const char *tn_word_name(enum tn_word_kind kind);

/* False: not a word, *ret_why says what is wrong with it. True: to be ended by tn_word_done. */
bool tn_word_read(const char *line, size_t length, struct tn_word *word, const char **ret_why);
void tn_word_done(struct tn_word *word);

/* ---- from agent to worker: each clears `line` and fills it, without a newline ---- */

struct tn_word_hello {
    const char *group, *node, *hash, *store, *gate;
    uint64_t session, seed;
    uint32_t shards;
};
void tn_word_hello(struct tn_text *line, const struct tn_word_hello *hello);
/* A checkpoint that is not UTF-8 goes as `checkpoint_hex`. `data` NULL: none. */
void tn_word_assigned(struct tn_text *line, uint32_t shard, uint64_t token, const void *data, size_t size,
                      uint64_t seq);
void tn_word_prepare(struct tn_text *line, uint32_t shard, uint64_t token, const void *data, size_t size,
                     int64_t deadline_in_ms);
void tn_word_drain(struct tn_text *line, uint32_t shard, uint64_t token, int64_t deadline_in_ms);
void tn_word_lost(struct tn_text *line, uint32_t shard, uint64_t token, const char *reason);
void tn_word_saved(struct tn_text *line, uint32_t shard, uint64_t token, uint64_t seq);
/* `reason` is the status in lower case: "regressed", "stale", "too_big", "maybe", ... */
void tn_word_save_failed(struct tn_text *line, uint32_t shard, uint64_t token, uint64_t seq,
                         enum tenure_status status);
void tn_word_shutdown(struct tn_text *line, int64_t deadline_in_ms);

#endif
