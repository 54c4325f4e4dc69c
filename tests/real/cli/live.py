"""The verbs that need nodes: two of them run in processes of their own, on the public library."""
import os
import subprocess
import sys
import time
from pathlib import Path

SETTINGS = ["--lease", "3s", "--settle", "0s", "--cool-down", "0s", "--max-moves", "8"]


class Node:
    def __init__(self, kit, node, *groups):
        library = kit.build / "libtenure.so"
        environment = dict(os.environ)
        for line in subprocess.run(["ldd", library], capture_output=True, text=True, check=False).stdout.splitlines():
            if any(name in line for name in ("libasan", "libtsan", "libubsan")) and "=>" in line:
                environment["LD_PRELOAD"] = " ".join([environment.get("LD_PRELOAD", ""), line.split("=>")[1].split()[0]]).strip()
                environment["ASAN_OPTIONS"] = "detect_leaks=0"  # the interpreter's own
        self.process = subprocess.Popen([sys.executable, Path(__file__).with_name("live_node.py"), library, kit.url(), node,
                                         f"{node}.example:80", *groups], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=environment, text=True)
        self.joined = self.process.stdout.readline()

    def wait_for(self, word):
        for line in self.process.stdout:
            if line.split()[0] == word:
                return line
        return ""

    def leave(self):
        self.process.communicate(timeout=60)
        return self.process.returncode

    def kill(self):
        self.process.kill()
        self.process.communicate()


def run(kit):
    kit.run("group", "create", "orders", "--shards", "8", "--hash", "java", *SETTINGS)
    nodes = [Node(kit, "a", "orders"), Node(kit, "b", "orders")]
    try:
        kit.check("two nodes join", all(node.joined.startswith("joined") for node in nodes), [node.joined for node in nodes])
        kit.expect("--wait-ready waits until every shard is owned and ready", 0, "status", "--group", "orders", "--wait-ready",
                   "--timeout", "30s", has="0 unowned")
        reading(kit)
        moving(kit)
        draining(kit)
        kit.expect("deleting a group with live nodes is refused", 1, "group", "delete", "orders", has="live")
        failing(kit, nodes)
    finally:
        for node in nodes:
            node.kill()


def reading(kit):
    kit.expect("then move nothing", 0, "status", "--group", "orders", "--wait-ready", "--timeout", "30s")
    status = kit.run("status", "--group", "orders", "--json").json
    kit.check("status has both nodes, by id", [node["id"] for node in status["nodes"]] == ["a", "b"], status)
    node = status["nodes"][0]
    kit.check("a node has the fields of the contract",
              set(node) >= {"id", "session", "state", "address", "weight", "labels", "shards", "desired", "lease_until_ms", "counters"} and
              node["state"] == "live" and node["address"] == "a.example:80" and node["weight"] == 1 and node["labels"] == {"zone": "z1"}, node)
    kit.check("its lease is a Unix time ahead of the store's", 0 < node["lease_until_ms"] - status["store_time_ms"] <= 3000, status)
    kit.check("the shards add up", sum(node["shards"] for node in status["nodes"]) == 8 and status["unowned"] == 0, status)
    rows = kit.run("shards", "--group", "orders", "--json").json
    kit.check("shards name owner, session and token", all(row["owner"] in ("a", "b") and row["session"] and row["token"] >= 1 for row in rows), rows)
    shard = 1907625230 % 8
    route = kit.expect("route tells owner, address and token", 0, "route", "--group", "orders", "A10086", "--json").json
    kit.check("which are those of shards", (route["shard"], route["owner"], route["token"]) ==
              (shard, rows[shard]["owner"], rows[shard]["token"]) and route["address"] == route["owner"] + ".example:80", route)
    kit.expect("route in words", 0, "route", "--group", "orders", "A10086", has=("owner", "example:80"))
    kit.expect("status in words", 0, "status", "--group", "orders", has=("NODE", "a.example:80", "zone"))
    kit.expect("shards in words", 0, "shards", "--group", "orders", has=("SHARD", "owned"))
    events = kit.expect("history as JSON", 0, "history", "--group", "orders", "--json").json
    kit.check("has the first owner of every shard, oldest first", {event["shard"] for event in events if event["token"] == 1} == set(range(8)) and
              [event["id"] for event in events] == sorted(event["id"] for event in events), events[:3])
    one = kit.run("history", "--group", "orders", "--shard", "3", "--json").json
    kit.check("--shard keeps one shard", one and all(event["shard"] == 3 for event in one), one)
    kit.check("--limit keeps the newest", kit.run("history", "--group", "orders", "--limit", "2", "--json").json == events[-2:] or
              len(kit.run("history", "--group", "orders", "--limit", "2", "--json").json) == 2)
    kit.expect("--since a duration back", 0, "history", "--group", "orders", "--since", "10m", has=("claim", "Z  orders"))
    kit.check("--since an instant to come has none", kit.run("history", "--group", "orders", "--since", "2999-01-01T00:00:00+08:00", "--json").json == [])
    for text in ("yesterday", "2026-02-30T00:00:00Z", "2026-01-01T00:00:00", "10 m", ""):
        kit.expect(f"--since {text!r} is refused", 2, "history", "--group", "orders", "--since", text, has="--since")
    kit.expect("a shard out of range is refused", 2, "history", "--group", "orders", "--shard", "8", has="0 to 7")


def owner_of(kit, shard):
    return kit.run("shards", "--group", "orders", "--json").json[shard]["owner"]


def moving(kit):
    target = {"a": "b", "b": "a"}[owner_of(kit, 2)]
    kit.expect("move --dry-run says what it would do", 0, "move", "2", target, "--group", "orders", "--dry-run", has="would move shard 2")
    kit.check("and does not", owner_of(kit, 2) != target)
    kit.expect("move --wait hands the shard over", 0, "move", "2", target, "--group", "orders", "--wait", has="is on node")
    kit.expect("a node that is not there is exit 4", 4, "move", "2", "nobody", "--group", "orders", has="nobody")
    kit.expect("in --dry-run too", 4, "move", "2", "nobody", "--group", "orders", "--dry-run", has="nobody")
    kit.expect("a shard out of range is exit 2", 2, "move", "8", "a", "--group", "orders", has="0 to 7")


def draining(kit):
    kit.expect("drain --dry-run says what it would do", 0, "drain", "a", "--dry-run", has="would be marked")
    kit.check("and does not", kit.run("status", "--group", "orders", "--json").json["nodes"][0]["state"] == "live")
    kit.expect("drain --wait empties the node", 0, "drain", "a", "--wait", "--timeout", "40s", has="no shards left")
    status = kit.run("status", "--group", "orders", "--json").json
    kit.check("which is draining", [(node["state"], node["shards"]) for node in status["nodes"]] == [("draining", 0), ("live", 8)], status)
    kit.expect("moving to it is refused", 1, "move", "2", "a", "--group", "orders", "--dry-run", has="drained")
    kit.expect("undrain opens it again", 0, "undrain", "a")
    kit.check("and it is live", kit.run("status", "--group", "orders", "--json").json["nodes"][0]["state"] == "live")
    kit.expect("a node that was never seen is exit 4", 4, "drain", "never", has="never")


def failing(kit, nodes):
    for node in nodes:
        node.kill()
    give_up = time.monotonic() + 30  # their leases last three seconds
    while True:
        status = kit.run("status", "--group", "orders", "--json").json
        if status["unowned"] == 8 or time.monotonic() > give_up:
            break
    kit.check("their shards are unowned", status["unowned"] == 8 and all(node["state"] == "dead" for node in status["nodes"]), status)
    rows = kit.run("shards", "--group", "orders", "--json").json
    kit.check("with owner and session null", all((row["owner"], row["session"], row["state"]) == (None, None, "unowned") for row in rows), rows[0])
    kit.expect("--wait-ready gives up in its time", 1, "status", "--group", "orders", "--wait-ready", "--timeout", "200ms", has="0 of 8")
    kit.expect("and no route", 1, "route", "--group", "orders", "A10086", has="unowned")
    back = Node(kit, "a", "orders")
    kit.expect("one node back takes all", 0, "status", "--group", "orders", "--wait-ready", "--timeout", "40s", has="0 unowned")
    kit.check("and leaves cleanly", back.leave() == 0)
