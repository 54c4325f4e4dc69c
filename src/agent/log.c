#include "agent/log.h"

#include "base/text.h"
#include "sys/clock.h"
#include "sys/thread.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { log_room = 256 * 1024, message_room = 1024, last_words_ms = 1000 };

struct tn_log {
    enum tenure_log_level level;
    bool json;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t news, end;
    char *node;
    struct tn_text waiting;
    uint64_t dropped;
    bool closing, ended;
};

static const char *const names[] = {"error", "warning", "info", "debug"};

bool tn_log_level_parse(const char *text, size_t length, enum tenure_log_level *ret_level)
{
    for (int i = 0; i < 4; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], text, length)) {
            *ret_level = (enum tenure_log_level)i;
            return true;
        }
    return false;
}

static void write_all(const char *bytes, size_t n)
{
    while (n) {
        const ssize_t done = write(STDERR_FILENO, bytes, n);
        if (done < 0 && errno != EINTR)
            return; /* nobody listens */
        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        }
    }
}

static void *run(void *context)
{
    struct tn_log *log = context;
    struct tn_text taken;
    tn_text_init(&taken);
    pthread_mutex_lock(&log->lock);
    while (!log->closing || log->waiting.length) {
        if (!log->waiting.length) {
            pthread_cond_wait(&log->news, &log->lock);
            continue;
        }
        const struct tn_text other = taken;
        taken = log->waiting;
        log->waiting = other;
        pthread_mutex_unlock(&log->lock);
        write_all(taken.bytes, taken.length);
        tn_text_clear(&taken);
        pthread_mutex_lock(&log->lock);
    }
    log->ended = true;
    pthread_cond_signal(&log->end);
    pthread_mutex_unlock(&log->lock);
    tn_text_done(&taken);
    return NULL;
}

/* Bytes of the UTF-8 character at `c`; 0: it is none (overlong forms and surrogates pass: they are rare, and
 * JSON readers replace them). */
static size_t character_bytes(const unsigned char *c)
{
    const size_t n = *c < 0xc2 || *c > 0xf4 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

static void add_quoted(struct tn_text *text, const char *words)
{
    tn_text_puts(text, "\"");
    for (const unsigned char *c = (const unsigned char *)words; *c; c++) {
        if (*c == '"' || *c == '\\')
            tn_text_print(text, "\\%c", *c);
        else if (*c < 32 || *c == 127)
            tn_text_print(text, "\\u%04x", *c);
        else if (*c < 128)
            tn_text_add(text, c, 1);
        else if (character_bytes(c)) {
            tn_text_add(text, c, character_bytes(c));
            c += character_bytes(c) - 1;
        } else
            tn_text_puts(text, "\xef\xbf\xbd"); /* what a worker printed may be anything, or cut */
    }
    tn_text_puts(text, "\"");
}

struct tn_log *tn_log_open(enum tenure_log_level level, bool json, const char *node)
{
    struct tn_log *log = calloc(1, sizeof *log);
    if (!log)
        abort();
    log->level = level;
    log->json = json;
    log->node = strdup(node);
    tn_text_init(&log->waiting);
    pthread_mutex_init(&log->lock, NULL);
    tn_cond_init(&log->news);
    tn_cond_init(&log->end);
    tn_thread_start(&log->thread, run, log);
    return log;
}

/* A writer that hangs in write(2) is left behind with its memory: the process is about to end. */
void tn_log_close(struct tn_log *log)
{
    const int64_t until = tn_clock_boot_ms() + last_words_ms;
    pthread_mutex_lock(&log->lock);
    log->closing = true;
    pthread_cond_signal(&log->news);
    while (!log->ended && tn_clock_boot_ms() < until)
        tn_cond_wait_ms(&log->end, &log->lock, until - tn_clock_boot_ms());
    const bool ended = log->ended;
    pthread_mutex_unlock(&log->lock);
    if (!ended)
        return;
    pthread_join(log->thread, NULL);
    pthread_mutex_destroy(&log->lock);
    pthread_cond_destroy(&log->news);
    pthread_cond_destroy(&log->end);
    tn_text_done(&log->waiting);
    free(log->node);
    free(log);
}

static void format_line(const struct tn_log *log, enum tenure_log_level level, const char *words,
                        struct tn_text *line)
{
    char when[32];
    struct tm utc;
    const int64_t now_ms = tn_clock_unix_ms();
    const time_t seconds = (time_t)(now_ms / 1000);
    gmtime_r(&seconds, &utc);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &utc);
    if (!log->json) {
        tn_text_print(line, "%s.%03dZ %s ", when, (int)(now_ms % 1000), names[level]);
        for (const char *c = words; *c; c++) /* what a worker or a store said may not break lines */
            tn_text_print(line, "%c", (unsigned char)*c < 32 || *c == 127 ? ' ' : *c);
        tn_text_puts(line, "\n");
        return;
    }
    tn_text_print(line, "{\"time\":\"%s.%03dZ\",\"level\":\"%s\",\"node\":", when, (int)(now_ms % 1000),
                  names[level]);
    add_quoted(line, log->node);
    tn_text_puts(line, ",\"message\":");
    add_quoted(line, words);
    tn_text_puts(line, "}\n");
}

void tn_log_node(struct tn_log *log, const char *node)
{
    pthread_mutex_lock(&log->lock);
    free(log->node);
    log->node = strdup(node);
    pthread_mutex_unlock(&log->lock);
}

void tn_log_say(struct tn_log *log, enum tenure_log_level level, const char *format, ...)
{
    if (level > log->level)
        return;
    char words[message_room];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    struct tn_text line;
    tn_text_init(&line);
    pthread_mutex_lock(&log->lock);
    format_line(log, level, words, &line);
    if (log->waiting.length + line.length > log_room) {
        log->dropped++;
    } else {
        if (log->dropped) {
            struct tn_text gap;
            char count[64];
            snprintf(count, sizeof count, "%llu log lines found no room", (unsigned long long)log->dropped);
            tn_text_init(&gap);
            format_line(log, TENURE_LOG_WARNING, count, &gap);
            tn_text_add(&log->waiting, gap.bytes, gap.length);
            tn_text_done(&gap);
            log->dropped = 0;
        }
        tn_text_add(&log->waiting, line.bytes, line.length);
        pthread_cond_signal(&log->news);
    }
    pthread_mutex_unlock(&log->lock);
    tn_text_done(&line);
}
