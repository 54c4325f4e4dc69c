#!/usr/bin/env python3
"""`tenure run`: workers in any language, and what they do wrong. Small lab: lease 2 s, renewal 0.5 s.

usage: test_run.py BUILD_DIR    (TENURE_SOAK=1: longer)
"""
import json
import os
import pathlib
import signal
import socket
import sys
import time

from agents import Agent, alive, children
from fleet import FACTOR, SLOW, SOAK, Fleet, Report, boot_ms

BUILD = sys.argv[1]
LAB = ("--lease", "2s", "--renew", "500ms", "--settle", "200ms", "--cool-down", "0s")


def fleet_of(shards, *settings):
    return Fleet(BUILD, *LAB, *settings, shards=shards)


def wait_held(fleet, agent, n, limit_s=20):
    return fleet.until(lambda: len(agent.holds()) == n, limit_s * SLOW, f"{agent.name} holds {n}, not {len(agent.holds())}")


def owned(fleet):
    return {row["shard"]: (row["owner"], row["token"], row["state"]) for row in fleet.json("shards")}


def every_line_of_the_protocol(report):
    """A worker in any language is written against these lines and nothing else."""
    fleet = fleet_of(1)
    saves = [{"data": "first \u0000 \u4e2d\u6587"}, {"data": "800", "seq": 800}, {"data": "700", "seq": 700}, {"data": "700", "seq": 700, "rewind": True},
             {"fill": ["x", 65537]}, {"fill": ["y", 65536]}]
    a = Agent(fleet, "a", "--address", "a:1", "--label", "zone=z1", "--label", "rack=r1", "--weight", "1.5", tricks=["save=" + json.dumps(saves)])
    fleet.until(lambda: len(a.said("saved")) + len(a.said("save_failed")) == 6, 20 * SLOW, "six answers")
    hello = a.said("hello")[0]
    line, env = hello["hello"], hello["environment"]
    report.check(line["protocol"] == 1 and line["group"] == "orders" and line["node"] == "a" and line["shards"] == 1 and line["hash"] == "xxh3" and line["seed"] == 0
                 and line["session"] >= 1 and line["store"] == fleet.url and line["gate"].startswith("/proc/"), "hello says group, node, session, shards, hash, seed, store and gate")
    report.check(env["TENURE_GROUP"] == "orders" and env["TENURE_NODE"] == "a" and env["TENURE_SHARDS"] == "1" and env["TENURE_STORE"] == fleet.url
                 and env["TENURE_GATE"] == line["gate"], "so do the TENURE_ variables")
    first = a.said("assigned")[0]
    report.check(first["checkpoint"] is None and first["seq"] == 0 and first["token"] == 1, "assigned carries shard, token, checkpoint null and seq 0")
    answers = [(n["what"], n["seq"], n.get("reason")) for n in a.said() if n["what"] in ("saved", "save_failed")]
    report.check(answers == [("saved", 1, None), ("saved", 800, None), ("save_failed", 700, "regressed"), ("saved", 700, None), ("save_failed", 0, "too_big"), ("saved", 701, None)],
                 f"checkpoints are answered in order; one that goes back is refused unless it says rewind: {answers}")
    node = fleet.json("status")["nodes"][0]
    report.check(node["address"] == "a:1" and node["weight"] == 1.5 and node["labels"] == {"zone": "z1", "rack": "r1"}, "address, weight and labels are the node's")
    b = Agent(fleet, "b", "--weight", "100", tricks=["save=[]"])  # so heavy that the shard is its
    wait_held(fleet, b, 1)
    report.check(b.said("prepare") and a.said("drain")[0]["deadline_in_ms"] > 1000 and a.said("released"), "a move: prepare there, drain here, released")
    came = b.said("assigned")[0]
    report.check(came["token"] == 2 and came["checkpoint"] == "y" * 65536 and came["seq"] == 701, "the new owner gets token + 1 and the 64 KiB checkpoint")
    report.check(a.stop() == 0 and a.said("shutdown") and a.said("shutdown")[0]["deadline_in_ms"] > 0, "SIGTERM: shutdown with a deadline, exit status 0")
    report.check(b.stop(signal.SIGINT) == 0, "SIGINT: exit status 0")
    fleet.close()


def workers_that_misbehave_touch_no_other_shard(report):
    """One bad worker must cost its own shards at most, on its own node."""
    fleet = fleet_of(8)
    good = Agent(fleet, "good")
    wait_held(fleet, good, 8)
    tricks = ["mute", "flood", "old_tokens", "strangers", "close_output"]
    for trick in tricks:
        bad = Agent(fleet, "bad-" + trick, tricks=[trick])
        if trick == "mute":
            fleet.until(lambda: len(bad.said("assigned")) == 4, 20 * SLOW, "half is assigned to the one that never answers")
            report.check(not bad.said("gate", open=True), "never answers: its shards stay closed there")
        elif trick == "close_output":
            fleet.until(lambda: len(bad.said("closes")) >= 3, 20 * SLOW, "it was started again twice")
            report.check(bool(bad.logged("it closed its output")), "closes its output: killed and started again")
        else:
            fleet.until(lambda: len(bad.holds()) == 4 and len(good.holds()) == 4, 20 * SLOW, f"{trick} gets its half all the same")
        before = owned(fleet)
        time.sleep(0.5)
        kept = {s: row for s, row in before.items() if row[0] == "good" and row[2] == "owned"}
        report.check(len(kept) >= 4 and all(owned(fleet)[s][:2] == row[:2] for s, row in kept.items()), f"{trick}: the other node's {len(kept)} shards keep their tokens")
        if trick == "flood":
            report.check(len(bad.logged("more than 1 MiB")) == 1 and bad.said("flooded"), "10 MiB without a newline: one line in the log, and it works on")
        status = bad.stop(limit_s=40)
        if trick == "old_tokens":
            refused = bad.said("save_failed", reason="stale")
            report.check(len(refused) >= 4 and bool(bad.logged("old tokens 24")), f"old tokens: ignored and counted; its {len(refused)} old checkpoints answered with stale")
        if trick == "strangers":
            report.check(bool(bad.logged("unparsable 28")) and bool(bad.logged("not its own 16")), "shards that it does not have, and nonsense: counted")
            report.check(bool(bad.logged("not in this version")), "job answers: logged as not in this version")
        report.check(status == 0, f"{trick}: leaves with status 0")
        wait_held(fleet, good, 8, 40)
    closed = good.said("gate", open=False)
    drained = {(n["shard"], n["token"]) for n in good.said("drain")}
    report.check(all((n["shard"], n["token"]) in drained for n in closed), f"the good worker's gates closed for moves only ({len(closed)} times)")
    fleet.close()


def one_deaf_process_among_many(report):
    """--per-shard: a process that does not read is killed under the stated rule; the node's other shards do not notice."""
    fleet = fleet_of(4)
    fleet.cli("checkpoint", "set", "0", "--force", "z" * 60000, "--group", "orders")
    a = Agent(fleet, "a", "--per-shard", "--stuck-after", "400ms", tricks=["only=0", "deaf"])
    fleet.until(lambda: len(a.said("one shard")) == 3, 20 * SLOW, "three shards work")
    report.check(all("TENURE_TOKEN" in n["environment"] and n["environment"]["TENURE_SHARD"] in "123" for n in a.said("hello")), "each has TENURE_SHARD, TENURE_TOKEN and TENURE_CHECKPOINT_FD")
    tokens = {n["shard"]: n["token"] for n in a.said("one shard")}
    victim = a.said("one shard", shard=2)[0]["pid"]
    os.kill(victim, signal.SIGKILL)
    at = boot_ms()
    fleet.until(lambda: a.said("one shard", shard=2, token=tokens[2] + 1), 10 * SLOW, "shard 2 is back")
    report.check(a.said("one shard", shard=2)[1]["t"] - at < 1000 * FACTOR, f"a killed process is back after {a.said('one shard', shard=2)[1]['t'] - at:.0f} ms under a raised token")
    report.check(all(owned(fleet)[s][1] == tokens[s] for s in (1, 3)), "the others keep their processes and tokens")
    at = boot_ms()
    status = a.stop()
    report.check(status == 0 and len(a.said("terminated")) == 3 and len(a.said("released")) == 3, f"a stop: SIGTERM to each, drained; status {status}")
    fleet.close()


def a_worker_that_does_not_read_is_killed(report):
    """The queue to it is bounded in time and size; the keeper and the store never wait for it."""
    fleet = fleet_of(4)
    for shard in range(4):
        fleet.cli("checkpoint", "set", str(shard), "--force", "z" * 60000, "--group", "orders")
    a = Agent(fleet, "a", "--stuck-after", "400ms", tricks=["deaf"])
    fleet.until(lambda: len(a.said("deaf")) == 2, 20 * SLOW, "it was started again")
    report.check(bool(a.logged("has not read its input for too long")), "a worker that takes no bytes for --stuck-after is killed and started again")
    lease = [fleet.json("status")["nodes"][0]["lease_until_ms"]]
    fleet.until(lambda: fleet.json("status")["nodes"][0]["lease_until_ms"] > lease[0] + 400, 5 * SLOW, "renewals go on")
    report.check(True, "its node's renewals go on")
    a.end()
    fleet.close()


def a_killed_worker_is_back_within_a_second(report):
    """A crash of the application is not a crash of the node: its shards stay, under raised tokens."""
    fleet = fleet_of(64)
    a, b = Agent(fleet, "a"), Agent(fleet, "b")
    fleet.until(lambda: len(a.holds()) == 32 and len(b.holds()) == 32, 30 * SLOW, "balanced")
    before, slowest = a.holds(), 0
    for _ in range(10 if SOAK else 3):
        tokens = a.holds()
        os.kill(a.worker(), signal.SIGKILL)
        at = boot_ms()
        fleet.until(lambda: all(a.holds().get(s, 0) > t for s, t in tokens.items()), 10 * SLOW, "all are ready again")
        slowest = max(slowest, max(n["t"] for n in a.said("ready")) - at)
        time.sleep(0.2)
    report.check(slowest < 1000 * FACTOR, f"SIGKILL of a worker: its 32 shards work again after {slowest:.0f} ms at most")
    report.check(set(a.holds()) == set(before) and all(a.holds()[s] > t for s, t in before.items()), "on the same node, under raised tokens")
    report.check(len(b.said("assigned")) == 32, "the other node did not notice")
    report.check(a.stop() == 0 and b.stop() == 0, "both leave")
    fleet.close()


def kill_agent(report, fleet, words, *tricks):
    """SIGKILL of an agent; how long after it the first and the last of its shards were ready elsewhere."""
    a = Agent(fleet, "a", tricks=tricks)
    wait_held(fleet, a, 8)
    b = Agent(fleet, "b")
    if tricks:
        fleet.until(lambda: a.said("gates", open=8), 10 * SLOW, "the grandchild looks through the gate page")
    fleet.until(lambda: len(b.holds()) == 4, 30 * SLOW, "balanced")
    time.sleep(1.2)  # a look at the family, and a renewal
    shards, worker = set(a.holds()), a.worker()
    at = a.signal(signal.SIGKILL)
    fleet.until(lambda: shards <= set(b.holds()), 20 * SLOW, "takeover")
    came = [n["t"] - at for n in b.said("ready") if n["shard"] in shards]
    report.check(not alive(worker), f"{words}: the worker died with its agent")
    survivor = a.said("stubborn")[0]["child"] if tricks else 0
    if tricks:
        report.check(alive(survivor), f"{words}: the grandchild lives on")
        closed = a.said("gates", open=0)[0]["t"]
        report.check(closed - at < 150 + 50 * FACTOR and closed < at + min(came),
                     f"{words}: its gate page says no after {closed - at:.0f} ms, before anybody else is ready ({min(came):.0f} ms)")
        report.check(len([n for n in a.said("gates") if n["t"] > closed and n["open"]]) == 0, f"{words}: and never yes again")
        os.kill(survivor, signal.SIGKILL)
    print(f"# {words}: ready elsewhere {min(came):.0f} to {max(came):.0f} ms after the kill")
    log = a.logged("does not hold the session's presence")
    b.end()
    fleet.close()
    return min(came), max(came), log


def a_dead_agents_survivors_keep_its_session(report):
    """Where a killed process is replaced before its lease ends, a worker that outlived it would be a second owner."""
    settings = ("--crash-grace", "300ms")
    first, last, _ = kill_agent(report, fleet_of(8, *settings), "nobody survives")
    report.check(last < 300 + 700 * FACTOR, "nobody survives: takeover after crash_grace, not after the lease")
    first, last, log = kill_agent(report, fleet_of(8, *settings), "a stubborn grandchild", "stubborn=")
    report.check(first > 1300 and last < 2000 + 700 * FACTOR, f"a stubborn grandchild: the session lasts until its lease ends ({first:.0f} ms)")
    report.check(not log, "a stubborn grandchild: it inherited the presence")
    first, last, log = kill_agent(report, fleet_of(8, *settings), "one that closed its descriptors", "stubborn=close")
    report.check(len(log) >= 1, "one that closed its descriptors: noticed")
    report.check(first > 1300 and last < 2000 + 1000 * FACTOR, f"one that closed its descriptors: the session lasts until its lease ends ({first:.0f} ms)")


def a_stop_waits_for_the_batch(report):
    """Case B24. awslabs/amazon-kinesis-client#39: shutdown gives up the lease before the last checkpoint."""
    for number in (signal.SIGTERM, signal.SIGINT):
        fleet = fleet_of(1)
        a = Agent(fleet, "a", tricks=["work_s=3"])
        fleet.until(lambda: a.said("begin"), 20 * SLOW, "the batch began")
        b = Agent(fleet, "b", tricks=["work_s=3"])
        fleet.until(lambda: len(fleet.json("status")["nodes"]) == 2, 10 * SLOW, "the other joined")
        a.signal(number)
        status = a.process.wait(30)
        fleet.until(lambda: b.said("ready"), 10 * SLOW, "the other has it")
        batches, gap = a.said("batch") + b.said("batch"), b.said("ready")[0]["t"] - a.said("released")[0]["t"]
        time.sleep(0.2)
        name = signal.Signals(number).name
        report.check(status == 0 and len(batches) == 1 and not b.said("begin"), f"{name} in a 3 s batch, lease 2 s: it ends, once; status {status}")
        report.check(b.said("assigned")[0]["checkpoint"] == "done", f"{name}: its last checkpoint was accepted before the shard went")
        report.check(gap < 500 * FACTOR, f"{name}: the other is ready {gap:.0f} ms after the release")
        b.end()
        fleet.close()


def a_drain_limit_forces_shards_away(report):
    """Case B24, second half: what is not finished in time is not acknowledged, and is done again once."""
    fleet = fleet_of(1)
    a = Agent(fleet, "a", "--drain-limit", "1s", tricks=["work_s=3"])
    fleet.until(lambda: a.said("begin"), 20 * SLOW, "the batch began")
    b = Agent(fleet, "b", tricks=["work_s=0.5"])
    fleet.until(lambda: len(fleet.json("status")["nodes"]) == 2, 10 * SLOW, "the other joined")
    a.signal(signal.SIGTERM)
    status = a.process.wait(30)
    fleet.until(lambda: b.said("batch"), 20 * SLOW, "done elsewhere")
    report.check(status == 5, f"a drain limit of 1 s in a 3 s batch: exit status {status}")
    report.check(not a.said("batch") and len(b.said("batch")) == 1 and b.said("assigned")[0]["checkpoint"] is None, "it is not acknowledged, and done once elsewhere")
    b.end()
    fleet.close()


def a_paused_node_wakes_up_harmless(report):
    """Case B13, on the worker's side: its first look at the gate page after a pause says no, its late save is refused."""
    fleet = fleet_of(8)
    a = Agent(fleet, "a")
    wait_held(fleet, a, 8)
    b = Agent(fleet, "b")
    fleet.until(lambda: len(b.holds()) == 4, 30 * SLOW, "balanced")
    tokens, worker = a.holds(), a.worker()
    os.killpg(worker, signal.SIGSTOP)
    a.signal(signal.SIGSTOP)
    fleet.until(lambda: len(b.holds()) == 8, 20 * SLOW, "takeover")
    report.check(all(b.holds()[s] == t + 1 for s, t in tokens.items()), "SIGSTOP of agent and worker: the other node has token + 1")
    os.killpg(worker, signal.SIGCONT)  # the worker first: nobody has told it anything yet
    fleet.until(lambda: a.said("woke"), 10 * SLOW, "the worker runs")
    woke = a.said("woke")[0]
    report.check(woke["shards"] == 4 and woke["open"] == 0, f"its first look says no for all {woke['shards']} shards")
    a.signal(signal.SIGCONT)
    fleet.until(lambda: len(a.said("save_failed")) == 4, 10 * SLOW, "four refusals")
    report.check({n["reason"] for n in a.said("save_failed")} == {"stale"}, "its late checkpoints are refused as stale")
    report.check(all(fleet.cli("checkpoint", "get", str(s), "--group", "orders", code=None).stdout.strip() != "late" for s in tokens), "none of them is stored")
    fleet.until(lambda: len(a.holds()) == 4 and len(b.holds()) == 4, 40 * SLOW, "it has its share again")
    report.check(True, "it has its share again")
    report.check(a.stop() == 0 and b.stop() == 0, "both leave")
    fleet.close()


def a_worker_that_exits_at_once_ten_times(report):
    """A worker that cannot start must neither hold shards for ever nor take the machine's time."""
    fleet = fleet_of(8)
    good = Agent(fleet, "good")
    wait_held(fleet, good, 8)
    bad = Agent(fleet, "bad", tricks=["exit=1"])
    fleet.until(lambda: len(bad.said("exit")) >= 5, 20 * SLOW, "five exits")
    fleet.until(lambda: bad.logged("is marked as drained"), 10 * SLOW, "marked")
    fleet.until(lambda: len(good.holds()) == 8 and all(row[0] == "good" for row in owned(fleet).values()), 40 * SLOW, "all shards are at the good one")
    report.check(True, "five exits within a minute: its shards are given up and its node is drained")
    wanted = 10 if SOAK else 7
    fleet.until(lambda: len(bad.said("exit")) >= wanted, 60 * SLOW, f"{wanted} exits")
    times = [n["t"] for n in bad.said("exit")]
    report.check(times[5] - times[4] > 1400 and times[6] - times[5] > 3000, "the pauses between starts double: " + " ".join(f"{b - a:.0f}" for a, b in zip(times, times[1:])))
    report.check(all(row[0] == "good" for row in owned(fleet).values()), "the other node keeps all 8 shards")
    report.check(bad.stop() == 0, "it leaves with status 0")
    good.end()
    fleet.close()


def a_process_that_is_done_with_its_shard(report):
    """--per-shard: exit status 0 is a word, not a crash: the shard goes to another node, and no other shard is touched."""
    fleet = fleet_of(4)
    a = Agent(fleet, "a", "--per-shard", tricks=["only=0", "finish"])
    fleet.until(lambda: len(a.said("one shard")) >= 4 and a.said("finishes"), 20 * SLOW, "four shards, one of them done")
    b = Agent(fleet, "b", "--per-shard")
    fleet.until(lambda: owned(fleet)[0][::2] == ("b", "owned"), 30 * SLOW, "shard 0 is at the other node")
    report.check(bool(a.logged("is done with it")) and not a.logged("is started again"), "exit status 0: said so, and not counted as a crash")
    time.sleep(1)
    report.check(owned(fleet)[0][0] == "b", "and it stays there")
    report.check(all(n["shard"] == 0 for n in a.said("finishes")) and a.stop() == 0 and b.stop() == 0, "both leave with status 0")
    fleet.close()


def a_shard_that_makes_no_progress_is_given_away(report):
    """stall-after: a lease says that a process lives; this says that it works."""
    fleet = fleet_of(8, "--stall-after", "600ms")
    busy = Agent(fleet, "busy", tricks=["progress"])
    wait_held(fleet, busy, 8)
    time.sleep(2)
    report.check(len(busy.holds()) == 8 and not busy.said("lost"), "who says `progress` keeps its shards, well beyond stall-after")
    stuck = Agent(fleet, "stuck", tricks=["progress=5"])  # works on all but shard 5
    fleet.cli("move", "5", "stuck", "--group", "orders", code=None)
    fleet.until(lambda: stuck.said("assigned"), 20 * SLOW, "it joined")
    fleet.until(lambda: fleet.cli("move", "5", "stuck", "--group", "orders", code=None).returncode == 0 and stuck.said("lost", shard=5), 30 * SLOW, "shard 5 was taken from it")
    report.check(stuck.said("lost", shard=5)[0]["reason"] == "it made no progress", f"who does not, loses it: {stuck.said('lost', shard=5)[0]['reason']}")
    fleet.until(lambda: owned(fleet)[5][::2] == ("busy", "owned"), 30 * SLOW, "shard 5 is at the one that works")
    report.check({n["shard"] for n in stuck.said("lost")} == {5} and not busy.said("lost"), "no other shard was taken")
    report.check(busy.stop() == 0 and stuck.stop() == 0, "both leave with status 0")
    fleet.close()


def exit_statuses_and_the_service_manager(report):
    """Scripts and service managers act on these."""
    fleet = fleet_of(4)
    told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    told.bind(str(fleet.folder / "notify"))
    told.settimeout(10 * SLOW)
    a = Agent(fleet, "a", environment={"NOTIFY_SOCKET": str(fleet.folder / "notify")})
    first = told.recv(1000).decode()
    at = boot_ms()
    wait_held(fleet, a, 4)  # the worker notes it just after it says so
    report.check("READY=1" in first and max(n["t"] for n in a.said("ready")) - at < 100 * FACTOR, "READY=1 once the first shards are ready")
    report.check(fleet.cli("status", "--wait-ready", "--group", "orders").returncode == 0, "status --wait-ready agrees")
    report.check(Agent(fleet, "a").process.wait(20) == 4, "a node id in use: exit status 4")
    second = Agent(fleet, "a", "--replace")
    report.check(a.process.wait(20) == 4, "replaced: exit status 4")
    report.check(not alive(a.said("hello")[0]["pid"]), "and its worker is gone")
    wait_held(fleet, second, 4)
    third = Agent(fleet, "c", environment={"NOTIFY_SOCKET": str(fleet.folder / "notify")})
    fleet.until(lambda: len(third.holds()) == 2, 20 * SLOW, "a third")
    third.signal(signal.SIGTERM)
    words = [told.recv(1000).decode(), told.recv(1000).decode()]
    report.check(any("STOPPING=1" in w for w in words), "STOPPING=1 at a stop")
    report.check(third.process.wait(20) == 0 and second.stop() == 0, "clean leaves: exit status 0")
    report.check(Agent(fleet, "d", command=["./no-such-worker"]).process.wait(20) == 2, "a command that is not there: exit status 2, at once")
    fleet.group = "nothing"
    report.check(Agent(fleet, "d").process.wait(20) == 4, "a group that is not there: exit status 4")
    fleet.close()


def a_killed_watchdog_is_replaced(report):
    """Without it, what a worker started would outlive an agent that is killed."""
    fleet = fleet_of(2)
    a = Agent(fleet, "a", command=["sh", "-c", "sleep 1000 & exec sleep 1000"])
    fleet.until(lambda: children(a.process.pid, "sleep"), 20 * SLOW, "the worker")
    first = children(a.process.pid, "tenure-watchdog")[0]
    os.kill(first, signal.SIGKILL)
    fleet.until(lambda: a.logged("the watchdog is gone") and children(a.process.pid, "tenure-watchdog") not in ([], [first]), 10 * SLOW, "another one")
    report.check(True, "a killed watchdog is noticed and replaced")
    leader = children(a.process.pid, "sleep")[0]
    inner = children(leader, "sleep")[0]
    a.end()
    fleet.until(lambda: not alive(leader) and not alive(inner), 10 * SLOW, "all are gone")
    report.check(True, "SIGKILL of the agent: the worker and what it started in its group are gone")
    fleet.close()


def the_example_workers_work(report):
    """They are what a newcomer copies."""
    examples = pathlib.Path(__file__).resolve().parents[2] / "examples/workers"
    commands = [[], [str(examples / "worker.sh")]], [[], [str(examples / "worker.py"), "20"]], [[], [str(pathlib.Path(BUILD) / "examples/line_worker")]], [["--per-shard"], [str(examples / "one_shard.sh")]]
    for options, command in commands:
        fleet = fleet_of(2)
        name = pathlib.Path(command[0]).name
        a = Agent(fleet, "a", *options, command=command)
        fleet.until(lambda: all(row[2] == "owned" for row in owned(fleet).values()), 20 * SLOW, "owned")
        before = [fleet.cli("checkpoint", "get", s, "--group", "orders", code=None).stdout for s in "01"]
        fleet.until(lambda: all(fleet.cli("checkpoint", "get", s, "--group", "orders", code=None).stdout not in ("", b) for s, b in zip("01", before)), 20 * SLOW, "progress")
        b = Agent(fleet, "b", *options, command=command)
        fleet.until(lambda: {row[0] for row in owned(fleet).values()} == {"a", "b"}, 20 * SLOW, "one each")
        report.check(a.stop() == 0 and b.stop() == 0 and not a.logged("crashes 1"), f"{name}: makes progress, hands over, leaves")
        fleet.close()


if __name__ == "__main__":
    Report().run(the_example_workers_work, a_killed_watchdog_is_replaced, every_line_of_the_protocol, workers_that_misbehave_touch_no_other_shard, one_deaf_process_among_many,
                 a_worker_that_does_not_read_is_killed, a_killed_worker_is_back_within_a_second, a_dead_agents_survivors_keep_its_session,
                 a_stop_waits_for_the_batch, a_drain_limit_forces_shards_away, a_paused_node_wakes_up_harmless,
                 a_worker_that_exits_at_once_ten_times, a_process_that_is_done_with_its_shard,
                 a_shard_that_makes_no_progress_is_given_away, exit_statuses_and_the_service_manager)
