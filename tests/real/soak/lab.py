"""A group under fire: agents with the demo's workers in both languages on one store, and the demo's audit over what they did."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "examples/demo"))

import audit
import data_folder
import nodes
import overlaps
import processes
import records

PIECE = 64  # bytes a record
SLOW = 4 if os.environ.get("TENURE_SANITIZED") else 1


class Folder:
    """Where store and data lie: on a small file system of its own where that can be had, so that it can be filled up."""

    def __init__(self, size_mb):
        self.path = tempfile.mkdtemp(prefix="tenure-soak-")
        command = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m", "tmpfs", self.path]
        try:
            self.mounted = size_mb and subprocess.run(command, capture_output=True).returncode == 0
        except OSError:
            self.mounted = False
        self.ballast = os.path.join(self.path, "ballast")

    def fill(self):
        with open(self.ballast, "wb", buffering=0) as file:
            try:
                while file.write(bytes(1 << 16)):
                    pass
            except OSError:
                pass

    def make_room(self):
        if os.path.exists(self.ballast):
            os.unlink(self.ballast)

    def remove(self):
        if self.mounted:
            subprocess.run(["umount", "-l", self.path], capture_output=True)
        shutil.rmtree(self.path, ignore_errors=True)


class Lab:
    """`lease_s` sets the pace of everything; `work_ms` and `inside_ms` of a batch are the workers'."""

    def __init__(self, build, settings, lease_s, *, shards, total, pace, work_ms, inside_ms, size_mb=0):
        self.build, self.shards, self.lease_s, self.total = build, shards, lease_s, total
        self.folder = Folder(size_mb)
        self.notes_folder = tempfile.mkdtemp(prefix="tenure-soak-notes-")  # not on a disk that may be full
        self.data = os.path.join(self.folder.path, "data")
        os.mkdir(self.data)
        self.tenure = nodes.Tenure(os.path.join(build, "tenure"), f"sqlite:{self.folder.path}/store.db")
        self.tenure.create(shards, ["--quarantine-after", "0", *settings])  # innocent deaths are what a soak is made of
        self.load(pace)
        commands = nodes.workers(build, self.data, "--work-ms", str(work_ms), "--inside-ms", str(inside_ms))
        stubborn = str(HERE / "stubborn.py")
        self.commands = {False: commands, True: {kind: [sys.executable, stubborn, *words] for kind, words in commands.items()}}
        self.fleet = nodes.Fleet(self.tenure, commands, self.notes_folder)
        self.survivors = []  # processes that outlived their agent

    def load(self, pace):
        source = os.path.join(self.notes_folder, "source")
        with open(source, "wb") as file:
            for number in range(self.total):
                file.write(f"record {number} ".encode().ljust(PIECE, b"."))
        found = [records.Record(f"key {number}", source, number * PIECE, PIECE) for number in range(self.total)]
        self.by_shard = [[] for _ in range(self.shards)]
        for record, shard in zip(found, self.tenure.shards_of([record.key for record in found], self.shards)):
            self.by_shard[shard].append(record)
        data_folder.write(self.data, self.by_shard, pace, lambda path: self.tenure.run("stamp", "install", path))

    # ---- nodes ----

    def start(self, stubborn=False):
        self.fleet.commands = self.commands[stubborn]
        node = self.fleet.start()
        node.stubborn = stubborn
        node.crashes = []  # when its worker was killed, monotonic: five in a minute would drain the node
        return node

    def live(self):
        return [node for node in self.fleet.nodes if node.up and not node.leaving]

    def wait(self, what, limit_s, condition, look_s=0.02):
        give_up = time.monotonic() + limit_s * SLOW
        while True:
            self.fleet.look()
            found = condition()
            if found:
                return found
            if time.monotonic() > give_up:
                raise TimeoutError(f"not within {limit_s * SLOW} s: {what}; status: {self.status()}")
            time.sleep(look_s)

    def status(self):
        """None when the store cannot say."""
        try:
            return self.tenure.status()
        except nodes.Failed:
            return None

    def whole(self):
        """Every shard is owned by a node that works."""
        status = self.status()
        if not status or status["unowned"]:
            return False
        names = {node.name for node in self.live()}
        try:
            return all(row["state"] == "owned" and row["owner"] in names for row in self.tenure.shards())
        except nodes.Failed:
            return False

    def heal(self):
        self.wait("every shard owned again", 30 + 3 * self.lease_s, self.whole, 0.1)

    def begin(self):
        self.heal()
        data_folder.write_begin(self.data, nodes.boot_ms())

    # ---- the end ----

    def finish(self, limit_s):
        """Nothing more is broken: now all must be done, and all nodes leave."""
        self.heal()
        self.wait("every record done", limit_s, lambda: data_folder.count_done(self.data, self.shards) >= self.total, 0.3)
        for node in self.live():
            node.leaving = True
            node.process.terminate()
        self.wait("all nodes to leave", 60, lambda: not self.fleet.live())
        self.fleet.look()

    def audit(self):
        found = [record for of_shard in self.by_shard for record in of_shard]
        digests = records.digests(found)
        results = audit.audit(self.data, self.by_shard, digests, digests)
        deaths = {pid: at for node in self.fleet.nodes for pid, at in node.deaths.items()}
        stops = [stop for node in self.fleet.nodes for stop in node.stops]
        return results, overlaps.find(self.fleet.notes(), deaths, stops)

    def close(self):
        self.fleet.end()
        processes.end(self.survivors)
        self.folder.remove()
        if os.environ.get("TENURE_KEEP") == "1":
            print(f"# logs and notes are in {self.notes_folder}")
        else:
            shutil.rmtree(self.notes_folder, ignore_errors=True)
