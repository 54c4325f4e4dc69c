/* The application's own data: one SQLite file a shard, DIR/shard-NNN.db.
 *
 *   record(seq, key, path, offset, length, due_ms): the work; due_ms counts from the instant in DIR/begin.
 *   result(seq, key, digest, node, token, done_ms): what was done; no unique key on the record, so that a
 *     double would show.
 *   progress(next_seq): one row, the first record that is not done.
 *   tenure_stamp, tenure_fence: made by `tenure stamp install`, the fence.
 *
 * Results and progress change in one transaction behind the fence, so that they stand or fall together. Files
 * are opened when needed, a bounded number at a time; the one not used for longest is closed first. Confined
 * to one thread. */
#ifndef DEMO_DATAFILE_H
#define DEMO_DATAFILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

enum { DATA_BATCH_MAX = 64, DATA_DIGEST_BYTES = 32 };

struct data_record {
    int64_t seq, offset, length;
    char path[PATH_MAX];
    char digest[2 * DATA_DIGEST_BYTES + 1]; /* filled in by the worker */
};

/* Of a write. All but UNKNOWN are certain. */
enum data_outcome {
    DATA_OK,
    DATA_STALE,  /* the fence refused it: another node has the shard */
    DATA_FAILED, /* nothing happened: locked, no room, ...; try again later */
    DATA_UNKNOWN /* the commit failed: it may have happened */
};

struct data;

/* `most`: files open at a time, at least 1. NULL: no memory. */
struct data *data_new(const char *dir, uint32_t shards, size_t most);
void data_free(struct data *data);
/* Closes the shard's file, if it is open. */
void data_close(struct data *data, uint32_t shard);
/* The path of the shard's file, valid until the next call. */
const char *data_path(struct data *data, uint32_t shard);
/* Why the last call failed, for people. */
const char *data_error(const struct data *data);

/* Where the shard stands: the next record, and when it becomes due (INT64_MAX: there is none). */
enum data_outcome data_progress(struct data *data, uint32_t shard, int64_t *ret_next_seq,
                                int64_t *ret_due_ms);
/* Records from `next_seq` on that are due at `now_ms`, at most `room`. */
enum data_outcome data_due(struct data *data, uint32_t shard, int64_t next_seq, int64_t now_ms,
                           struct data_record *records, int room, int *ret_n);

struct data_writer {
    const char *group, *node;
    uint64_t token;
    int64_t now_ms;         /* boot clock */
    void (*inside)(void *); /* called between fence and commit; NULL: not */
    void *context;          /* for it */
};
/* Results of records[0..n), in order of seq, and the progress behind the last: all or nothing, and only under
 * the token. */
enum data_outcome data_store(struct data *data, uint32_t shard, const struct data_writer *writer,
                             const struct data_record *records, int n);

#endif
