/* What a worker writes down of its doings, outside any protection, so that an auditor can look for two nodes
 * on one shard.
 *
 * One JSON object a line, appended by one write each:
 *   {"t_ms":T,"pid":P,"node":N,"shard":S,"token":K,"what":W,"done":D}
 * T is the boot clock in ms, with three decimals. W: "hello", "assigned", "ready", "drain", "released",
 * "lost"; of a batch: "start" (the gate was open), "computed" (about to be written), "inside" (the fence was
 * passed), "end" with the number D of results that were committed; "stale" when the fence refused it,
 * "stale_raise" when the stamp was higher, "reload" after an unknown outcome. Confined to one thread. */
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

int64_t notes_boot_us(void);
int64_t notes_boot_ms(void);

#endif
