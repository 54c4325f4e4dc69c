"""The report: the same facts as text and as JSON."""
import json

import nodes


def wrong_ends(fleet):
    """Nodes that did not end as they should: cleanly, or by our SIGKILL."""
    return [f"node {node.name}: {nodes.how_it_ended(node.process.returncode)}" for node in fleet.nodes
            if node.process.returncode != 0 and node.killed_ms is None]


def under_fire(run, audit):
    """What was to happen while the work went on, and did not."""
    if not run.pace:
        return []
    missing = []
    for name, at_ms in (("join", run.joined_ms), ("kill", run.taken_over_ms)):
        if at_ms is None:
            missing.append(f"{name}: {run.skipped.get(name, 'did not happen')}")
        elif not any(done_ms > at_ms for done_ms in audit.done_ms):
            missing.append(f"{name}: no record was done after it")
    return missing


def facts(run, audit, overlaps, lease_ms, seconds):
    fleet = run.fleet
    return {
        "records": audit.records, "processed": audit.processed, "lost": audit.lost, "duplicated": audit.duplicated,
        "mismatched": audit.mismatched, "changed": audit.changed, "stale_rejected": fleet.stale,
        "takeover_ms": {"kill": run.takeover_ms.get("kill"), "pause": None},
        "scale_out": {"moved": run.moved, "max_in_flight": run.max_in_flight},
        "phases": [{"name": name, "state": "done", "seconds": took} for name, took in run.took.items()] +
                  [{"name": name, "state": "skipped", "why": why} for name, why in run.skipped.items()],
        "workers": [{"node": node.name, "kind": "c", "exit": node.process.returncode, "killed": node.killed_ms is not None,
                     "records": sum(note["done"] for note in node.notes)} for node in fleet.nodes],
        "overlaps": {"count": overlaps[0], "longest_ms": overlaps[1]},
        "lease_ms": lease_ms, "seconds": round(seconds, 1),
        "problems": audit.stories + wrong_ends(fleet) + under_fire(run, audit),
    }


def write(path, found):
    with open(path, "w") as file:
        json.dump(found, file, indent=2)
        file.write("\n")


def text(found, shards, path):
    """Lines for people."""
    out = ["", f"inventory: {found['records']} records on {shards} shards, {len(found['workers'])} nodes, "
               f"lease {found['lease_ms'] / 1000:g} s; {found['seconds']} s in all", ""]
    for name in ("records", "processed", "lost", "duplicated", "mismatched", "changed", "stale_rejected"):
        out.append(f"  {name:<16}{found[name]:>8}")
    if found["takeover_ms"]["kill"] is not None:
        out.append(f"  {'takeover, kill':<16}{found['takeover_ms']['kill']:>8} ms from SIGKILL to the last shard ready elsewhere")
    moves = found["scale_out"]
    if moves["moved"] is not None:
        out.append(f"  {'moved, join':<16}{moves['moved']:>8} shards, at most {moves['max_in_flight']} in flight")
    count, longest = found["overlaps"]["count"], found["overlaps"]["longest_ms"]
    out.append(f"  {'overlaps':<16}{count:>8} of two nodes on one shard" + (f", the longest {longest} ms" if count else ""))
    out.append("")
    for phase in found["phases"]:
        out.append(f"  {phase['name']:<10} {phase['seconds']} s" if phase["state"] == "done"
                   else f"  {phase['name']:<10} {phase['why']}")
    out.append("")
    out += [f"  {problem}" for problem in found["problems"]]
    out.append(f"{'FAILED' if failed(found) else 'passed'}; also in {path}")
    return "\n".join(out)


def failed(found):
    return bool(found["problems"])
