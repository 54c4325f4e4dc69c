"""What operators steer by: pauses, quarantine, drains of one group, moves, rehearsals, and the timeline's end."""
from .live import Node

SETTINGS = ["--lease", "3s", "--settle", "0s", "--max-moves", "8", "--cool-down", "1h"]
GROUP = ("--group", "orders")


def run(kit):
    kit.run("group", "create", "orders", "--shards", "8", *SETTINGS)
    kit.run("group", "create", "events", "--shards", "4", *SETTINGS)
    nodes = [Node(kit, "a", "orders", "events"), Node(kit, "b", "orders", "events")]
    try:
        for group in ("orders", "events"):
            kit.expect(f"both nodes work in {group}", 0, "status", "--group", group, "--wait-ready", "--timeout", "30s", has="0 unowned")
        pausing(kit)
        quarantine(kit)
        rehearsals(kit)
        cool_down(kit)
        one_group(kit)
        timeline(kit)
    finally:
        for node in nodes:
            node.kill()


def status(kit, group="orders"):
    return kit.run("status", "--group", group, "--json").json


def shards(kit, group="orders"):
    return kit.run("shards", "--group", group, "--json").json


def pausing(kit):
    kit.expect("no reasons at first", 0, "pause", *GROUP, has="not paused")
    kit.expect("a pause needs a reason to be one; this one is rehearsed", 0, "pause", *GROUP, "--reason", "upgrade", "--dry-run", has="would be paused")
    kit.check("a rehearsal paused nothing", status(kit)["paused"] is False)
    kit.expect("a reason", 0, "pause", *GROUP, "--reason", "upgrade", "--author", "kim", has="paused: upgrade")
    kit.expect("a second one", 0, "pause", *GROUP, "--reason", "audit")
    kit.expect("the same again is no error", 0, "pause", *GROUP, "--reason", "audit")
    listed = kit.expect("both are listed", 0, "pause", *GROUP, "--json").json
    kit.check("oldest first, with authors and times", [p["reason"] for p in listed] == ["upgrade", "audit"] and listed[0]["author"] == "kim"
              and "@" in listed[1]["author"] and listed[0]["since_ms"] > 1600000000000, listed)
    kit.check("status says so", status(kit)["paused"] is True)
    kit.expect("also in words", 0, "status", *GROUP, has="paused")
    kit.expect("resume must be told which", 2, "resume", *GROUP, has="--reason")
    kit.expect("a reason that there is not", 4, "resume", *GROUP, "--reason", "lunch", has="lunch")
    kit.expect("nor in a rehearsal", 4, "resume", *GROUP, "--reason", "lunch", "--dry-run", has="lunch")
    kit.expect("one is taken back", 0, "resume", *GROUP, "--reason", "upgrade", has="1 reason taken back")
    kit.check("and the other still counts", status(kit)["paused"] is True)
    kit.expect("all are", 0, "resume", *GROUP, "--all", has="1 reason taken back")
    kit.check("then moves go on", status(kit)["paused"] is False)
    kit.expect("a long reason is refused", 2, "pause", *GROUP, "--reason", "x" * 1025, has="1024")


def quarantine(kit):
    before = shards(kit)[3]
    kit.expect("a rehearsal", 0, "quarantine", "3", *GROUP, "--dry-run", has="would set shard 3 aside")
    kit.check("touches nothing", shards(kit)[3]["token"] == before["token"])
    kit.expect("lifting what is not set aside is refused", 1, "quarantine", "3", *GROUP, "--lift", has="not in quarantine")
    kit.expect("also in a rehearsal", 1, "quarantine", "3", *GROUP, "--lift", "--dry-run", has="not in quarantine")
    kit.expect("a shard is set aside", 0, "quarantine", "3", *GROUP, has="--lift")
    row = shards(kit)[3]
    kit.check("it has no owner, under a raised token", row["state"] == "quarantined" and row["owner"] is None and row["token"] == before["token"] + 1, row)
    kit.check("status counts it", status(kit)["quarantined"] == 1)
    kit.expect("and says how to take it back", 0, "status", *GROUP, has="1 in quarantine")
    kit.expect("a move does not take it out", 1, "move", "3", "a", *GROUP, has="--lift")
    kit.expect("nor does its rehearsal say so", 1, "move", "3", "a", *GROUP, "--dry-run", has="--lift")
    kit.expect("taken back", 0, "quarantine", "3", *GROUP, "--lift", has="back in service")
    kit.expect("it is owned again", 0, "status", *GROUP, "--wait-ready", "--timeout", "30s", has="0 unowned")
    causes = [event["cause"] for event in kit.run("history", *GROUP, "--shard", "3", "--json").json]
    kit.check("the timeline tells it", "quarantined" in causes and "taken back" in causes, causes)


def rehearsals(kit):
    """--dry-run finds what the real thing would find, and changes nothing."""
    before = kit.contents()
    for words, code, has in ((("drain", "nobody"), 4, "nobody"), (("undrain", "nobody"), 4, "nobody"), (("move", "1", "nobody", *GROUP), 4, "nobody"),
                             (("checkpoint", "set", "1", "x", "--token", "999", *GROUP), 5, "999"), (("group", "delete", "orders"), 1, "live"),
                             (("checkpoint", "set", "1", "x", "--force", "--seq", "9007199254740992", *GROUP), 2, "--seq"),
                             (("store", "new-history", "--seen", "5"), 0, "would begin history"), (("drain", "a"), 0, "would be marked")):
        kit.expect(f"--dry-run of {' '.join(words[:3])}", code, *words, "--dry-run", has=has)
    kit.check("the store is as it was", kit.contents() == before)


def cool_down(kit):
    """An operator's word does not wait for the cool-down, which is an hour here."""
    for _ in range(2):
        row = shards(kit)[0]
        other = "b" if row["owner"] == "a" else "a"
        kit.expect(f"shard 0 is moved to {other}, and again within its cool-down", 0, "move", "0", other, *GROUP, "--wait", "--timeout", "20s")
        now = shards(kit)[0]
        kit.check("it is there", now["owner"] == other and now["token"] == row["token"] + 1, now)


def one_group(kit):
    kit.expect("a drain of one group, rehearsed", 0, "drain", "a", *GROUP, "--dry-run", has="would be marked")
    kit.expect("a drain of one group", 0, "drain", "a", *GROUP, "--wait", "--timeout", "30s", has="no shards left")
    kit.check("it has none there", {row["owner"] for row in shards(kit)} == {"b"})
    kit.check("and all of its others", sum(row["owner"] == "a" for row in shards(kit, "events")) == 2)
    states = {node["id"]: node["state"] for node in status(kit)["nodes"]}
    others = {node["id"]: node["state"] for node in status(kit, "events")["nodes"]}
    kit.check("status tells the groups apart", states == {"a": "draining", "b": "live"} and others == {"a": "live", "b": "live"}, (states, others))
    kit.expect("nothing is moved to it", 1, "move", "0", "a", *GROUP, has="drained")
    kit.expect("undrain of that group", 0, "undrain", "a", *GROUP, has="open for shards")
    kit.check("lifts it", {node["state"] for node in status(kit)["nodes"]} == {"live"})
    kit.expect("a drain of all", 0, "drain", "a")
    kit.expect("is not lifted for one", 1, "undrain", "a", *GROUP, has="all groups")
    kit.expect("but for all", 0, "undrain", "a")
    kit.expect("a group that there is not", 4, "drain", "a", "--group", "nobody", has="nobody")


def timeline(kit):
    for group in ("orders", "events"):
        kit.expect(f"{group} is at rest", 0, "status", "--group", group, "--wait-ready", "--timeout", "30s", has="0 unowned")
    events = kit.run("store", "info", "--json").json["events"]
    kit.expect("prune must be told how much stays", 2, "store", "prune", has="--keep")
    kit.expect("a rehearsal counts", 0, "store", "prune", "--keep", "3", "--dry-run", has=("would remove", "events"))
    kit.expect("pruned", 0, "store", "prune", "--keep", "3", has="events removed")
    left = kit.run("store", "info", "--json").json["events"]
    kit.check("the newest are left", 3 <= left < events, (left, events))
    shown = kit.run("history", *GROUP, "--json").json
    kit.check("history shows them", len(shown) <= left and [e["id"] for e in shown] == sorted(e["id"] for e in shown), shown)
    kit.expect("all can go", 0, "store", "prune", "--keep", "0")
    kit.check("then there is next to none", kit.run("store", "info", "--json").json["events"] < 3)
    kit.expect("nodes work on", 0, "status", *GROUP, "--wait-ready", "--timeout", "30s", has="0 unowned")
