"""The processes of the demo: the `tenure` command line, the worker nodes, and what they note."""
import ctypes
import json
import os
import signal
import subprocess
import time

GROUP = "inventory"


class Failed(Exception):
    """The demo cannot go on; the text says why."""

    status = None  # exit status of the command that failed, if one did


def now_ms():
    return time.time_ns() // 1_000_000


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
        lines = self.run("hash", "--algo", "xxh3", "--shards", str(shards), text_in="".join(key + "\n" for key in keys))
        answers = [line.rsplit("\t", 2) for line in lines.splitlines()]
        if [answer[0] for answer in answers] != keys:
            raise Failed("tenure hash did not answer key by key")
        return [int(answer[2]) for answer in answers]

    def ask(self, verb, *options):
        return json.loads(self.run(verb, "--store", self.store, "--group", GROUP, "--json", *options))

    def status(self):
        return self.ask("status")

    def shards(self):
        return self.ask("shards")

    def history(self):
        return self.ask("history", "--limit", "1000000")


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: nobody works on when the demo itself was killed


class Node:
    """A worker process, its log and its notes."""

    def __init__(self, name, command, folder):
        self.name = name
        self.log_path = os.path.join(folder, f"{name}.log")
        self.notes_path = os.path.join(folder, f"{name}.notes")
        self.killed_ms = None  # by us
        self.leaving = False
        self.notes = []
        self.read_to = 0
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([*command, "--node", name, "--notes", self.notes_path],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True, preexec_fn=die_with_parent)

    @property
    def up(self):
        return self.process.poll() is None

    def send(self, number):
        if self.up:
            self.process.send_signal(number)

    def kill(self):
        self.killed_ms = now_ms()
        self.process.kill()

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
        return fresh

    def log_tail(self, lines=15):
        with open(self.log_path, errors="replace") as file:
            return "".join(f"    {line}" for line in file.readlines()[-lines:]) or "    (its log is empty)\n"


class Fleet:
    """All nodes, and what their notes add up to: who serves which shard, and how many records are done."""

    def __init__(self, inventory, store, data_folder, folder):
        self.command = [inventory, "--store", store, "--group", GROUP, "--data", data_folder]
        self.folder = folder
        self.nodes = []
        self.server = {}  # shard -> (node name, token, when it was ready)
        self.done = 0
        self.stale = 0

    def start(self):
        node = Node(chr(ord("A") + len(self.nodes) % 26) + str(len(self.nodes) // 26 or ""), self.command, self.folder)
        self.nodes.append(node)
        return node

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
        if what == "ready" and (not served or served[1] < note["token"]):
            self.server[shard] = (note["node"], note["token"], note["t_ms"])
        elif what in ("released", "lost", "reload", "stale") and served and served[1] == note["token"]:
            del self.server[shard]
        if what == "end":
            self.done += note["done"]
        self.stale += what == "stale"

    def forget(self, node):
        """Of a killed node nothing is served any more, and it cannot note that itself."""
        self.server = {shard: served for shard, served in self.server.items() if served[0] != node.name}

    def notes(self):
        return sorted((note for node in self.nodes for note in node.notes), key=lambda note: note["t_ms"])

    def end(self):
        """Ends every process that was started, also one that is stopped."""
        for node in self.nodes:
            node.send(signal.SIGCONT)
            node.send(signal.SIGKILL)
        for node in self.nodes:
            node.process.wait()


def how_it_ended(code):
    return f"exit status {code}" if code >= 0 else f"by signal {-code} ({signal.Signals(-code).name})"
