/* ElasticJob's AVG_ALLOCATION: q = shards / n; the i-th of the list gets shards i*q .. i*q + q-1, and what is
 * left over goes one each to the first of the list. Looks at no previous plan and no weight other than 0.
 *
 * Exactly that system's answer for a list (tests/vectors/README, elasticjob_strategies.jsonl); as a strategy
 * the list is that system's production order of the nodes that take shards (elastic_list.h). What is added:
 * pins are carried out on top, and a list with an id twice is refused, where the original loses shards.
 * Source: apache/shardingsphere-elasticjob, AverageAllocationJobShardingStrategy. Pure; thread-safe. */
#ifndef TN_CORE_PLACE_AVERAGE_H
#define TN_CORE_PLACE_AVERAGE_H

#include "core/plan/plan.h"

/* The position in a list of n that gets `shard` of `shards`; n > 0, shard < shards. */
size_t tn_average_position(size_t n, uint32_t shards, uint32_t shard);

/* Strategy "average". Cost: O(shards + nodes log nodes). */
tn_plan_function tn_average_plan;

#endif
