#include "digest.h"

#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <unistd.h>

/* Feeds the block to `sha`; returns how many bytes there were. */
static int64_t read_block(const struct data_record *record, struct sha256_ctx *sha)
{
    uint8_t bytes[16384];
    int64_t at = 0;
    const int fd = open(record->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    while (fd >= 0 && at < record->length) {
        const int64_t left = record->length - at;
        const size_t most = left < (int64_t)sizeof bytes ? (size_t)left : sizeof bytes;
        const ssize_t n = pread(fd, bytes, most, record->offset + at);
        if (n <= 0)
            break;
        sha256_update(sha, (size_t)n, bytes);
        at += n;
    }
    if (fd >= 0)
        close(fd);
    return at;
}

void digest_record(struct data_record *record)
{
    struct sha256_ctx sha;
    uint8_t sum[SHA256_DIGEST_SIZE];
    sha256_init(&sha);
    if (read_block(record, &sha) < record->length) {
        snprintf(record->digest, sizeof record->digest, "unreadable");
        return;
    }
    sha256_digest(&sha, sizeof sum, sum);
    for (size_t i = 0; i < sizeof sum; i++)
        snprintf(record->digest + 2 * i, 3, "%02x", sum[i]);
}
