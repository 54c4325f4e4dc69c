#!/usr/bin/env python3
"""Nodes that come and go on purpose, with real processes and the default lease.

usage: test_movement.py BUILD_DIR
"""
import os
import signal
import sys

from fleet import FACTOR, Fleet, Node, Report, boot_ms

BUILD = sys.argv[1]


def gaps(nodes, shards, since):
    """For each shard: ms between the release on the old node and ready on the new one."""
    longest = 0
    for shard in shards:
        stops = [e["t"] for n in nodes for e in n.said("drain") if e["shard"] == shard and e["t"] > since]
        starts = [e["t"] for n in nodes for e in n.said("ready") if e["shard"] == shard and e["t"] > since]
        if stops and starts:
            longest = max(longest, max(starts) - max(stops))
    return longest


def a_newcomer_gets_exactly_its_share(report):
    """B21: if one joining node reshuffled everybody, every scale-out would stop the fleet."""
    fleet = Fleet(BUILD)
    nodes = [fleet.start(f"n{i}") for i in range(4)]
    fleet.wait_balanced(nodes)
    most = 0
    newcomer = fleet.start("n4")

    def settled():
        nonlocal most
        most = max(most, fleet.json("status")["moves_in_flight"])
        return fleet.balanced(nodes + [newcomer])

    fleet.until(settled, 60, "five nodes balanced")
    moved = [e for e in fleet.json("history", "--limit", "5000") if e["cause"] == "handed over"]
    report.check(len(moved) == 51, f"4 -> 5 nodes moves {len(moved)} of 256 shards")
    report.check(all(e["node"] == "n4" for e in moved), "all of them to the newcomer")
    report.check(1 <= most <= 5, f"at most {most} were in flight (bound 5)")
    report.check(all(not n.said("lost") for n in nodes), "no node lost a shard on the way")
    fleet.close()


def a_clean_stop_leaves_no_gap(report):
    """If SIGTERM left shards to the lease, every deploy would cost 15 s a node."""
    fleet = Fleet(BUILD)
    nodes = [fleet.start(f"n{i}") for i in range(4)]
    fleet.wait_balanced(nodes)
    victim, others = nodes[2], [nodes[0], nodes[1], nodes[3]]
    shards = set(victim.holds())
    at = victim.signal(signal.SIGTERM)
    unowned = 0
    while victim.process.poll() is None:
        unowned = max(unowned, fleet.json("status")["unowned"])
    code = victim.wait()
    fleet.wait_balanced(others)
    longest = gaps(nodes, shards, at)
    report.check(code == 0, f"the node that left ends with exit status {code}")
    report.check(unowned == 0, f"the store never showed a shard without an owner ({unowned})")
    report.check(longest <= 100 * FACTOR, f"SIGTERM: the longest time in which nobody served a shard: {longest:.1f} ms")
    fleet.close()


def an_operator_moves_and_drains(report):
    """If `move` and `drain` did not do what they say, maintenance would be guesswork."""
    fleet = Fleet(BUILD, shards=16)
    nodes = [fleet.start(f"n{i}") for i in range(2)]
    fleet.wait_balanced(nodes)
    shard = sorted(nodes[0].holds())[0]
    fleet.cli("move", str(shard), "n1", "--group", "orders")
    fleet.until(lambda: shard in nodes[1].holds(), 20, "the shard arrives")
    report.check(fleet.json("route", "x")["owner"] in ("n0", "n1"), "route names an owner")
    fleet.cli("drain", "n0")
    fleet.until(lambda: not nodes[0].holds() and len(nodes[1].holds()) == 16, 30, "n0 is drained")
    report.check(True, "drain empties the node while it lives")
    fleet.cli("undrain", "n0")
    fleet.until(lambda: fleet.balanced(nodes), 120, "n0 has its share again")
    report.check(True, "undrain gives it its share again")
    fleet.close()


def asleep_on_a_pipe(pid):
    with open(f"/proc/{pid}/wchan") as wchan:
        return "pipe" in wchan.read()


def fifty_processes_start_at_once(report):
    """Azure/azure-sdk-for-python#38812: two nodes that both create the first ownership."""
    fleet = Fleet(BUILD)
    held, gate = os.pipe()
    nodes = [Node(fleet, f"n{i:02d}", args=("--wait",), stdin=held) for i in range(50)]
    os.close(held)
    fleet.until(lambda: all(asleep_on_a_pipe(n.process.pid) for n in nodes), 30, "50 processes stand ready")
    last = boot_ms()
    os.close(gate)
    fleet.until(lambda: sum(len(n.holds()) for n in nodes) == 256, 60, "all shards are ready")
    first = {}
    for node in nodes:
        for event in node.said("assigned"):
            first.setdefault((event["shard"], event["token"]), []).append(node.name)
    done = max(e["t"] for n in nodes for e in n.said("ready")) - last
    report.check(all(len(owners) == 1 for owners in first.values()), "no (shard, token) was ever given to two of 50 nodes")
    report.check(len({s for s, _ in first}) == 256, "every shard has an owner")
    rows = fleet.json("shards")
    report.check(sorted(r["shard"] for r in rows) == list(range(256)) and all(r["token"] >= 1 for r in rows), "each shard stands once in the store")
    report.check(done <= 1000 * FACTOR, f"50 processes let go at one instant: all 256 shards ready {done:.0f} ms later")
    fleet.close()


Report().run(a_newcomer_gets_exactly_its_share, a_clean_stop_leaves_no_gap, an_operator_moves_and_drains, fifty_processes_start_at_once)
