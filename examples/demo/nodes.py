"""The nodes of the demo: the `tenure` command line, an agent with its worker a node, and what the workers note."""
import ctypes
import json
import os
import signal
import subprocess
import sys
import time

import processes

GROUP = "inventory"


class Failed(Exception):
    """The demo cannot go on; the text says why."""

    status = None  # exit status of the command that failed, if one did


def boot_ms():
    """The clock of the notes."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) / 1e6


class Tenure:
    """The command line on one store. Every failure is a Failed with its words."""

    def __init__(self, binary, store):
        self.binary, self.store = binary, store

    def run(self, *arguments, text_in=None):
        done = subprocess.run([self.binary, *arguments], input=text_in, capture_output=True, text=True)
        if done.returncode:
            failed = Failed(f"tenure {' '.join(arguments[:2])}: exit status {done.returncode}: {done.stderr.strip()}")
            failed.status = done.returncode
            raise failed
        return done.stdout

    def create(self, shards, settings):
        self.run("group", "create", GROUP, "--store", self.store, "--shards", str(shards), *settings)

    def shards_of(self, keys, shards):
        """A key may be any text, with line ends and all: requests and answers are JSON lines."""
        requests = "".join(json.dumps({"algo": "xxh3", "shards": shards, "key": key}) + "\n" for key in keys)
        answers = [json.loads(line) for line in self.run("hash", "--batch", text_in=requests).splitlines()]
        wrong = [answer for answer in answers if "shard" not in answer]
        if wrong or len(answers) != len(keys):
            raise Failed(f"tenure hash did not answer key by key: {wrong[:1]}")
        return [answer["shard"] for answer in answers]

    def ask(self, verb, *options):
        return json.loads(self.run(verb, "--store", self.store, "--group", GROUP, "--json", *options))

    def status(self):
        return self.ask("status")

    def shards(self):
        return self.ask("shards")

    def history(self):
        return self.ask("history", "--limit", "1000000")


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: nobody works on when the demo itself was killed


class Node:
    """An agent with its worker, their log, and the worker's notes. `kind` says what the worker is written in."""

    def __init__(self, name, kind, agent, worker, folder):
        self.name, self.kind = name, kind
        self.log_path = os.path.join(folder, f"{name}.log")
        self.notes_path = os.path.join(folder, f"{name}.notes")
        self.killed_ms = None  # by us
        self.leaving = False
        self.stopped = []  # processes that stand still, by us
        self.stopped_ms = self.still_ms = None
        self.stops = []  # (pid, from, to) of those that went on again
        self.deaths = {}  # pid of a worker -> when it was seen gone
        self.workers = []  # pids of its workers, the newest last
        self.notes = []
        self.read_to = 0
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([*agent, "--node", name, "--", *worker, "--notes", self.notes_path],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True, preexec_fn=die_with_parent)

    @property
    def up(self):
        return self.process.poll() is None

    def family(self):
        """Its processes, the worker first and the agent last."""
        below = processes.descendants(self.process.pid)
        return sorted(below, key=lambda pid: pid not in self.workers) + [self.process.pid]

    def kill_agent(self):
        """The agent alone. What the worker still does counts until it is gone."""
        below = processes.descendants(self.process.pid)
        self.killed_ms = boot_ms()
        self.process.kill()
        self.process.wait()
        processes.wait(lambda: all(map(processes.gone, below)), 10)
        self.deaths.update(dict.fromkeys(self.workers[-1:], boot_ms()))

    def stop(self, pids=()):
        """SIGSTOP for all of it, or for the given processes. They did nothing from `still_ms` on."""
        self.stopped, self.stopped_ms = pids or self.family(), boot_ms()
        processes.stop(self.stopped)
        self.still_ms = boot_ms()

    def go_on(self):
        went_on_ms = boot_ms()
        self.stops += [(pid, self.still_ms, went_on_ms) for pid in self.stopped]
        processes.send(self.stopped, signal.SIGCONT)
        self.stopped = []

    def end(self):
        """Whatever it is doing."""
        processes.end([*self.stopped, *(self.family() if self.up else [])])
        self.process.wait()

    def read_notes(self):
        """The notes that came since the last call."""
        try:
            with open(self.notes_path, "rb") as file:
                file.seek(self.read_to)
                text = file.read()
        except FileNotFoundError:
            return []
        whole = text.rfind(b"\n") + 1  # a line may be half written
        self.read_to += whole
        fresh = [json.loads(line) for line in text[:whole].splitlines()]
        self.notes += fresh
        self.workers += [note["pid"] for note in fresh if note["what"] == "hello"]
        return fresh

    def log_tail(self, lines=15):
        with open(self.log_path, errors="replace") as file:
            return "".join(f"    {line}" for line in file.readlines()[-lines:]) or "    (its log is empty)\n"


def workers(build, data_folder, *options):
    """Kind of worker -> the command."""
    here = os.path.dirname(os.path.abspath(__file__))
    common = ["--data", data_folder, *options]
    return {"c": [os.path.join(build, "examples", "inventory"), *common],
            "python": [sys.executable, os.path.join(here, "inventory_worker.py"), *common]}


class Fleet:
    """All nodes, and what their notes add up to: who serves which shard, and how many records are done."""

    def __init__(self, tenure, commands, folder, *options):
        self.agent = [tenure.binary, "run", "--store", tenure.store, "--group", GROUP, *options]
        self.commands, self.folder = commands, folder
        self.nodes = []
        self.server = {}  # shard -> (node name, token, when it was ready)
        self.done = 0
        self.stale = 0

    def start(self):
        """Every second node has a Python worker."""
        count = len(self.nodes)
        kind = "python" if count % 2 else "c"
        name = chr(ord("A") + count % 26) + str(count // 26 or "")
        self.nodes.append(Node(name, kind, self.agent, self.commands[kind], self.folder))
        return self.nodes[-1]

    def live(self):
        return [node for node in self.nodes if node.up]

    def look(self):
        """Reads the notes; a node that ended without being told to is a failure."""
        for node in self.nodes:
            for note in node.read_notes():
                self.take(note)
        for node in self.nodes:
            if not node.up and node.killed_ms is None and not node.leaving:
                raise Failed(f"node {node.name} ended by itself, {how_it_ended(node.process.returncode)}; "
                             f"the end of its log:\n{node.log_tail()}")

    def take(self, note):
        shard, what = note["shard"], note["what"]
        served = self.server.get(shard)
        if what == "hello":
            self.forget(note["node"])
        elif what == "ready" and (not served or served[1] < note["token"]):
            self.server[shard] = (note["node"], note["token"], note["t_ms"])
        elif what in ("released", "lost", "reload", "stale") and served and served[1] == note["token"]:
            del self.server[shard]
        if what == "end":
            self.done += note["done"]
        self.stale += what == "stale"

    def forget(self, name):
        """Of a node that is gone or stands still nothing is served, and it cannot note that itself."""
        self.server = {shard: served for shard, served in self.server.items() if served[0] != name}

    def notes(self):
        return sorted((note for node in self.nodes for note in node.notes), key=lambda note: note["t_ms"])

    def end(self):
        """Ends every process that was started, also those that stand still."""
        for node in self.nodes:
            node.end()


def how_it_ended(code):
    return f"exit status {code}" if code >= 0 else f"by signal {-code} ({signal.Signals(-code).name})"
