#include "store/stamp/holder.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
    PENDING_BYTE = 0x40000000, /* in the database: pending, reserved, then 510 shared bytes */
    FIRST_SHARED = PENDING_BYTE + 2,
    LAST_SHARED = PENDING_BYTE + 511,
    WAL_WRITE_BYTE = 120, /* in the -shm file: write, checkpoint, recover */
    WAL_RECOVER_BYTE = 122
};

struct lock {
    bool write;
    int64_t pid;
    dev_t device;
    unsigned long long inode, first, last;
};

struct wanted { /* a lock that would be in somebody's way */
    struct stat file;
    bool write;
    unsigned long long first, last;
};

static bool scan(const struct wanted *wanted, int64_t except, int64_t *ret_pid);
static void name_process(struct tn_holder *holder);

bool tn_holder_find(const char *path, bool readers, struct tn_holder *ret)
{
    struct wanted wanted = {.write = true, .first = PENDING_BYTE, .last = LAST_SHARED};
    if (stat(path, &wanted.file) != 0)
        return false;
    const int64_t except = readers ? getpid() : -1;
    struct tn_holder holder = {0};
    bool found = scan(&wanted, except, &holder.pid);
    if (!found) {
        char shm[PATH_MAX];
        struct wanted wal = {.write = true, .first = WAL_WRITE_BYTE, .last = WAL_RECOVER_BYTE};
        const int length = snprintf(shm, sizeof shm, "%s-shm", path);
        if (length > 0 && (size_t)length < sizeof shm && stat(shm, &wal.file) == 0)
            found = scan(&wal, except, &holder.pid);
    }
    if (!found && readers) {
        wanted.write = false;
        wanted.first = FIRST_SHARED;
        found = scan(&wanted, except, &holder.pid);
    }
    if (!found)
        return false;
    name_process(&holder);
    *ret = holder;
    return true;
}

static bool parse(const char *line, struct lock *lock)
{
    char mode[16], last[32];
    unsigned device_major, device_minor;
    long long pid;
    if (sscanf(line, "%*u: POSIX %*15s %15s %lld %x:%x:%llu %llu %31s", mode, &pid, &device_major,
               &device_minor, &lock->inode, &lock->first, last) != 7)
        return false; /* another kind of lock, or one who only waits ("->") */
    lock->write = strcmp(mode, "WRITE") == 0;
    lock->pid = pid;
    lock->device = makedev(device_major, device_minor);
    if (strcmp(last, "EOF") == 0)
        lock->last = ULLONG_MAX;
    else if (sscanf(last, "%llu", &lock->last) != 1)
        return false;
    return true;
}

/* Does the process have the file open? Settles the case of file systems (btrfs, overlay) whose stat names
 * another device than /proc/locks does. */
static bool has_open(int64_t pid, const struct stat *file)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/fd", (long long)pid);
    DIR *const dir = opendir(path);
    if (!dir)
        return false;
    bool found = false;
    for (const struct dirent *entry; !found && (entry = readdir(dir));) {
        struct stat open_file;
        found = fstatat(dirfd(dir), entry->d_name, &open_file, 0) == 0 && open_file.st_ino == file->st_ino &&
                open_file.st_dev == file->st_dev;
    }
    closedir(dir);
    return found;
}

static bool matches(const struct lock *lock, const struct wanted *wanted, int64_t except)
{
    return lock->inode == wanted->file.st_ino && lock->pid > 0 && lock->pid != except &&
           (lock->write || !wanted->write) && lock->first <= wanted->last && lock->last >= wanted->first &&
           (lock->device == wanted->file.st_dev || has_open(lock->pid, &wanted->file));
}

static bool scan(const struct wanted *wanted, int64_t except, int64_t *ret_pid)
{
    FILE *const locks = fopen("/proc/locks", "re");
    if (!locks)
        return false;
    char line[256];
    bool found = false;
    while (!found && fgets(line, sizeof line, locks)) {
        struct lock lock;
        found = parse(line, &lock) && matches(&lock, wanted, except);
        if (found)
            *ret_pid = lock.pid;
    }
    fclose(locks);
    return found;
}

static void name_process(struct tn_holder *holder)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/comm", (long long)holder->pid);
    FILE *const file = fopen(path, "re");
    if (!file)
        return;
    if (!fgets(holder->command, sizeof holder->command, file))
        holder->command[0] = 0;
    fclose(file);
    holder->command[strcspn(holder->command, "\n")] = 0;
}
