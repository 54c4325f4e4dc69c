#!/usr/bin/env python3
"""Nodes that run workers in two languages, with the default lease of 15 s: kill, stop, leave, and a worker that dies alone.

usage: test_agents.py BUILD_DIR    (TENURE_SOAK=1: twenty kills, bounds at their value)
"""
import os
import signal
import sys

from agents import Agent
from fleet import FACTOR, SOAK, Fleet, Report, boot_ms
from store_watch import StoreWatch

BUILD = sys.argv[1]
C_WORKER = [os.path.join(BUILD, "examples/line_worker")]


def start(fleet, i):
    """Every other node runs the worker in C."""
    return Agent(fleet, f"n{i}", command=C_WORKER if i % 2 else None)


def open_fleet():
    fleet = Fleet(BUILD, "--settle", "500ms", "--cool-down", "0s")
    watch = StoreWatch(fleet.store)
    agents = [start(fleet, i) for i in range(4)]
    settle(fleet, watch, agents)
    return fleet, watch, agents


def settle(fleet, watch, agents):
    fleet.until(lambda: watch.balanced([a.name for a in agents]), 90, f"{len(agents)} nodes balanced: {watch.counts()}")


def takeover(fleet, watch, victim, number, limit_s):
    shards = watch.owned_by(victim.name)
    at = victim.signal(number)
    fleet.until(lambda: watch.served_elsewhere(shards, victim.name), limit_s, f"takeover of {len(shards)} shards")
    return len(shards), boot_ms() - at


def an_agent_that_is_killed_is_replaced(report):
    """F1: if a crash cost a lease, every crash would stop a quarter of the work for 15 s."""
    fleet, watch, agents = open_fleet()
    times = []
    for kill in range(20 if SOAK else 4):
        victim = agents.pop(0)
        times.append(takeover(fleet, watch, victim, signal.SIGKILL, 40)[1])
        victim.process.wait()
        agents.append(start(fleet, kill + 4))
        settle(fleet, watch, agents)
    print(f"# takeover after SIGKILL of an agent, ms: {[round(t) for t in times]}")
    report.check(max(times) <= 2000 * FACTOR, f"the slowest of {len(times)} kills, workers in C and Python: all shards ready elsewhere after {max(times):.0f} ms")
    watch.close()
    fleet.close()


def an_agent_that_is_stopped_is_replaced_after_its_lease(report):
    """F1, F2: paused beyond its lease; its workers go on running and must find their gate closed."""
    fleet, watch, agents = open_fleet()
    victim = agents[0]
    n, took = takeover(fleet, watch, victim, signal.SIGSTOP, 60)
    report.check(took <= 15000 + 500 * FACTOR, f"SIGSTOP of an agent: all {n} shards ready elsewhere after {took:.0f} ms (lease + 500)")
    victim.signal(signal.SIGCONT)
    settle(fleet, watch, agents)
    report.check(True, "it comes back and gets its share")
    watch.close()
    fleet.close()


def an_agent_that_leaves_makes_no_gap(report):
    """H3: if SIGTERM made a gap, every deploy would be felt."""
    fleet, watch, agents = open_fleet()
    for victim in (agents[0], agents[1]):
        shards = watch.owned_by(victim.name)
        watch.clear()
        code = victim.stop()
        fleet.until(lambda: watch.served_elsewhere(shards, victim.name), 10, "all handed over")
        longest = max(watch.longest.get(s, 0) for s in shards)
        report.check(code == 0, f"{victim.name} leaves with exit status {code}")
        report.check(longest <= 100 * FACTOR, f"SIGTERM: of {len(shards)} shards the longest was with nobody at work or allowed to work for {longest:.0f} ms")
    watch.close()
    fleet.close()


def a_worker_that_dies_alone_is_back_within_a_second(report):
    """If a crash of the worker moved its shards, a bug in user code would be a rebalance storm."""
    fleet, watch, agents = open_fleet()
    victim = agents[0]
    shards, before = watch.owned_by(victim.name), watch.tokens()
    at = boot_ms()
    os.kill(victim.worker(), signal.SIGKILL)
    fleet.until(lambda: all(victim.holds().get(s, 0) > before[s] for s in shards), 20, "its shards work again")
    took = boot_ms() - at
    after = watch.tokens()
    report.check(took <= 1000 * FACTOR, f"a killed worker's {len(shards)} shards work again after {took:.0f} ms")
    report.check(watch.owned_by(victim.name) == shards, "on the same node")
    report.check(all(after[s] == before[s] + 1 for s in shards), "under tokens raised by one")
    watch.close()
    fleet.close()


def a_moved_shard_stops_alone(report):
    """B16 (kubernetes/kubernetes#44887, awslabs/amazon-kinesis-client#639): after losing a shard its background saves went on."""
    fleet = Fleet(BUILD, "--settle", "500ms", "--cool-down", "0s", shards=64)
    a, b = (Agent(fleet, name, tricks=("save_ms=50",)) for name in "ab")
    fleet.until(lambda: len(a.holds()) == len(b.holds()) == 32, 30, "two nodes have their shares")
    before, shard = a.holds(), min(a.holds())
    fleet.cli("move", str(shard), "b", "--group", "orders")
    fleet.until(lambda: shard in b.holds(), 20, "the shard is at work on b")
    gone = [n for n in a.said("drain") if n["shard"] == shard][0]["t"]
    fleet.until(lambda: len([n for n in a.said("saves") if n["t"] > gone]) > 300, 20, "a goes on saving the others")
    report.check(not [n for n in a.said("saves", shard=shard) if n["t"] > gone], "the moved shard: no save was begun after the drain")
    report.check({s: t for s, t in a.holds().items()} == {s: t for s, t in before.items() if s != shard}, "the other 31 keep their tokens")
    report.check(not a.said("lost") and not a.said("save_failed"), "and nothing of theirs was lost or refused")
    fleet.close()


def eight_agents_that_save_share_one_file(report):
    """B36, the workers' side: renewals and saves of 512 shards on one SQLite file, with readers."""
    fleet = Fleet(BUILD, "--lease", "2s", "--renew", "500ms", "--settle", "300ms", "--cool-down", "0s", shards=512)
    watch = StoreWatch(fleet.store, every_s=0.05)
    agents = [Agent(fleet, f"n{i}", tricks=("save_ms=2000",)) for i in range(8)]
    settle(fleet, watch, agents)
    began, tokens = boot_ms(), watch.tokens()
    fleet.until(lambda: boot_ms() - began > (60000 if SOAK else 8000), 120, "time passes")
    saved = sum(len([n for n in a.said("saved") if n["t"] > began]) for a in agents)
    report.check(saved > 512, f"eight agents on one file: {saved} checkpoints saved in {(boot_ms() - began) / 1000:.0f} s")
    report.check(not any(a.said("save_failed") for a in agents), "none was refused or failed")
    report.check(watch.tokens() == tokens and not any(a.said("lost") for a in agents), "and no shard was lost")
    late = sum(len(a.logged("renewal failed")) for a in agents)
    renewals = 8 * (boot_ms() - began) / 500
    report.check(late <= renewals * 0.03, f"{late} of about {renewals:.0f} renewals had to be tried again after a tenth of the lease")
    watch.close()
    fleet.close()


Report().run(an_agent_that_is_killed_is_replaced, an_agent_that_is_stopped_is_replaced_after_its_lease,
             an_agent_that_leaves_makes_no_gap, a_worker_that_dies_alone_is_back_within_a_second,
             a_moved_shard_stops_alone, eight_agents_that_save_share_one_file)
