"""Real node processes on one store, for tests: starts them, reads what they say, ends them by pid whatever happens."""
import atexit
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SOAK = os.environ.get("TENURE_SOAK") == "1"
SLOW = 4 if os.environ.get("TENURE_SANITIZED") else 1
FACTOR = (1 if SOAK else 3) * SLOW  # protocol bounds are asserted at three times their value outside the soak


def boot_ms():
    return time.clock_gettime(time.CLOCK_BOOTTIME) * 1000


class Node:
    def __init__(self, fleet, name, *extra, args=(), stdin=subprocess.DEVNULL):
        self.fleet, self.name = fleet, name
        self.events, self.lock = [], threading.Lock()
        self.started_ms = boot_ms()
        self.errors = open(fleet.folder / f"{name or 'anonymous'}-{len(fleet.nodes)}.log", "w")
        command = [str(fleet.build / "tests/lab_node"), fleet.url, fleet.group, name, *extra, *args]
        self.process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        fleet.nodes.append(self)

    def _read(self):
        for line in self.process.stdout:
            with self.lock:
                self.events.append(json.loads(line))

    def said(self, what=None):
        with self.lock:
            return [e for e in self.events if what is None or e["what"] == what]

    def holds(self):
        """Shards that the node says it serves, with their tokens."""
        held = {}
        for event in self.said():
            if event["what"] == "ready":
                held[event["shard"]] = event["token"]
            elif event["what"] in ("lost", "drain"):
                held.pop(event["shard"], None)
        return held

    def signal(self, number):
        os.kill(self.process.pid, number)
        return boot_ms()

    def wait(self, limit_s=60):
        code = self.process.wait(limit_s)
        self.reader.join(5)
        return code


class Fleet:
    def __init__(self, build, *settings, shards=256, group="orders", folder=None):
        self.build, self.group = pathlib.Path(build), group
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="tenure-test-"))
        self.store = self.folder / "store.db"
        self.url = f"sqlite:{self.store}"
        self.nodes, self.shards = [], shards
        atexit.register(self.close)
        # Tests kill more than a real fleet sees; quarantine has tests of its own.
        self.cli("group", "create", group, "--shards", str(shards), "--quarantine-after", "0", *settings)

    def cli(self, *words, code=0):
        store = [] if words[0] == "stamp" else ["--store", self.url]
        done = subprocess.run([str(self.build / "tenure"), *words, *store], capture_output=True, text=True, timeout=60)
        if code is not None and done.returncode != code:
            raise RuntimeError(f"tenure {' '.join(words)}: exit {done.returncode}: {done.stderr}")
        return done

    def json(self, *words):
        return json.loads(self.cli(*words, "--group", self.group, "--json").stdout)

    def start(self, name, *args):
        return Node(self, name, args=args)

    def until(self, condition, limit_s, words):
        """Waits for a condition; how long it took in ms."""
        began = boot_ms()
        while not condition():
            if boot_ms() - began > limit_s * 1000:
                raise TimeoutError(f"not within {limit_s} s: {words}")
            time.sleep(0.005)
        return boot_ms() - began

    def holders(self, nodes):
        return {name: len(node.holds()) for name, node in ((n.name, n) for n in nodes)}

    def balanced(self, nodes):
        counts = [len(node.holds()) for node in nodes]
        return sum(counts) == self.shards and max(counts) - min(counts) <= 1

    def wait_balanced(self, nodes, limit_s=30):
        return self.until(lambda: self.balanced(nodes), limit_s * SLOW, f"{len(nodes)} nodes balanced: {[len(n.holds()) for n in nodes]}")

    def taken_over(self, shards, after_ms, nodes):
        """The boot time at which the last of `shards` became ready on one of `nodes` after the instant, or None."""
        last = {}
        for node in nodes:
            for event in node.said("ready"):
                if event["shard"] in shards and event["t"] > after_ms:
                    last[event["shard"]] = min(event["t"], last.get(event["shard"], event["t"]))
        return max(last.values()) if len(last) == len(shards) and last else None

    def close(self):
        for node in self.nodes:
            if node.process.poll() is None:
                os.kill(node.process.pid, signal.SIGCONT)
                node.process.kill()
                node.process.wait()
            node.errors.close()
        self.nodes = []
        if os.environ.get("TENURE_KEEP") != "1":
            shutil.rmtree(self.folder, ignore_errors=True)


class Report:
    """Counts checks; prints one line each."""

    def __init__(self):
        self.failed = 0

    def check(self, good, sentence):
        print(("ok - " if good else "not ok - ") + sentence, flush=True)
        self.failed += not good

    def run(self, *tests):
        for test in tests:
            if sys.argv[2:] and test.__name__ not in sys.argv[2:]:
                continue
            try:
                test(self)
            except Exception as fault:  # a test that cannot go on has failed; the others still run
                self.check(False, f"{test.__name__}: {type(fault).__name__}: {fault}")
        sys.exit(1 if self.failed else 0)
