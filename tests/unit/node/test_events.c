/* The event queue between the keeper and the application. */
#include "node/events.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static bool readable(const struct tn_events *events)
{
    struct pollfd fd = {.fd = events->fd, .events = POLLIN};
    return poll(&fd, 1, 0) == 1;
}

/* A program that waits with poll() must be woken by every event, and only by events. */
static void the_descriptor_is_readable_while_an_event_waits(void **state)
{
    (void)state;
    struct tn_events events;
    struct tenure_event event;
    assert_true(tn_events_init(&events));
    assert_false(readable(&events));
    assert_int_equal(tn_events_get(&events, 0, &event), TENURE_TIMEOUT);
    for (uint32_t i = 0; i < 3; i++)
        tn_events_put(&events, &(struct tenure_event){.kind = TENURE_EVENT_ASSIGNED, .shard = i});
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(readable(&events));
        assert_int_equal(tn_events_get(&events, 0, &event), TENURE_OK);
        assert_int_equal(event.shard, i);
    }
    assert_false(readable(&events));
    tn_events_done(&events);
}

/* The keeper's memory is gone by the time the application looks. */
static void an_event_owns_its_checkpoint_and_words(void **state)
{
    (void)state;
    struct tn_events events;
    struct tenure_event event;
    assert_true(tn_events_init(&events));
    char data[] = "a\0b", words[] = "because";
    tn_events_put(&events, &(struct tenure_event){.kind = TENURE_EVENT_ASSIGNED,
                                                  .checkpoint = data,
                                                  .checkpoint_size = 3,
                                                  .reason = words});
    memset(data, 'x', sizeof data);
    memset(words, 'x', sizeof words - 1);
    assert_int_equal(tn_events_get(&events, 0, &event), TENURE_OK);
    assert_memory_equal(event.checkpoint, "a\0b", 3);
    assert_string_equal(event.reason, "because");
    tn_events_done(&events);
}

/* A loop that waits for more after the end would hang. */
static void after_stopped_the_queue_is_closed(void **state)
{
    (void)state;
    struct tn_events events;
    struct tenure_event event;
    assert_true(tn_events_init(&events));
    tn_events_put(&events, &(struct tenure_event){.kind = TENURE_EVENT_STOPPED});
    assert_int_equal(tn_events_get(&events, -1, &event), TENURE_OK);
    assert_int_equal(event.kind, TENURE_EVENT_STOPPED);
    assert_int_equal(tn_events_get(&events, -1, &event), TENURE_CLOSED);
    tn_events_done(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_descriptor_is_readable_while_an_event_waits),
        cmocka_unit_test(an_event_owns_its_checkpoint_and_words),
        cmocka_unit_test(after_stopped_the_queue_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
