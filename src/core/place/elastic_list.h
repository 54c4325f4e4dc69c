/* The node list that ElasticJob hands to its strategies.
 *
 * There the order of the list decides who gets what, and the list comes from ZooKeeper's children, sorted
 * descending by Java's String.compareTo: 10.0.0.9 before 10.0.0.10, and host9 before host10 before host1@.
 * Ours is that order, whatever the order of world->nodes. Source: ZookeeperRegistryCenter.getChildrenKeys of
 * apache/shardingsphere-elasticjob. Pure; thread-safe. */
#ifndef TN_CORE_PLACE_ELASTIC_LIST_H
#define TN_CORE_PLACE_ELASTIC_LIST_H

#include "core/plan/plan.h"

/* Java's String.compareTo of two UTF-8 texts: by UTF-16 units. Below 0, 0, above 0. Ill-formed bytes have
 * some order too, the same everywhere. */
int tn_elastic_list_compare(const char *a, const char *b);

/* The positions of the nodes that take shards, in list order; in arena. Cost: O(nodes log nodes). */
uint32_t *tn_elastic_list_build(const struct tn_plan_world *world, struct tn_arena *arena, size_t *ret_n);

#endif
