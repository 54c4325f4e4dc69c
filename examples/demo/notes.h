/* What a node writes down of its doings, outside any protection, so that an auditor can look for two nodes on
 * one shard.
 *
 * One JSON object a line, appended by one write each:
 *   {"t_ms":Unix
 * ms,"node":...,"shard":N,"token":T,"what":"start"|"end"|"ready"|"drain"|"released"|"lost"|"stale"|...,"done":N}
 * `done`: how many results an "end" committed; 0 elsewhere. Confined to one thread. */
#ifndef DEMO_NOTES_H
#define DEMO_NOTES_H

#include <stdbool.h>
#include <stdint.h>

struct notes {
    int fd;         /* -1: none are kept */
    char node[264]; /* escaped for JSON */
};

/* `path` NULL: keep none. False: it cannot be opened; errno says why. */
bool notes_open(struct notes *notes, const char *path, const char *node);
void notes_close(struct notes *notes);
void notes_put(const struct notes *notes, const char *what, uint32_t shard, uint64_t token, int done);

int64_t notes_unix_ms(void);

#endif
