"""What can go wrong, one function a fault: each breaks something, mends it, and says in words what it did."""
import signal
import subprocess
import sys
import time

from lab import data_folder, nodes, processes

LEAST_NODES, MOST_NODES, CRASHES, MINUTE_S = 3, 5, 3, 60

LOCKER = """
import sqlite3, sys, time
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=5)
db.execute('begin immediate'); print('locked', flush=True); time.sleep(float(sys.argv[2])); db.execute('rollback')
"""


class Faults:
    """`random` decides everything; the same seed breaks the same things, though not at the same instant."""

    def __init__(self, lab, random):
        self.lab, self.random = lab, random

    # ---- whom it hits ----

    def victim(self, fits=lambda node: True):
        """A live node that has work, and not the last of a small group."""
        self.lab.wait("a node that it can hit", 60, lambda: self.fitting(fits))
        return self.random.choice(self.fitting(fits))

    def fitting(self, fits):
        serving = {served[0] for served in self.lab.fleet.server.values()}
        return [node for node in self.lab.live() if node.name in serving and not processes.gone(node.workers[-1]) and fits(node)]

    def can_crash(self, node):
        """Five crashes of a worker within a minute would drain its node."""
        node.crashes = [at for at in node.crashes if time.monotonic() - at < MINUTE_S]
        return len(node.crashes) < CRASHES

    def replace(self):
        """The group stays large enough to go on."""
        while len(self.lab.live()) < LEAST_NODES + 1:
            self.lab.start(stubborn=not any(node.stubborn for node in self.lab.live()))

    def some_time(self, least, most):
        """In leases."""
        return self.random.uniform(least, most) * self.lab.lease_s

    # ---- faults ----

    def kill_agent(self):
        node = self.victim(lambda node: not node.stubborn)
        node.kill_agent()
        self.lab.fleet.look()
        self.lab.fleet.forget(node.name)
        self.replace()
        return f"SIGKILL for the agent of {node.name}"

    def kill_worker(self):
        node = self.victim(self.can_crash)
        kill_worker(node)
        return f"SIGKILL for the worker of {node.name}"

    def kill_inside(self):
        node = self.victim(self.can_crash)
        tries = kill_inside(self.lab, node)
        return f"SIGKILL for the worker of {node.name} inside its open transaction ({tries} tries)"

    def stop_node(self):
        node, seconds = self.victim(), self.some_time(0.2, 1.7)
        node.stop()
        time.sleep(seconds)
        node.go_on()
        return f"SIGSTOP for {node.name} for {seconds:.1f} s"

    def stop_node_inside(self):
        node, seconds = self.victim(), self.some_time(1.1, 1.7)
        catch_inside(self.lab, node, node.stop)
        time.sleep(seconds)
        node.go_on()
        return f"SIGSTOP for {node.name} inside its open transaction for {seconds:.1f} s"

    def stop_worker_inside(self):
        node, seconds = self.victim(), self.some_time(0.2, 1.2)
        catch_inside(self.lab, node, lambda: node.stop([node.workers[-1]]))
        time.sleep(seconds)
        node.go_on()
        return f"SIGSTOP for the worker of {node.name} inside its open transaction for {seconds:.1f} s"

    def join(self):
        node = self.lab.start(stubborn=self.random.random() < 0.3)
        if len(self.lab.live()) > MOST_NODES:
            return f"{node.name} joins; " + self.leave()
        return f"{node.name} joins"

    def leave(self):
        self.replace()
        node = self.victim()
        node.leaving = True
        node.process.terminate()
        self.lab.wait(f"{node.name} to leave", 60, lambda: not node.up)
        return f"SIGTERM for {node.name}"

    def lock_store(self):
        seconds = self.some_time(0.2, 1.7)
        path = self.lab.tenure.store.split(":", 1)[1]
        subprocess.run([sys.executable, "-c", LOCKER, path, str(seconds)], stdout=subprocess.DEVNULL, check=True)
        return f"the store file locked for {seconds:.1f} s"

    def prune(self):
        """The timeline is cut short under everybody's feet."""
        keep = self.random.randrange(50)
        self.lab.tenure.run("store", "prune", "--store", self.lab.tenure.store, "--keep", str(keep))
        return f"the history pruned to its newest {keep} events"

    def outlive(self):
        """The agent is killed and its worker is not: nobody may take over before the worker's gate is closed."""
        if not any(node.stubborn for node in self.lab.live()):
            self.lab.start(stubborn=True)
        node = self.victim(lambda node: node.stubborn)
        survivors = [pid for pid in processes.descendants(node.process.pid)]
        worker = node.workers[-1]
        node.killed_ms = nodes.boot_ms()
        node.process.kill()
        node.process.wait()
        self.lab.survivors += survivors
        self.replace()
        self.lab.heal()
        if processes.gone(worker):
            raise AssertionError(f"the worker of {node.name} did not outlive its agent")
        self.lab.fleet.look()
        late = max((note["t_ms"] for note in node.notes if note["what"] == "start"), default=0) - node.killed_ms
        processes.end(survivors)
        node.deaths[worker] = nodes.boot_ms()
        return f"SIGKILL for the agent of {node.name}, its worker lives on; its last batch began {late:+.0f} ms after the kill"

    def fill_disk(self):
        seconds = self.some_time(0.2, 1.5)
        self.lab.folder.fill()
        time.sleep(seconds)
        self.lab.folder.make_room()
        return f"the disk full for {seconds:.1f} s"


KINDS = ("kill_agent", "kill_worker", "kill_inside", "stop_node", "stop_node_inside", "stop_worker_inside", "join", "leave",
         "lock_store", "prune", "outlive", "kill_agent")


def last_note(node):
    return node.notes[-1]["what"] if node.notes else ""


def kill_worker(node):
    """Returns its pid when it is gone."""
    worker = node.workers[-1]
    node.crashes.append(time.monotonic())
    processes.send([worker], signal.SIGKILL)
    processes.wait(lambda: processes.gone(worker), 10)
    node.deaths[worker] = nodes.boot_ms()
    return worker


def catch_inside(lab, node, strike):
    """Strikes until the worker was inside its open transaction at that moment, and the data file is locked; the number of tries."""
    seen = 0  # a note that was struck at counts no more
    for tries in range(1, 51):
        lab.wait(f"{node.name} inside a transaction", 30, lambda: len(node.notes) > seen and last_note(node) == "inside", 0.002)
        strike()
        lab.fleet.look()
        if last_note(node) == "inside" and data_folder.is_locked(lab.data, node.notes[-1]["shard"]):
            return tries
        seen = len(node.notes)
        node.go_on()
    raise AssertionError(f"{node.name} could not be caught inside a transaction")


def kill_inside(lab, node):
    """Stopped first, so that it is certain where it was; then killed."""
    tries = catch_inside(lab, node, lambda: node.stop([node.workers[-1]]))
    kill_worker(node)
    node.stopped = []
    return tries
