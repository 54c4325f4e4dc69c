#include "cli/wait.h"

#include "base/text.h"
#include "cli/value.h"
#include "sys/clock.h"

#include <unistd.h>

enum { PAUSE_MS = 50, LOOK_EVERY_MS = 500 };

static void show(bool terminal, const struct tn_text *progress)
{
    if (terminal)
        fprintf(stderr, "\r\033[K%s", progress->bytes);
}

/* Until it is worth another look; false when the time is over. */
static bool pause_until_change(struct tn_cli *cli, int64_t give_up_ms)
{
    const int64_t look_ms = tn_clock_boot_ms() + LOOK_EVERY_MS;
    for (;;) {
        const int64_t now_ms = tn_clock_boot_ms();
        if (now_ms >= give_up_ms)
            return false;
        if (now_ms >= look_ms)
            return true;
        tn_clock_sleep_ms(PAUSE_MS < give_up_ms - now_ms ? PAUSE_MS : give_up_ms - now_ms);
        if (cli->store->type->changed(cli->store))
            return true;
    }
}

enum tenure_status tn_wait(struct tn_cli *cli, int64_t timeout_ms, tn_wait_look *look, void *context)
{
    const int64_t give_up_ms = tn_clock_boot_ms() + timeout_ms;
    const bool terminal = isatty(STDERR_FILENO);
    struct tn_arena arena;
    struct tn_text progress;
    tn_arena_init(&arena);
    tn_text_init(&progress);
    enum tenure_status status;
    bool done = false;
    do {
        tn_arena_reset(&arena);
        tn_text_clear(&progress);
        status = look(cli, &arena, context, &done, &progress);
        if (tenure_status_class(status) == TENURE_CLASS_RETRY)
            tn_text_puts(&progress, cli->error.text);
        else if (status != TENURE_OK)
            break;
        show(terminal, &progress);
    } while (!done && pause_until_change(cli, give_up_ms));
    if (terminal)
        fputs("\r\033[K", stderr);
    if (!done && (status == TENURE_OK || tenure_status_class(status) == TENURE_CLASS_RETRY)) {
        char after[TN_VALUE_DURATION_BYTES];
        status = tn_cli_fail(cli, TENURE_TIMEOUT, "not there after %s: %.300s",
                             tn_value_print_duration(timeout_ms, after), progress.bytes);
    }
    tn_text_done(&progress);
    tn_arena_done(&arena);
    return status;
}
