"""The report: the same facts as text and as JSON."""
import json

import nodes
from run import MOST_MOVES

SLOW_LEASE_S = 10  # below this a takeover by expiry is not told from one by crash detection


def wrong_ends(fleet):
    """Nodes that did not end as they should: cleanly, or by our SIGKILL; and workers that had to be started again."""
    ends = [f"node {node.name}: {nodes.how_it_ended(node.process.returncode)}" for node in fleet.nodes
            if node.process.returncode != 0 and node.killed_ms is None]
    return ends + [f"node {node.name}: its worker was started {len(node.workers)} times" for node in fleet.nodes
                   if len(node.workers) > 1]


def broken(run, overlaps):
    """Promises that the phases which took place should have kept."""
    problems = list(overlaps.stories)
    if run.moved is not None and run.moved != run.share:
        problems.append(f"join: {run.moved} shards moved for a newcomer's share of {run.share}")
    if run.max_in_flight is not None and run.max_in_flight > MOST_MOVES:
        problems.append(f"join: {run.max_in_flight} moves in flight, more than {MOST_MOVES}")
    if "pause" in run.took and not run.fleet.stale:
        problems.append("pause: no stale write was refused")
    return problems


def remarks(run, audit):
    """What was to happen under fire, and happened when there was nothing left to do; and what was slow."""
    late = [f"{name}: no record was done after it" for name, at_ms in run.finished_ms.items()
            if name in ("join", "kill", "leave", "pause", "rejoin") and not any(done_ms > at_ms for done_ms in audit.done_ms)]
    if run.lease_s >= SLOW_LEASE_S and run.takeover_ms.get("kill", 0) > run.lease_s * 500:
        late.append("kill: the takeover waited for the lease to end: the store could not tell that the node was gone")
    return late


def facts(run, audit, overlaps, lease_ms, seconds):
    fleet = run.fleet
    return {
        "records": audit.records, "processed": audit.processed, "lost": audit.lost, "duplicated": audit.duplicated,
        "mismatched": audit.mismatched, "changed": audit.changed, "stale_rejected": fleet.stale,
        "takeover_ms": {"kill": run.takeover_ms.get("kill"), "pause": run.takeover_ms.get("pause")},
        "scale_out": {"moved": run.moved, "max_in_flight": run.max_in_flight},
        "phases": [{"name": name, "state": "done", "seconds": took} for name, took in run.took.items()] +
                  [{"name": name, "state": "skipped", "why": why} for name, why in run.skipped.items()],
        "workers": [{"node": node.name, "kind": node.kind, "exit": node.process.returncode, "killed": node.killed_ms is not None,
                     "records": sum(note["done"] for note in node.notes)} for node in fleet.nodes],
        "overlaps": {"spans": overlaps.spans, "count": overlaps.count, "longest_ms": round(overlaps.longest_ms, 1),
                     "paused_count": overlaps.woken_count, "paused_longest_ms": round(overlaps.woken_longest_ms, 1),
                     "paused_step_ms": round(overlaps.woken_step_ms, 1)},
        "lease_ms": lease_ms, "seconds": round(seconds, 1),
        "problems": audit.stories + wrong_ends(fleet) + broken(run, overlaps),
        "remarks": remarks(run, audit),
    }


def write(path, found):
    with open(path, "w") as file:
        json.dump(found, file, indent=2)
        file.write("\n")


def overlap_lines(overlaps, paused):
    yield (f"  {'overlaps':<16}{overlaps['count']:>8} of two workers on one shard, in {overlaps['spans']} pieces of work; "
           f"the longest {overlaps['longest_ms']:g} ms")
    if paused:
        yield (f"  {'with the paused':<16}{overlaps['paused_count']:>8} more with the paused node's first step, "
               f"{overlaps['paused_step_ms']:g} ms after SIGCONT; the longest {overlaps['paused_longest_ms']:g} ms")


def text(found, shards, path):
    """Lines for people."""
    out = ["", f"inventory: {found['records']} records on {shards} shards, {len(found['workers'])} nodes, "
               f"lease {found['lease_ms'] / 1000:g} s; {found['seconds']} s in all", ""]
    for name in ("records", "processed", "lost", "duplicated", "mismatched", "changed", "stale_rejected"):
        out.append(f"  {name:<16}{found[name]:>8}")
    for name, signal in (("kill", "SIGKILL"), ("pause", "SIGSTOP")):
        if found["takeover_ms"][name] is not None:
            out.append(f"  {'takeover, ' + name:<16}{found['takeover_ms'][name]:>8} ms from {signal} to the last shard ready elsewhere")
    moves = found["scale_out"]
    if moves["moved"] is not None:
        out.append(f"  {'moved, join':<16}{moves['moved']:>8} shards, at most {moves['max_in_flight']} in flight")
    out += overlap_lines(found["overlaps"], found["takeover_ms"]["pause"] is not None)
    out.append("")
    for worker in found["workers"]:
        end = "killed" if worker["killed"] else f"exit status {worker['exit']}"
        out.append(f"  node {worker['node']:<3} {worker['kind']:<7}{worker['records']:>8} records, {end}")
    out.append("")
    for phase in found["phases"]:
        out.append(f"  {phase['name']:<10} {phase['seconds']} s" if phase["state"] == "done"
                   else f"  {phase['name']:<10} skipped: {phase['why']}")
    out += ["", *(f"  {remark}" for remark in found["remarks"]), *(f"  {problem}" for problem in found["problems"])]
    out.append(f"{'FAILED' if failed(found) else 'passed'}; also in {path}")
    return "\n".join(out)


def failed(found):
    return bool(found["problems"])
