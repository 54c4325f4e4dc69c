"""The phase that no timeout survives: a node stands still between its last look at the gate and its write, for longer than its
lease, and then goes on as if nothing had happened. Its write must be refused, and it must come back by itself.
"""
import data_folder
import processes
from nodes import Failed

TRIES, CATCH_S, LOOK_S = 50, 30, 0.003


def pause(run, live):
    victim = run.fleet.live()[1]
    with run.phase("pause", f"SIGSTOP for all processes of node {victim.name}, with a batch computed and not written"):
        tokens = run.tokens_of(victim, run.wait("a quiet moment", 60, lambda: run.settled(live)))
        shard = catch(run, victim)
        run.say(f"it stands still, about to write to shard {shard} under token {tokens[shard]}")
        run.paused, run.refused_before = victim, refusals(victim)
        run.takeover_ms["pause"] = run.await_takeover(victim, tokens, victim.stopped_ms)
    run.say(f"its {len(tokens)} shards were ready elsewhere after {run.takeover_ms['pause']} ms")


def catch(run, victim):
    """Stops the node until its worker is caught with a computed batch and without a lock on the data file; the shard."""
    seen = 0  # a note that was tried counts no more
    for _ in range(TRIES):
        run.wait("a computed batch", CATCH_S, lambda: len(victim.notes) > seen and at_work_on(victim) is not None, LOOK_S)
        victim.stop()
        run.fleet.look()
        shard = at_work_on(victim)
        if shard is not None and all(map(processes.stands_still, victim.stopped)) and not data_folder.is_locked(run.folder, shard):
            return shard
        seen = len(victim.notes)
        victim.go_on()
    raise Failed(f"node {victim.name} could not be caught with a computed batch in {TRIES} tries")


def at_work_on(node):
    """The shard of a batch that is computed and not written, as the worker's last note says."""
    last = node.notes[-1] if node.notes else None
    return last["shard"] if last and last["what"] == "computed" else None


def refusals(node):
    return sum(note["what"] == "stale" for note in node.notes)


def rejoin(run, live):
    node = run.paused
    with run.phase("rejoin", f"SIGCONT for node {node.name}"):
        node.go_on()
        run.wait("its late write to be refused", 30, lambda: refusals(node) > run.refused_before)
        run.say("its late write was refused by the fence")
        run.wait("it to have its share again", 90, lambda: run.settled(live + 1))
    run.say(f"it has {sum(served[0] == node.name for served in run.fleet.server.values())} shards again")
