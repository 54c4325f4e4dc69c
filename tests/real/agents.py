"""`tenure run` as a process, with a worker that notes what it does: for tests."""
import json
import os
import pathlib
import signal
import subprocess

from fleet import boot_ms

WORKER = str(pathlib.Path(__file__).resolve().parent / "workers/worker.py")


class Agent:
    """A node of the fleet; `tricks` are those of workers/worker.py."""

    def __init__(self, fleet, name, *options, tricks=(), command=None, environment=None):
        self.fleet, self.name = fleet, name
        count = len(fleet.nodes)
        self.notes = fleet.folder / f"{name}-{count}.notes"
        self.notes.touch()
        self.log = fleet.folder / f"{name}-{count}.log"
        self.errors = open(self.log, "w")
        words = [str(fleet.build / "tenure"), "run", "--store", fleet.url, "--group", fleet.group, "--node", name, "--log-level", "debug", *options, "--"]
        self.process = subprocess.Popen([*words, *(command or [WORKER, str(self.notes), *tricks])], stdout=self.errors, stderr=self.errors,
                                        stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
        fleet.nodes.append(self)

    def said(self, what=None, **fields):
        """The workers' notes of this kind."""
        notes = []
        for line in self.notes.read_text().splitlines():
            try:
                notes.append(json.loads(line))
            except ValueError:
                continue  # being written
        return [n for n in notes if what in (None, n["what"]) and all(n.get(k) == v for k, v in fields.items())]

    def logged(self, words):
        return [line for line in self.log.read_text(errors="replace").splitlines() if words in line]

    def holds(self):
        held = {}
        for note in self.said():
            if note["what"] == "ready":
                held[note["shard"]] = note["token"]
            elif note["what"] in ("lost", "drain"):
                held.pop(note["shard"], None)
        return held

    def worker(self):
        """Pid of the newest worker process."""
        return self.said("hello")[-1]["pid"]

    def signal(self, number):
        os.kill(self.process.pid, number)
        return boot_ms()

    def stop(self, number=15, limit_s=30):
        self.signal(number)
        return self.process.wait(limit_s)

    def end(self):
        self.process.kill()
        self.process.wait()


def alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def children(parent, name):
    """Pids of the living children of this name."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        state, ppid = text.rsplit(")", 1)[1].split()[:2]
        if int(ppid) == parent and state not in "ZX" and text.split("(", 1)[1].rsplit(")", 1)[0] == name:
            found.append(int(stat.parent.name))
    return found
