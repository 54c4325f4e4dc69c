"""What the phases of a run share: its parts, its findings, and how to wait."""
import time

from nodes import Failed

LOOK_S, MOST_MOVES = 0.05, 5


class Run:
    """`took`: phase -> seconds; `skipped`: phase -> why; `finished_ms`: phase -> when it was over (boot clock)."""

    def __init__(self, tenure, fleet, screen, folder, total, given):
        self.tenure, self.fleet, self.screen, self.folder = tenure, fleet, screen, folder
        self.total, self.shards, self.nodes, self.pace, self.lease_s = total, given.shards, given.nodes, given.pace, given.lease
        self.took, self.skipped, self.finished_ms = {}, {}, {}
        self.takeover_ms = {}
        self.moved = self.share = None  # by the join; what it should have been
        self.max_in_flight, self.counts_moves = None, False
        self.began = None
        self.paused, self.refused_before = None, 0

    def wait(self, what, limit_s, condition, look_s=LOOK_S):
        """Looks until the condition holds; returns what it returned. Thousands of shards take their time."""
        limit_s += self.shards / 10
        give_up = time.monotonic() + limit_s
        while True:
            self.fleet.look()
            found = condition()
            self.screen.show(self.fleet)
            if found:
                return found
            if time.monotonic() > give_up:
                raise Failed(f"waited {limit_s:.0f} s for this: {what}; {self.screen.figures(self.fleet)}; "
                             f"tenure status: {self.tenure.status()}")
            time.sleep(look_s)

    def say(self, text):
        self.screen.say(f"  {text}")

    def phase(self, name, text):
        self.screen.phase(f"{name}: {text}")
        return Stopwatch(self, name)

    def settled(self, nodes):
        """So many live nodes, every shard ready where the plan wants it, nothing in flight, no node above another by two."""
        status = self.tenure.status()
        self.note_moves(status)
        live = [node for node in status["nodes"] if node["state"] == "live"]
        counts = [node["shards"] for node in live]
        even = len(live) == nodes and sum(counts) == self.shards and max(counts) - min(counts) <= 1
        if not even or status["moves_in_flight"] or any(node["shards"] != node["desired"] for node in live):
            return None
        shards = self.tenure.shards()
        return shards if all(shard["state"] == "owned" for shard in shards) else None

    def note_moves(self, status):
        if self.counts_moves:
            self.max_in_flight = max(self.max_in_flight, status["moves_in_flight"])

    def tokens_of(self, node, shards):
        return {shard["shard"]: shard["token"] for shard in shards if shard["owner"] == node.name}

    def await_work(self, name, done):
        """Until so many records are done; False, and the phase is skipped, when it would come too late to matter."""
        done = min(done, self.total)
        self.wait(f"{done} records done", self.pace + 120, lambda: self.fleet.done >= done)
        if self.fleet.done <= self.total * 9 // 10:
            return True
        self.skipped[name] = "too few records: they were nearly all done before it could begin"
        return False

    def served_elsewhere(self, node, tokens):
        """When each shard was ready under a later token at another node; None until all are, in the notes and in the store."""
        ready = []
        for shard, token in tokens.items():
            served = self.fleet.server.get(shard)
            if not served or served[0] == node.name or served[1] <= token:
                return None
            ready.append(served[2])
        return ready if all(shard["state"] == "owned" for shard in self.tenure.shards()) else None

    def await_takeover(self, node, tokens, since_ms):
        """How long after the instant the last of the shards was ready elsewhere, in ms."""
        self.fleet.look()
        self.fleet.forget(node.name)
        limit_s = 60 + 2 * self.lease_s
        ready = self.wait(f"its {len(tokens)} shards ready elsewhere", limit_s, lambda: self.served_elsewhere(node, tokens))
        return round(max(ready, default=since_ms) - since_ms)


class Stopwatch:
    def __init__(self, run, name):
        self.run, self.name = run, name

    def __enter__(self):
        self.since = time.monotonic()

    def __exit__(self, kind, *failure):
        if kind is None:
            self.run.took[self.name] = round(time.monotonic() - self.since, 1)
            self.run.finished_ms[self.name] = time.clock_gettime(time.CLOCK_BOOTTIME) * 1000
