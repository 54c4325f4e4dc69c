#include "store/sqlite/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Those on which SQLite's locks and shared memory are known to work between processes: linux/magic.h and, for
 * ZFS and f2fs, their own sources. ext2, ext3 and ext4 share one number. */
static const uint64_t known_fs[] = {
    0xef53 /* ext4 */,     0x58465342 /* xfs */,   0x9123683e /* btrfs */,     0x2fc12fc1 /* zfs */,
    0xf2f52010 /* f2fs */, 0x01021994 /* tmpfs */, 0x794c7630 /* overlayfs */,
};

static void read_line(const char *path, char *into, size_t room)
{
    into[0] = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    const ssize_t length = read(fd, into, room - 1);
    close(fd);
    into[length > 0 ? length : 0] = 0;
    into[strcspn(into, "\n")] = 0;
}

void tn_machine_read(struct tn_machine *machine, const struct tn_sqlite_options *options)
{
    *machine = (struct tn_machine){.time_namespace = options->time_namespace};
    if (options->boot_id)
        snprintf(machine->boot_id, sizeof machine->boot_id, "%s", options->boot_id);
    else
        read_line("/proc/sys/kernel/random/boot_id", machine->boot_id, sizeof machine->boot_id);
    if (options->machine_id)
        snprintf(machine->machine_id, sizeof machine->machine_id, "%s", options->machine_id);
    else
        read_line("/etc/machine-id", machine->machine_id, sizeof machine->machine_id);
    struct stat space;
    if (!machine->time_namespace && stat("/proc/self/ns/time", &space) == 0)
        machine->time_namespace = space.st_ino;
}

enum tenure_status tn_machine_check_fs(const char *directory, const struct tn_sqlite_options *options,
                                       struct tenure_error *error)
{
    struct statfs fs;
    uint64_t type = options->fs_type;
    if (options->any_fs)
        return TENURE_OK;
    if (!type && statfs(directory, &fs) != 0)
        return tn_error_set(error, TENURE_IO, "%.300s: %s", directory, strerror(errno));
    if (!type)
        type = (uint64_t)fs.f_type & 0xffffffff;
    for (size_t i = 0; i < sizeof known_fs / sizeof known_fs[0]; i++)
        if (known_fs[i] == type)
            return TENURE_OK;
    return tn_error_set(
        error, TENURE_REFUSED,
        "%.300s is on a file system of type 0x%llx; only local ones are known to be safe (ext4, xfs, btrfs, "
        "zfs, f2fs, tmpfs, overlay). If you are sure: add ?any_fs=1 to the URL",
        directory, (unsigned long long)type);
}

void tn_machine_random(void *into, size_t n)
{
    if (getrandom(into, n, 0) != (ssize_t)n)
        abort();
}
