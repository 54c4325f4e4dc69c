#include "kit/fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

void tn_fleet_settings(struct tn_settings *settings, int64_t lease_ms, uint32_t shards)
{
    tn_settings_init(settings);
    settings->lease_ms = lease_ms;
    settings->renew_ms = lease_ms == 15000 ? 5000 : lease_ms / 4;
    settings->shards = shards;
    settings->settle_ms = 500;
    settings->quarantine_after = 0; /* most stories kill more than a real fleet sees */
}

struct tn_lab *tn_fleet_open_with(uint64_t seed, const struct tn_settings *settings, const char *ids)
{
    struct tn_lab *lab = malloc(sizeof *lab);
    assert_non_null(lab);
    tn_lab_open(lab, seed, settings);
    lab->quiet_shards = true;
    for (const char *c = ids; *c; c++)
        tn_lab_start(lab, (char[]){*c, 0});
    if (*ids)
        assert_int_not_equal(tn_lab_until(lab, tn_lab_balanced, NULL, 10000), -1);
    return lab;
}

struct tn_lab *tn_fleet_open(uint64_t seed, int64_t lease_ms, uint32_t shards, const char *ids)
{
    struct tn_settings settings;
    tn_fleet_settings(&settings, lease_ms, shards);
    return tn_fleet_open_with(seed, &settings, ids);
}

void tn_fleet_close(struct tn_lab *lab)
{
    assert_string_equal(lab->broken, "");
    tn_lab_close(lab);
    free(lab);
}
