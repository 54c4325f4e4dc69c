/* A lab with a fleet that is already at work; for stories. */
#ifndef TN_TESTS_KIT_FLEET_H
#define TN_TESTS_KIT_FLEET_H

#include "kit/lab.h"

/* Nodes named by the letters of `ids`, started together and balanced. renew is lease/3 for 15 s, else
 * lease/4; settle is 500 ms. */
struct tn_lab *tn_fleet_open(uint64_t seed, int64_t lease_ms, uint32_t shards, const char *ids);
/* The settings of such a fleet, to be changed; and a fleet with such. */
void tn_fleet_settings(struct tn_settings *settings, int64_t lease_ms, uint32_t shards);
struct tn_lab *tn_fleet_open_with(uint64_t seed, const struct tn_settings *settings, const char *ids);
/* Fails the test when a law was broken. */
void tn_fleet_close(struct tn_lab *lab);

#endif
