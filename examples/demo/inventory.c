/* The demo's worker in C: an inventory of files, sharded. A record is a piece of a file, the work on it its
 * SHA-256. Runs under an agent and speaks the line protocol with it (docs/WORKERS.md):
 *
 *     tenure run --group G --node ID -- inventory --data DIR [--work-ms 100] [--batch 64] [--notes FILE]
 *                                                 [--inside-ms 0]
 *
 * --inside-ms: how long a transaction stays open between the fence and its commit, for those who want to hit
 * it there. Standard error is its log. Exit status: 0 when the agent says so or is gone, 2 for wrong
 * arguments. inventory_worker.py is the same in Python. */
#include "node.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <sys/resource.h>

enum { files_most = 1024, descriptors_a_file = 2, descriptors_else = 64 };

static bool number_between(const char *text, long least, long most, long *ret)
{
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    if (errno || end == text || *end || number < least || number > most)
        return false;
    *ret = number;
    return true;
}

static bool read_option(int letter, const char *text, struct node_options *options)
{
    switch (letter) {
    case 'd': options->data = text; return true;
    case 'n': options->notes = text; return true;
    case 'w': return number_between(text, 0, 60000, &options->work_ms);
    case 'i': return number_between(text, 0, 60000, &options->inside_ms);
    case 'b': return number_between(text, 1, DATA_BATCH_MAX, &options->batch);
    default: return false;
    }
}

static bool read_options(int argc, char **argv, struct node_options *options)
{
    static const struct option table[] = {
        {"data", required_argument, NULL, 'd'},      {"notes", required_argument, NULL, 'n'},
        {"work-ms", required_argument, NULL, 'w'},   {"batch", required_argument, NULL, 'b'},
        {"inside-ms", required_argument, NULL, 'i'}, {0}};
    bool fine = true;
    for (int letter; fine && (letter = getopt_long(argc, argv, "", table, NULL)) != -1;)
        fine = read_option(letter, optarg, options);
    return fine && optind == argc && options->data;
}

/* ---- */

/* As many data files as the limit on open files lets us have, and raises that first. */
static size_t files_allowed(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 16;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= files_most * descriptors_a_file + descriptors_else)
        return files_most;
    if (limit.rlim_cur <= descriptors_else + descriptors_a_file)
        return 1;
    return (limit.rlim_cur - descriptors_else) / descriptors_a_file;
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "inventory: %s: %s\n", what, why);
    return 2;
}

static bool set_up(struct node *node)
{
    const char *const shards = getenv("TENURE_SHARDS");
    node->group = getenv("TENURE_GROUP");
    node->name = getenv("TENURE_NODE");
    node->gate = tenure_gate_map(getenv("TENURE_GATE"));
    node->n = shards ? (uint32_t)strtoul(shards, NULL, 10) : 0;
    node->lines.fd = STDIN_FILENO;
    return node->group && node->name && node->gate && node->n;
}

static int live(struct node *node)
{
    node->shards = calloc(node->n, sizeof *node->shards);
    node->data = data_new(node->options->data, node->n, files_allowed());
    if (!node->shards || !node->data)
        return fail("start", "out of memory");
    node_live(node);
    data_free(node->data);
    free(node->shards);
    return 0;
}

int main(int argc, char **argv)
{
    struct node_options options = {.work_ms = 100, .batch = DATA_BATCH_MAX};
    static struct node node;
    if (!read_options(argc, argv, &options))
        return fail("usage", "inventory --data DIR [--work-ms 100] [--batch 64] [--notes FILE] "
                             "[--inside-ms 0], under `tenure run`");
    node.options = &options;
    if (!set_up(&node))
        return fail("start", "no agent: run it under `tenure run --group G -- inventory ...`");
    if (!notes_open(&node.notes, options.notes, node.name))
        return fail(options.notes, strerror(errno));
    const int exit_status = live(&node);
    notes_close(&node.notes);
    return exit_status;
}
