"""The phases of a run. Each begins by a condition that can be seen in the store or in the notes, never by a sleep.

A phase that takes a node away takes the second of those that live, and needs another one that stays.
"""
import time

import data_folder
import pause
from nodes import Failed, boot_ms


def carry_out(run):
    balance(run)
    begin(run)
    if run.pace:
        under_fire(run)
    else:
        run.skipped.update(dict.fromkeys(("join", "kill", "leave", "pause", "rejoin"), "not with PACE=0"))
    finish(run)
    stop(run)


def under_fire(run):
    """One phase after the other, each in a quiet moment; where one is skipped, so are those after it."""
    live = run.nodes
    for name, phase, change in (("join", join, 1), ("kill", kill, -1), ("leave", leave, -1), ("pause", pause.pause, -1),
                                ("rejoin", pause.rejoin, 1)):
        if change < 0 and live < 2:
            run.skipped[name] = f"too few nodes: with NODES={run.nodes} nobody would be left to take over"
        elif name == "rejoin" and "pause" in run.skipped:
            run.skipped[name] = "no node was paused"
        elif name == "rejoin" or run.await_work(name, run.total * 15 // 100 if name == "join" else run.fleet.done + run.total // 100):
            phase(run, live)
            live += change


def balance(run):
    with run.phase("balance", f"{run.nodes} {'node' if run.nodes == 1 else 'nodes'} to share {run.shards} shards"):
        for _ in range(run.nodes):
            run.fleet.start()
        run.wait("all shards ready and even", 60, lambda: run.settled(run.nodes))
    run.say(", ".join(f"{node.name}: a {'Python' if node.kind == 'python' else 'C'} worker" for node in run.fleet.nodes))


def begin(run):
    """Lets the records fall due from now on."""
    data_folder.write_begin(run.folder, boot_ms())
    run.began = time.monotonic()
    run.screen.phase(f"work: {run.total} records fall due over {run.pace} s")


def join(run, live):
    known = max((event["id"] for event in run.tenure.history()), default=0)
    with run.phase("join", "one more node joins while the work goes on"):
        run.counts_moves, run.max_in_flight = True, 0
        newcomer = run.fleet.start()
        shards = run.wait("the moves to the newcomer to end", 90, lambda: run.settled(live + 1))
        run.counts_moves = False
    run.moved = sum(event["id"] > known and event["cause"] in ("handed over", "forced") for event in run.tenure.history())
    run.share = len(run.tokens_of(newcomer, shards))
    run.say(f"{run.moved} shards moved, at most {run.max_in_flight} in flight")


def kill(run, live):
    victim = run.fleet.live()[1]
    with run.phase("kill", f"SIGKILL for the agent of node {victim.name}"):
        tokens = run.tokens_of(victim, run.wait("a quiet moment", 60, lambda: run.settled(live)))
        victim.kill_agent()
        run.takeover_ms["kill"] = run.await_takeover(victim, tokens, victim.killed_ms)
    run.say(f"its {len(tokens)} shards were ready elsewhere after {run.takeover_ms['kill']} ms")


def leave(run, live):
    leaver = run.fleet.live()[1]
    with run.phase("leave", f"SIGTERM for node {leaver.name}"):
        run.wait("a quiet moment", 60, lambda: run.settled(live))
        leaver.leaving = True
        leaver.process.terminate()
        run.wait("the node to leave", 60, lambda: not leaver.up)
        run.wait("all shards ready and even", 60, lambda: run.settled(live - 1))
    run.say(f"it left with exit status {leaver.process.returncode}")


def finish(run):
    """Until every record is done. The notes count nearly all; what a killed worker did not note any more, the data files say."""
    progress = {"done": -1, "at": time.monotonic()}

    def all_done():
        if run.fleet.done != progress["done"]:
            progress.update(done=run.fleet.done, at=time.monotonic())
        stalled = time.monotonic() - progress["at"]
        if stalled > 60 + run.pace:
            raise Failed(f"no record was done for {stalled:.0f} s; {run.screen.figures(run.fleet)}")
        over = time.monotonic() - run.began >= run.pace
        return over and (run.fleet.done >= run.total or stalled > 1) and \
            data_folder.count_done(run.folder, run.shards) >= run.total

    with run.phase("finish", "until every record is done"):
        run.wait("every record done", 10 * run.pace + 600 + run.total / 100, all_done)
    run.say(f"{run.total} records done")


def stop(run):
    with run.phase("stop", "SIGTERM for all nodes"):
        for node in run.fleet.nodes:
            node.leaving = True
        for node in run.fleet.live():
            node.process.terminate()
        run.wait("all nodes to leave", 60, lambda: not run.fleet.live())
    run.fleet.look()
