#include "agent/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    variables_n = 8,
    variable_room = 4352,
    lines_fd = 3 /* of a one-shard process: shells can name descriptors of one digit only */
};

/* ---- the environment ---- */

struct environment { /* made before the fork: the child may not allocate */
    char own[variables_n][variable_room];
    char **all;
};

/* What is set anew, and what the service manager meant for the agent alone. */
static bool is_ours(const char *variable)
{
    static const char *const names[] = {
        "TENURE_GROUP=",  "TENURE_NODE=",   "TENURE_SHARDS=", "TENURE_STORE=",
        "TENURE_GATE=",   "TENURE_SHARD=",  "TENURE_TOKEN=",  "TENURE_CHECKPOINT_FD=",
        "NOTIFY_SOCKET=", "WATCHDOG_USEC=", "WATCHDOG_PID="};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strncmp(variable, names[i], strlen(names[i])))
            return true;
    return false;
}

static void add(struct environment *environment, size_t *n, size_t *own, const char *name, const char *value)
{
    char *variable = environment->own[(*own)++];
    snprintf(variable, variable_room, "%s=%s", name, value);
    environment->all[(*n)++] = variable;
}

static struct environment *make_environment(const struct tn_process_request *request)
{
    const struct tn_process_facts *facts = request->facts;
    struct environment *environment = calloc(1, sizeof *environment);
    size_t n = 0, own = 0, had = 0;
    char number[32];
    while (environ[had])
        had++;
    if (!environment || !(environment->all = calloc(had + variables_n + 1, sizeof(char *))))
        abort();
    for (size_t i = 0; i < had; i++)
        if (!is_ours(environ[i]))
            environment->all[n++] = environ[i];
    add(environment, &n, &own, "TENURE_GROUP", facts->group);
    add(environment, &n, &own, "TENURE_NODE", facts->node);
    add(environment, &n, &own, "TENURE_STORE", facts->store);
    add(environment, &n, &own, "TENURE_GATE", facts->gate);
    snprintf(number, sizeof number, "%u", facts->shards);
    add(environment, &n, &own, "TENURE_SHARDS", number);
    if (request->shard < 0)
        return environment;
    snprintf(number, sizeof number, "%lld", (long long)request->shard);
    add(environment, &n, &own, "TENURE_SHARD", number);
    snprintf(number, sizeof number, "%llu", (unsigned long long)request->token);
    add(environment, &n, &own, "TENURE_TOKEN", number);
    snprintf(number, sizeof number, "%d", lines_fd);
    add(environment, &n, &own, "TENURE_CHECKPOINT_FD", number);
    return environment;
}

static void free_environment(struct environment *environment)
{
    free(environment->all);
    free(environment);
}

/* ---- descriptors ---- */

struct ends { /* [0] the agent's, [1] the worker's; -1 unused */
    int lines[2], output[2], go[2];
};

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_side(struct ends *ends, int side)
{
    close_one(&ends->lines[side]);
    close_one(&ends->output[side]);
    close_one(&ends->go[side]);
}

/* A pipe whose writing end comes first: the agent's. */
static bool make_pipe(int *ret_ends)
{
    int raw[2];
    if (pipe2(raw, O_CLOEXEC) != 0)
        return false;
    ret_ends[0] = raw[1];
    ret_ends[1] = raw[0];
    return true;
}

static bool make_ends(struct ends *ends, bool one_shard)
{
    *ends = (struct ends){{-1, -1}, {-1, -1}, {-1, -1}};
    bool good = make_pipe(ends->go);
    if (one_shard) { /* `output` carries its empty standard input */
        good = good && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->lines) == 0 &&
               make_pipe(ends->output);
    } else {
        good = good && make_pipe(ends->lines) && pipe2(ends->output, O_CLOEXEC) == 0;
    }
    if (!good) {
        const int error = errno;
        close_side(ends, 0);
        close_side(ends, 1);
        errno = error;
    }
    return good;
}

/* ---- the child ---- */

static void reset_signals(void)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void inherit(int fd)
{
    if (fd >= 0)
        fcntl(fd, F_SETFD, 0);
}

static void run_child(const struct tn_process_request *request, struct ends *ends,
                      struct environment *environment, pid_t agent)
{
    const bool one_shard = request->shard >= 0;
    char byte;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_side(ends, 0); /* or this child would keep its own pipes from ending */
    if (getppid() != agent || read(ends->go[1], &byte, 1) != 1)
        _exit(1); /* the agent is gone already */
    reset_signals();
    dup2(one_shard ? ends->output[1] : ends->lines[1], STDIN_FILENO);
    if (!one_shard)
        dup2(ends->output[1], STDOUT_FILENO);
    else if (ends->lines[1] == lines_fd)
        inherit(lines_fd);
    else
        dup2(ends->lines[1], lines_fd);
    inherit(request->presence);
    execvpe(request->command[0], request->command, environment->all);
    dprintf(STDERR_FILENO, "tenure run: cannot run %s: %s\n", request->command[0], strerror(errno));
    _exit(127);
}

/* ---- the agent's side ---- */

bool tn_process_start(const struct tn_process_request *request, struct tn_process *ret_process)
{
    const bool one_shard = request->shard >= 0;
    const pid_t agent = getpid();
    struct ends ends;
    if (!make_ends(&ends, one_shard))
        return false;
    struct environment *environment = make_environment(request);
    const pid_t pid = fork();
    if (pid == 0)
        run_child(request, &ends, environment, agent);
    const int error = errno;
    free_environment(environment);
    close_side(&ends, 1);
    if (pid < 0) {
        close_side(&ends, 0);
        errno = error;
        return false;
    }
    setpgid(pid, pid); /* both sides do it: whoever is first */
    fcntl(ends.lines[0], F_SETFL, fcntl(ends.lines[0], F_GETFL) | O_NONBLOCK);
    fcntl(ends.output[0], F_SETFL, fcntl(ends.output[0], F_GETFL) | O_NONBLOCK);
    *ret_process = (struct tn_process){.pid = pid,
                                       .to = ends.lines[0],
                                       .from = one_shard ? ends.lines[0] : ends.output[0],
                                       .input = one_shard ? ends.output[0] : -1,
                                       .go = ends.go[0]};
    return true;
}

void tn_process_go(struct tn_process *process)
{
    if (write(process->go, "", 1) != 1)
        kill(process->pid, SIGKILL); /* it is gone, or soon will be */
    close_one(&process->go);
}

void tn_process_close(struct tn_process *process)
{
    if (process->from == process->to)
        process->from = -1;
    close_one(&process->to);
    close_one(&process->from);
    close_one(&process->input);
    close_one(&process->go);
}

static bool runnable(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0;
}

bool tn_process_exists(const char *command)
{
    if (strchr(command, '/'))
        return runnable(command);
    const char *path = getenv("PATH");
    for (path = path ? path : "/bin:/usr/bin"; *path;) {
        char name[4096];
        const size_t length = strcspn(path, ":");
        snprintf(name, sizeof name, "%.*s/%s", (int)length, length ? path : ".", command);
        if (runnable(name))
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}
