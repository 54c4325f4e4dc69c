/* Presence: is the process of a session, or anything that inherited from it, still there?
 *
 * Beside the database lies PATH-presence. A session holds an open-file-description lock on the byte whose
 * offset is its number; such a lock goes when the last copy of the descriptor does, also after SIGKILL, and
 * is seen by F_OFD_GETLK. The session's row records which file it was (inode and a random id in the file):
 * another file, or none, says nothing about anybody. Source: fcntl(2), "Open file description locks". */
#include "store/sqlite/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { id_length = 32 };

static struct flock byte_of(uint64_t session)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)session, .l_len = 1};
}

static bool read_identity(int fd, char *into)
{
    struct stat file;
    char id[id_length + 1] = "";
    if (fstat(fd, &file) != 0 || pread(fd, id, id_length, 0) != id_length)
        return false;
    snprintf(into, TN_ID_ROOM, "%ju:%s", (uintmax_t)file.st_ino, id);
    return true;
}

static void file_name(const struct tn_sqlite *sqlite, const char *suffix, char *into, size_t room)
{
    snprintf(into, room, "%s-presence%s", sqlite->path, suffix);
}

/* Whole or not at all: written under another name, then linked; whoever is first wins. */
static void make_file(const struct tn_sqlite *sqlite, const char *name)
{
    uint64_t random[2];
    char id[id_length + 2];
    char suffix[32];
    char draft[4200];
    tn_machine_random(random, sizeof random);
    snprintf(id, sizeof id, "%016" PRIx64 "%016" PRIx64 "\n", random[0], random[1]);
    snprintf(suffix, sizeof suffix, ".%016" PRIx64, random[0] ^ random[1]);
    file_name(sqlite, suffix, draft, sizeof draft);
    const int fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    const bool whole = write(fd, id, id_length + 1) == id_length + 1;
    close(fd);
    if (whole && link(draft, name) != 0 && errno != EEXIST)
        rename(draft, name); /* no hard links here */
    unlink(draft);
}

/* A descriptor of its own on the file under the name, identity filled; -1 when there is none. */
static int open_file(const struct tn_sqlite *sqlite, char *identity)
{
    char name[4200];
    file_name(sqlite, "", name, sizeof name);
    const int fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && read_identity(fd, identity))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static void open_presence(struct tn_sqlite *sqlite)
{
    char identity[TN_ID_ROOM];
    int fd = open_file(sqlite, identity);
    if (fd < 0) {
        char name[4200];
        file_name(sqlite, "", name, sizeof name);
        make_file(sqlite, name);
        fd = open_file(sqlite, identity);
    }
    if (fd >= 0 && sqlite->presence.fd >= 0 && !strcmp(identity, sqlite->presence.identity)) {
        close(fd); /* still the same */
        return;
    }
    tn_presence_done(sqlite);
    sqlite->presence.fd = fd;
    if (fd >= 0)
        memcpy(sqlite->presence.identity, identity, sizeof identity);
}

bool tn_presence_take(struct tn_sqlite *sqlite, uint64_t session)
{
    open_presence(sqlite);
    struct flock lock = byte_of(session);
    return sqlite->presence.fd >= 0 && fcntl(sqlite->presence.fd, F_OFD_SETLK, &lock) == 0;
}

void tn_presence_give_up(struct tn_sqlite *sqlite, uint64_t session)
{
    struct flock lock = byte_of(session);
    lock.l_type = F_UNLCK;
    if (sqlite->presence.fd >= 0)
        fcntl(sqlite->presence.fd, F_OFD_SETLK, &lock);
}

void tn_presence_done(struct tn_sqlite *sqlite)
{
    if (sqlite->presence.fd >= 0)
        close(sqlite->presence.fd);
    sqlite->presence.fd = -1;
}

static enum tn_presence probe(const struct tn_sqlite *sqlite, const char *recorded, uint64_t session)
{
    char identity[TN_ID_ROOM];
    const int fd = open_file(sqlite, identity);
    if (fd < 0)
        return TN_PRESENCE_UNKNOWN;
    struct flock lock = byte_of(session);
    const bool told = !strcmp(identity, recorded) && fcntl(fd, F_OFD_GETLK, &lock) == 0;
    close(fd);
    if (!told)
        return TN_PRESENCE_UNKNOWN;
    return lock.l_type == F_UNLCK ? TN_PRESENCE_GONE : TN_PRESENCE_THERE;
}

enum tn_presence tn_presence_probe(struct tn_rows *rows, uint64_t session)
{
    struct tn_sqlite *sqlite = tn_sqlite_of(rows);
    sqlite3_stmt *row = TN_SQL(sqlite, PRESENCE_GET, (int64_t)session);
    if (!tn_sql_row(sqlite, row))
        return TN_PRESENCE_UNKNOWN;
    char recorded[TN_ID_ROOM];
    snprintf(recorded, sizeof recorded, "%s", (const char *)sqlite3_column_text(row, 0));
    sqlite3_reset(row);
    return probe(sqlite, recorded, session);
}

int tn_sqlite_presence_fd(const struct tn_store *store)
{
    return ((const struct tn_sqlite *)store)->presence.fd;
}
