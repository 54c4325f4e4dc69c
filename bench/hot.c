/* The hot path against a call of XXH3_64bits in libxxhash, on random 16-byte keys, in the same run.
 *
 * usage: hot            nanoseconds, of many interleaved rounds: the quiet ones (the tenth percentile) and
 * the middle; ratios are of quiet to quiet hot count WHAT one loop of WHAT alone, for callgrind: base, peer,
 * shard, owns, quick, exact, clock, coarse
 */
#include "median.h"
#include "node/node.h"
#include "sys/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

enum { keys = 4096, key_size = 16, rounds = 201, passes = 64, shards = 256, count_calls = 100000 };

static unsigned char key[keys][key_size];
static struct tenure tenure;
static struct tenure_group group = {.tenure = &tenure, .deadline = &tenure.deadline};
static volatile uint64_t sink;

typedef uint64_t loop(size_t n);

static uint64_t base_loop(size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += key[i % keys][0];
    return sum;
}

static uint64_t peer_loop(size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += XXH3_64bits(key[i % keys], key_size);
    return sum;
}

static uint64_t shard_loop(size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += tenure_shard_of(&group, key[i % keys], key_size);
    return sum;
}

static uint64_t owns_loop(size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += tenure_owns(&group, key[i % keys], key_size, NULL);
    return sum;
}

static uint64_t quick_loop(size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += tenure_gate_quick(&group, (uint32_t)(i % shards), 7);
    return sum;
}

static uint64_t exact_loop(size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += tenure_gate_exact(&group, (uint32_t)(i % shards), 7);
    return sum;
}

static uint64_t coarse_loop(size_t n)
{
    uint64_t sum = 0;
    struct timespec at;
    for (size_t i = 0; i < n; i++) {
        clock_gettime(CLOCK_MONOTONIC_COARSE, &at);
        sum += (uint64_t)at.tv_nsec;
    }
    return sum;
}

static uint64_t clock_loop(size_t n)
{
    uint64_t sum = 0;
    struct timespec at;
    for (size_t i = 0; i < n; i++) {
        clock_gettime(CLOCK_BOOTTIME, &at);
        sum += (uint64_t)at.tv_nsec;
    }
    return sum;
}

static const struct {
    const char *name;
    loop *run;
} loops[] = {{"base", base_loop},   {"peer", peer_loop},   {"shard", shard_loop}, {"owns", owns_loop},
             {"quick", quick_loop}, {"exact", exact_loop}, {"clock", clock_loop}, {"coarse", coarse_loop}};
enum { BASE, PEER, SHARD, OWNS, QUICK, EXACT, CLOCK, COARSE, LOOPS };

static void set_up(void)
{
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < keys; i++)
        for (int j = 0; j < key_size; j++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            key[i][j] = (unsigned char)x;
        }
    if (tn_hasher_init(&group.hasher, TN_HASH_XXH3, 0, shards, NULL) != TENURE_OK)
        abort();
    group.slots = calloc(shards, sizeof *group.slots);
    if (!group.slots)
        abort();
    for (int s = 0; s < shards; s++)
        tn_gate_set(&group.slots[s], 7, false);
    tn_deadline_set(&tenure.deadline, tn_clock_boot_ms() + 3600000);
}

static double time_one(loop *run)
{
    const int64_t began = tn_clock_boot_ns();
    sink += run((size_t)keys * passes);
    return (double)(tn_clock_boot_ns() - began) / ((double)keys * passes);
}

/* Interleaved, so that a noisy moment hits all loops alike. */
static void measure(double low[LOOPS], double middle[LOOPS])
{
    static double all[LOOPS][rounds];
    for (int r = 0; r < rounds; r++)
        for (int l = 0; l < LOOPS; l++)
            all[l][r] = time_one(loops[l].run);
    for (int l = 0; l < LOOPS; l++)
        low[l] = quiet(all[l], rounds), middle[l] = median(all[l], rounds);
}

/* ---- two threads, while a third changes ownership a thousand times a second ---- */

static _Atomic bool over;

static void *change_ownership(void *unused)
{
    (void)unused;
    uint64_t token = 7;
    for (uint32_t s = 0; !over; s = (s + 1) % shards) {
        tn_gate_set(&group.slots[s], 0, false);
        tn_gate_set(&group.slots[s], token, false);
        const struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
    return NULL;
}

struct worker {
    loop *run;
    double ns;
};

static void *work(void *context)
{
    struct worker *worker = context;
    double *times = malloc(rounds * sizeof *times);
    for (int r = 0; times && r < rounds; r++)
        times[r] = time_one(worker->run);
    worker->ns = times ? median(times, rounds) : 0;
    free(times);
    return NULL;
}

/* How much more two threads do than one. */
static double scaling(loop *run)
{
    struct worker one = {.run = run}, two[2] = {{.run = run}, {.run = run}};
    work(&one);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &two[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return one.ns / two[0].ns + one.ns / two[1].ns;
}

static void report_scaling(void)
{
    pthread_t changer;
    pthread_create(&changer, NULL, change_ownership, NULL);
    double peer[5], owns[5];
    for (int i = 0; i < 5; i++)
        peer[i] = scaling(peer_loop), owns[i] = scaling(owns_loop);
    over = true;
    pthread_join(changer, NULL);
    const double bare = median(peer, 5), ours = median(owns, 5);
    printf("two threads, ownership changing 1,000 times a second: bare call x%.2f, mine-under-token x%.2f, "
           "ratio %.2f (at least 0.95)\n",
           bare, ours, ours / bare);
}

static int count(const char *name)
{
    for (int l = 0; l < LOOPS; l++)
        if (!strcmp(loops[l].name, name)) {
            sink += loops[l].run(count_calls);
            return 0;
        }
    return 2;
}

int main(int argc, char **argv)
{
    set_up();
    if (argc == 3 && !strcmp(argv[1], "count"))
        return count(argv[2]);
    double low[LOOPS], middle[LOOPS];
    measure(low, middle);
    static const struct {
        int loop, peer;
        const char *name, *against;
    } lines[] = {{PEER, PEER, "XXH3_64bits, a call, 16-byte keys", "a call"},
                 {SHARD, PEER, "key -> shard", "the call (at most 1.1)"},
                 {OWNS, PEER, "key -> shard -> mine, under token", "the call (at most 1.3)"},
                 {COARSE, COARSE, "coarse clock, a read", "a read"},
                 {QUICK, COARSE, "quick gate (at most 10 ns)", "a coarse read"},
                 {CLOCK, CLOCK, "boot clock, a read", "a read"},
                 {EXACT, CLOCK, "exact gate", "a clock read (at most 1.3)"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        printf("%-36s %6.2f ns quiet, %6.2f middle, %5.2fx %s\n", lines[i].name, low[lines[i].loop],
               middle[lines[i].loop], low[lines[i].loop] / low[lines[i].peer], lines[i].against);
    report_scaling();
    return 0;
}
