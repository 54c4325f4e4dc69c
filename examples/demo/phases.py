"""The phases of a run. Each begins by a condition that can be seen in the store or in the notes, never by a sleep."""
import time

from nodes import Failed, now_ms
import records

LOOK_S = 0.05
LATER = {"leave": "not in this version", "pause": "not in this version", "rejoin": "not in this version"}


class Run:
    """What the phases share, and what they found out (`took`: name -> seconds; `skipped`: name -> why)."""

    def __init__(self, tenure, fleet, screen, folder, total, shards, nodes, pace):
        self.tenure, self.fleet, self.screen, self.folder = tenure, fleet, screen, folder
        self.total, self.shards, self.nodes, self.pace = total, shards, nodes, pace
        self.took, self.skipped = {}, dict(LATER)
        self.takeover_ms = {}
        self.moved = self.max_in_flight = None
        self.joined_ms = self.killed = self.taken_over_ms = None

    def wait(self, what, limit_s, condition):
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
            time.sleep(LOOK_S)

    def phase(self, name, text):
        self.screen.phase(f"{name}: {text}")
        return Stopwatch(self.took, name)

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
        if self.max_in_flight is not None:
            self.max_in_flight = max(self.max_in_flight, status["moves_in_flight"])

    # ---- the phases, in order ----

    def balance(self):
        with self.phase("balance", f"{self.nodes} nodes start and share {self.shards} shards"):
            for _ in range(self.nodes):
                self.fleet.start()
            self.wait("all shards ready and even", 60, lambda: self.settled(self.nodes))

    def begin(self):
        """Lets the records fall due from now on."""
        records.write_begin(self.folder, now_ms())
        self.began = time.monotonic()
        self.screen.phase(f"work: {self.total} records fall due over {self.pace} s")

    def await_work(self, name, done):
        """Until so many records are done; False, and the phase is skipped, when it would come too late to matter."""
        done = min(done, self.total)
        self.wait(f"{done} records done", self.pace + 120, lambda: self.fleet.done >= done)
        if self.fleet.done <= self.total * 9 // 10:
            return True
        self.skipped[name] = "too few records: they were nearly all done before it could begin"
        return False

    def join(self):
        if not self.await_work("join", self.total * 15 // 100):
            return
        known = max((event["id"] for event in self.tenure.history()), default=0)
        with self.phase("join", "one more node joins while the work goes on"):
            self.joined_ms = now_ms()
            self.max_in_flight = 0
            self.fleet.start()
            self.wait("the moves to the newcomer to end", 90, lambda: self.settled(self.nodes + 1))
        self.moved = sum(event["id"] > known and event["cause"] in ("handed over", "forced")
                         for event in self.tenure.history())
        self.screen.say(f"  {self.moved} shards moved, at most {self.max_in_flight} in flight")

    def kill(self):
        if self.joined_ms is None or not self.await_work("kill", self.fleet.done + self.total * 5 // 100):
            self.skipped.setdefault("kill", "the join before it was skipped")
            return
        victim = self.fleet.nodes[min(1, self.nodes - 1)]
        with self.phase("kill", f"SIGKILL for node {victim.name}"):
            before = self.wait("a quiet moment", 60, lambda: self.settled(self.nodes + 1))
            tokens = {shard["shard"]: shard["token"] for shard in before if shard["owner"] == victim.name}
            victim.kill()
            self.killed = victim
            self.fleet.look()
            self.fleet.forget(victim)
            ready = self.wait(f"its {len(tokens)} shards ready elsewhere", 90, lambda: self.taken_over(victim, tokens))
            self.takeover_ms["kill"] = max(ready) - victim.killed_ms
            self.taken_over_ms = max(ready)
        self.screen.say(f"  its {len(tokens)} shards were ready elsewhere after {self.takeover_ms['kill']} ms")

    def taken_over(self, victim, tokens):
        """When each shard became ready under a later token at another node; None until all are, in the notes and in the store."""
        ready = []
        for shard, token in tokens.items():
            served = self.fleet.server.get(shard)
            if not served or served[0] == victim.name or served[1] <= token:
                return None
            ready.append(served[2])
        return ready if all(shard["state"] == "owned" for shard in self.tenure.shards()) else None

    def finish(self):
        """Until every record is done. The notes count nearly all; what a killed node did not note any more, the data files say."""
        progress = {"done": -1, "at": time.monotonic()}

        def all_done():
            if self.fleet.done != progress["done"]:
                progress.update(done=self.fleet.done, at=time.monotonic())
            stalled = time.monotonic() - progress["at"]
            if stalled > 60 + self.pace:
                raise Failed(f"no record was done for {stalled:.0f} s; {self.screen.figures(self.fleet)}")
            over = time.monotonic() - self.began >= self.pace
            return over and (self.fleet.done >= self.total or stalled > 1) and \
                records.count_done(self.folder, self.shards) >= self.total

        with self.phase("finish", "until every record is done"):
            self.wait("every record done", 10 * self.pace + 600, all_done)
        self.screen.say(f"  {self.total} records done")

    def stop(self):
        with self.phase("stop", "SIGTERM for all nodes"):
            for node in self.fleet.nodes:
                node.leaving = True
            for node in self.fleet.live():
                node.process.terminate()
            self.wait("all nodes to leave", 60, lambda: not self.fleet.live())
        self.fleet.look()


class Stopwatch:
    def __init__(self, took, name):
        self.took, self.name = took, name

    def __enter__(self):
        self.since = time.monotonic()

    def __exit__(self, *failure):
        self.took[self.name] = round(time.monotonic() - self.since, 1)
