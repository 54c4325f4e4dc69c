#include "agent/saver.h"

#include "sys/thread.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { lanes_n = 8 };

struct lane {
    struct tn_saver *saver;
    pthread_t thread;
    pthread_cond_t news;
    struct tn_save *first, **last;
};

struct tn_saver {
    struct tenure_group *group;
    struct lane lanes[lanes_n];
    pthread_mutex_t lock; /* guards the queues, the answers and `closing` */
    struct tn_save *answers, **last_answer;
    bool closing;
    int fd;
};

static void answer(struct tn_saver *saver, struct tn_save *save)
{
    const uint64_t one = 1;
    *saver->last_answer = save;
    saver->last_answer = &save->next;
    if (write(saver->fd, &one, sizeof one) != sizeof one)
        return; /* it is readable already */
}

static struct tn_save *take(struct lane *lane)
{
    struct tn_save *save = lane->first;
    lane->first = save->next;
    if (!lane->first)
        lane->last = &lane->first;
    save->next = NULL;
    return save;
}

static void *run(void *context)
{
    struct lane *lane = context;
    struct tn_saver *saver = lane->saver;
    pthread_mutex_lock(&saver->lock);
    while (!saver->closing) {
        if (!lane->first) {
            pthread_cond_wait(&lane->news, &saver->lock);
            continue;
        }
        struct tn_save *save = take(lane);
        pthread_mutex_unlock(&saver->lock);
        uint64_t stored = save->seq;
        save->status = tenure_checkpoint_save(saver->group, save->shard, save->token, save->data, save->size,
                                              save->seq, save->rewind, &stored);
        save->seq = stored;
        pthread_mutex_lock(&saver->lock);
        answer(saver, save);
    }
    pthread_mutex_unlock(&saver->lock);
    return NULL;
}

struct tn_saver *tn_saver_open(struct tenure_group *group)
{
    struct tn_saver *saver = calloc(1, sizeof *saver);
    if (!saver)
        abort();
    saver->group = group;
    saver->last_answer = &saver->answers;
    saver->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (saver->fd < 0)
        abort();
    pthread_mutex_init(&saver->lock, NULL);
    for (int i = 0; i < lanes_n; i++) {
        struct lane *lane = &saver->lanes[i];
        lane->saver = saver;
        lane->last = &lane->first;
        tn_cond_init(&lane->news);
        tn_thread_start(&lane->thread, run, lane);
    }
    return saver;
}

static void free_all(struct tn_save *save)
{
    for (struct tn_save *next; save; save = next) {
        next = save->next;
        free(save);
    }
}

void tn_saver_close(struct tn_saver *saver)
{
    pthread_mutex_lock(&saver->lock);
    saver->closing = true;
    for (int i = 0; i < lanes_n; i++)
        pthread_cond_signal(&saver->lanes[i].news);
    pthread_mutex_unlock(&saver->lock);
    for (int i = 0; i < lanes_n; i++) {
        pthread_join(saver->lanes[i].thread, NULL);
        pthread_cond_destroy(&saver->lanes[i].news);
        free_all(saver->lanes[i].first);
    }
    free_all(saver->answers);
    close(saver->fd);
    pthread_mutex_destroy(&saver->lock);
    free(saver);
}

int tn_saver_fd(const struct tn_saver *saver)
{
    return saver->fd;
}

void tn_saver_put(struct tn_saver *saver, const struct tn_save *save, const void *data)
{
    struct tn_save *copy = malloc(sizeof *copy + save->size);
    if (!copy)
        abort();
    *copy = *save;
    copy->next = NULL;
    memcpy(copy->data, data, save->size);
    struct lane *lane = &saver->lanes[save->shard % lanes_n];
    pthread_mutex_lock(&saver->lock);
    *lane->last = copy;
    lane->last = &copy->next;
    pthread_cond_signal(&lane->news);
    pthread_mutex_unlock(&saver->lock);
}

struct tn_save *tn_saver_take(struct tn_saver *saver)
{
    uint64_t count;
    pthread_mutex_lock(&saver->lock);
    struct tn_save *save = saver->answers;
    if (save) {
        saver->answers = save->next;
        if (!saver->answers)
            saver->last_answer = &saver->answers;
    } else if (read(saver->fd, &count, sizeof count) != sizeof count) {
        count = 0; /* nothing was there */
    }
    pthread_mutex_unlock(&saver->lock);
    return save;
}
