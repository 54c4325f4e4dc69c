#include "agent/family.h"

#include "sys/clock.h"
#include "sys/thread.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { look_every_ms = 1000, first_look_ms = 50 };

struct process {
    pid_t pid, parent, group;
    char state;
    bool ours;
    char name[32];
};

struct tn_family {
    dev_t device;
    ino_t inode;
    int fd;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t news;
    pid_t *workers;
    size_t n_workers, workers_room;
    pid_t stranger;
    uint64_t changes; /* of the workers */
    struct tn_family_verdict verdict;
    int64_t next_look_ms;
    bool closing;
};

/* ---- looking ---- */

static bool read_process(const char *pid, struct process *process)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = 0;
    const char *const open_at = strchr(text, '('), *const close_at = strrchr(text, ')');
    *process = (struct process){.pid = atoi(pid)};
    if (!open_at || !close_at ||
        sscanf(close_at + 1, " %c %d %d", &process->state, &process->parent, &process->group) != 3)
        return false;
    snprintf(process->name, sizeof process->name, "%.*s", (int)(close_at - open_at - 1), open_at + 1);
    return true;
}

static struct process *read_processes(size_t *ret_n)
{
    size_t n = 0, room = 256;
    struct process *all = malloc(room * sizeof *all);
    DIR *const folder = opendir("/proc");
    for (const struct dirent *entry; all && folder && (entry = readdir(folder));) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        if (n == room)
            all = realloc(all, (room *= 2) * sizeof *all);
        if (!all)
            abort();
        n += read_process(entry->d_name, &all[n]);
    }
    if (folder)
        closedir(folder);
    *ret_n = n;
    return all;
}

static struct process *find(struct process *all, size_t n, pid_t pid)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].pid == pid)
            return &all[i];
    return NULL;
}

/* Marks the descendants of this process. Depth is small; a few passes reach everything. */
static void mark(struct process *all, size_t n, pid_t stranger)
{
    const pid_t me = getpid();
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < n; i++) {
            const struct process *parent = all[i].parent == me ? NULL : find(all, n, all[i].parent);
            if (all[i].ours || all[i].pid == stranger || (parent ? !parent->ours : all[i].parent != me))
                continue;
            all[i].ours = more = true;
        }
    }
}

static bool holds(const struct tn_family *family, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *const folder = opendir(path);
    bool found = false;
    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        struct stat file;
        found = isdigit((unsigned char)entry->d_name[0]) &&
                fstatat(dirfd(folder), entry->d_name, &file, 0) == 0 && file.st_dev == family->device &&
                file.st_ino == family->inode;
    }
    if (folder)
        closedir(folder);
    return found;
}

static bool is_one_of(pid_t pid, const pid_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == pid)
            return true;
    return false;
}

static struct tn_family_verdict look(const struct tn_family *family, const pid_t *workers, size_t n_workers,
                                     pid_t stranger)
{
    size_t n;
    struct tn_family_verdict verdict = {.held = true};
    struct process *all = read_processes(&n);
    mark(all, n, stranger);
    for (size_t i = 0; i < n && verdict.held; i++) {
        const struct process *process = &all[i];
        if (!process->ours || process->state == 'Z' || process->state == 'X' ||
            (is_one_of(process->group, workers, n_workers) && !is_one_of(process->pid, workers, n_workers)) ||
            holds(family, process->pid))
            continue;
        struct process now; /* it may have ended since */
        char pid[16];
        snprintf(pid, sizeof pid, "%d", process->pid);
        if (!read_process(pid, &now) || now.state == 'Z' || now.state == 'X')
            continue;
        verdict = (struct tn_family_verdict){.without = process->pid};
        memcpy(verdict.name, process->name, sizeof verdict.name);
    }
    free(all);
    return verdict;
}

/* ---- the thread ---- */

static void announce(struct tn_family *family, const struct tn_family_verdict *verdict)
{
    const uint64_t one = 1;
    const bool news = verdict->held != family->verdict.held || verdict->without != family->verdict.without;
    family->verdict = *verdict;
    if (news && write(family->fd, &one, sizeof one) != sizeof one)
        return; /* it is readable already */
}

static void *run(void *context)
{
    struct tn_family *family = context;
    pthread_mutex_lock(&family->lock);
    while (!family->closing) {
        const int64_t left = family->next_look_ms - tn_clock_boot_ms();
        if (left > 0) {
            tn_cond_wait_ms(&family->news, &family->lock, left);
            continue;
        }
        const size_t n = family->n_workers;
        const uint64_t changes = family->changes;
        pid_t *workers = malloc(n * sizeof *workers + 1);
        if (!workers)
            abort();
        if (n)
            memcpy(workers, family->workers, n * sizeof *workers);
        const pid_t stranger = family->stranger;
        pthread_mutex_unlock(&family->lock);
        const struct tn_family_verdict verdict = look(family, workers, n, stranger);
        free(workers);
        pthread_mutex_lock(&family->lock);
        if (changes != family->changes)
            continue; /* looked at a family that is no more */
        announce(family, &verdict);
        family->next_look_ms = tn_clock_boot_ms() + look_every_ms;
    }
    pthread_mutex_unlock(&family->lock);
    return NULL;
}

/* ---- the loop's side ---- */

struct tn_family *tn_family_open(int presence, pid_t stranger)
{
    struct stat file;
    struct tn_family *family = calloc(1, sizeof *family);
    if (!family)
        abort();
    if (fstat(presence, &file) == 0) {
        family->device = file.st_dev;
        family->inode = file.st_ino;
    }
    family->stranger = stranger;
    family->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (family->fd < 0)
        abort();
    pthread_mutex_init(&family->lock, NULL);
    tn_cond_init(&family->news);
    tn_thread_start(&family->thread, run, family);
    return family;
}

void tn_family_close(struct tn_family *family)
{
    pthread_mutex_lock(&family->lock);
    family->closing = true;
    pthread_cond_signal(&family->news);
    pthread_mutex_unlock(&family->lock);
    pthread_join(family->thread, NULL);
    pthread_mutex_destroy(&family->lock);
    pthread_cond_destroy(&family->news);
    close(family->fd);
    free(family->workers);
    free(family);
}

int tn_family_fd(const struct tn_family *family)
{
    return family->fd;
}

struct tn_family_verdict tn_family_verdict(struct tn_family *family)
{
    uint64_t count;
    pthread_mutex_lock(&family->lock);
    if (read(family->fd, &count, sizeof count) != sizeof count)
        count = 0; /* nothing new */
    const struct tn_family_verdict verdict = family->verdict;
    pthread_mutex_unlock(&family->lock);
    return verdict;
}

static void add_worker(struct tn_family *family, pid_t pid)
{
    if (family->n_workers == family->workers_room) {
        family->workers_room = family->workers_room ? family->workers_room * 2 : 16;
        family->workers = realloc(family->workers, family->workers_room * sizeof *family->workers);
        if (!family->workers)
            abort();
    }
    family->workers[family->n_workers++] = pid;
    family->next_look_ms = tn_clock_boot_ms() + first_look_ms; /* after its exec */
    announce(family, &(struct tn_family_verdict){0});
}

void tn_family_worker(struct tn_family *family, pid_t pid, bool lives)
{
    pthread_mutex_lock(&family->lock);
    family->changes++;
    size_t at = 0;
    while (at < family->n_workers && family->workers[at] != pid)
        at++;
    if (lives)
        add_worker(family, pid);
    else if (at < family->n_workers)
        family->workers[at] = family->workers[--family->n_workers];
    pthread_cond_signal(&family->news);
    pthread_mutex_unlock(&family->lock);
}

void tn_family_stranger(struct tn_family *family, pid_t pid)
{
    pthread_mutex_lock(&family->lock);
    family->stranger = pid;
    family->changes++;
    pthread_mutex_unlock(&family->lock);
}
