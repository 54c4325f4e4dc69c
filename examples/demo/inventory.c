/* The demo's worker node: an inventory of files, sharded. A record is a block of a file, the work on it its
 * SHA-256.
 *
 *     inventory --store URL --group G --node ID --data DIR [--work-ms 100] [--batch 16] [--notes FILE]
 *
 * Standard error is its log. Exit status: 0 after a clean leave (SIGTERM), 5 when shards had to be given up,
 * 4 when replaced, 2 for wrong arguments; otherwise as the table in tenure/status.h says. */
#include "node.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { files_most = 1024, descriptors_a_file = 2, descriptors_else = 64 };

static volatile sig_atomic_t stop_wanted;

static void on_signal(int number)
{
    (void)number;
    stop_wanted = 1;
}

static void on_log(void *context, int level, const char *line)
{
    (void)context;
    (void)level;
    fprintf(stderr, "%" PRId64 " %s\n", notes_unix_ms(), line);
}

/* ---- arguments ---- */

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
    case 's': options->store = text; return true;
    case 'g': options->group = text; return true;
    case 'i': options->node = text; return true;
    case 'd': options->data = text; return true;
    case 'n': options->notes = text; return true;
    case 'w': return number_between(text, 0, 60000, &options->work_ms);
    case 'b': return number_between(text, 1, DATA_BATCH_MAX, &options->batch);
    default: return false;
    }
}

static bool read_options(int argc, char **argv, struct node_options *options)
{
    static const struct option table[] = {
        {"store", required_argument, NULL, 's'}, {"group", required_argument, NULL, 'g'},
        {"node", required_argument, NULL, 'i'},  {"data", required_argument, NULL, 'd'},
        {"notes", required_argument, NULL, 'n'}, {"work-ms", required_argument, NULL, 'w'},
        {"batch", required_argument, NULL, 'b'}, {0}};
    bool fine = true;
    for (int letter; fine && (letter = getopt_long(argc, argv, "", table, NULL)) != -1;)
        fine = read_option(letter, optarg, options);
    return fine && optind == argc && options->group && options->node && options->data;
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

static int fail(const char *what, enum tenure_status status, const char *why)
{
    fprintf(stderr, "inventory: %s: %s\n", what, why);
    return tenure_status_exit(status);
}

static int join_and_live(struct node *node)
{
    struct tenure_error error;
    const enum tenure_status joined = tenure_join(node->tenure, node->options->group, &node->group, &error);
    if (joined != TENURE_OK)
        return fail("join", joined, error.text);
    node->n = tenure_group_shards(node->group);
    node->shards = calloc(node->n, sizeof *node->shards);
    node->data = data_new(node->options->data, node->n, files_allowed());
    if (!node->shards || !node->data)
        return fail("start", TENURE_NO_MEMORY, "out of memory");
    const enum tenure_status ended = node_live(node, &stop_wanted);
    if (ended != TENURE_OK)
        fail("end", ended, tenure_status_sentence(ended));
    return tenure_status_exit(ended);
}

int main(int argc, char **argv)
{
    struct node_options options = {.work_ms = 100, .batch = 16};
    if (!read_options(argc, argv, &options)) {
        fprintf(stderr,
                "usage: inventory --store URL --group G --node ID --data DIR [--work-ms 100] [--batch 16] "
                "[--notes FILE]\n");
        return 2;
    }
    struct node node = {.options = &options};
    if (!notes_open(&node.notes, options.notes, options.node))
        return fail(options.notes, TENURE_BAD_INPUT, strerror(errno));
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    struct tenure_options open;
    tenure_options_init(&open);
    open.store = options.store;
    open.node_id = options.node;
    open.log = on_log;
    struct tenure_error error;
    const enum tenure_status opened = tenure_open(&open, &node.tenure, &error);
    const int exit_status = opened == TENURE_OK ? join_and_live(&node) : fail("open", opened, error.text);
    tenure_close(node.tenure);
    data_free(node.data);
    free(node.shards);
    notes_close(&node.notes);
    return exit_status;
}
