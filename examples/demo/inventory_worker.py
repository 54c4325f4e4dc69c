#!/usr/bin/env python3
"""The demo's worker in Python, with nothing but the standard library: what inventory.c is in C.

    tenure run --group G --node ID -- inventory_worker.py --data DIR [--work-ms 100] [--batch 64] [--notes FILE] [--inside-ms 0]

One thread does everything by turns: first whatever lines wait, then one batch of one shard. A batch is: gate, read,
compute, visible work time, then one fenced transaction of results and progress.
"""
import argparse
import hashlib
import json
import os
import resource
import select
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "workers"))

from data_files import DataFiles, Failed, Stale, Unknown
from gate_page import GatePage

IDLE_MS, AGAIN_MS, AGAIN_CLOSED_MS, SAVE_EVERY_MS = 50, 250, 20, 1000
MOST_FILES, DESCRIPTORS_A_FILE, DESCRIPTORS_ELSE = 1024, 2, 64


def boot_ms():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) / 1e6


def digest(path, offset, length):
    """As digest.c has it: hex digits, or "unreadable" when the piece is not there as a whole."""
    sha, left = hashlib.sha256(), length
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            while left:
                some = os.pread(fd, min(left, 1 << 20), offset + length - left)
                if not some:
                    return "unreadable"
                sha.update(some)
                left -= len(some)
        finally:
            os.close(fd)
    except OSError:
        return "unreadable"
    return sha.hexdigest()


class Shard:
    """In the hands of this node. `next_seq` None: the stamp is not raised yet. `due_ms` None: there is no further record."""

    def __init__(self, token):
        self.token = token
        self.next_seq = self.due_ms = None
        self.not_before_ms = 0


class Worker:
    def __init__(self, options):
        self.options = options
        self.group, self.node = os.environ["TENURE_GROUP"], os.environ["TENURE_NODE"]
        self.gate = GatePage()
        self.files = DataFiles(options.data, self.group, files_allowed())
        self.notes = os.open(options.notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644) if options.notes else None
        self.shards = {}
        self.turn = 0  # the shard that comes next
        self.begin_ms = None
        self.saved_ms = 0
        self.unread = b""

    # ---- what it says ----

    def note(self, what, number=0, token=0, done=0):
        """Outside any protection, for the audit; notes.h has the meaning of each."""
        if self.notes is None:
            return
        line = json.dumps({"t_ms": round(boot_ms(), 3), "pid": os.getpid(), "node": self.node, "shard": number, "token": token,
                           "what": what, "done": done}) + "\n"
        try:
            os.write(self.notes, line.encode())
        except OSError:
            pass  # a full disk must not stop the work

    def say(self, event, number, token, **more):
        sys.stdout.write(json.dumps({"event": event, "shard": number, "token": token, **more}) + "\n")
        sys.stdout.flush()

    def complain(self, what, why):
        print(f"{self.node}: {what}: {why}", file=sys.stderr, flush=True)

    # ---- lines ----

    def live(self):
        wait_ms = 0
        self.note("hello")
        while True:
            for line in self.lines(wait_ms):
                if line is None or line["event"] == "shutdown":
                    return
                if "shard" in line:
                    self.on_shard(line["event"], line["shard"], line["token"])
            wait_ms = self.take_turn()

    def lines(self, wait_ms):
        """What has come; None at the end of input: the agent is gone."""
        if not select.select([0], [], [], wait_ms / 1000)[0]:
            return []
        some = os.read(0, 1 << 20)
        *whole, self.unread = (self.unread + some).split(b"\n")
        return [json.loads(line) for line in whole] + ([] if some else [None])

    def on_shard(self, event, number, token):
        mine = self.shards.get(number)
        current = mine is not None and mine.token == token
        if event == "assigned":
            self.shards[number] = Shard(token)
            self.note("assigned", number, token)
            self.restore(number)
        elif event == "prepare":
            self.say("prepared", number, token)  # there is nothing to warm up
        elif event == "drain" and current:
            self.give_back(number)
        elif event == "lost":
            self.note("lost", number, token)
            if current:
                self.drop(number)

    # ---- a shard comes and goes ----

    def restore(self, number):
        """Raise the stamp, then read, then say ready: in this order nothing that an earlier owner still writes can be missed."""
        shard = self.shards[number]
        try:
            self.files.raise_stamp(number, shard.token)
            shard.next_seq, shard.due_ms = self.files.progress(number)
        except Stale:
            self.note("stale_raise", number, shard.token)
            self.drop(number)  # somebody later has it: `lost` is on its way
        except (Failed, Unknown) as failed:  # raising twice does no harm
            self.complain("restore", failed)
            shard.next_seq, shard.not_before_ms = None, boot_ms() + AGAIN_MS
        else:
            self.note("ready", number, shard.token)
            self.say("ready", number, shard.token)

    def give_back(self, number):
        """No batch is under way when lines are read: what is left is to save."""
        shard = self.shards[number]
        self.note("drain", number, shard.token)
        if shard.next_seq is not None:
            self.save(number, shard)
        self.note("released", number, shard.token)
        self.say("released", number, shard.token)
        self.drop(number)

    def drop(self, number):
        self.shards.pop(number, None)
        self.files.close(number)

    def save(self, number, shard):
        """For people and for other programs: the truth is in the data file."""
        self.say("checkpoint", number, shard.token, data=f"next_seq={shard.next_seq}")
        self.saved_ms = boot_ms()

    def reload(self, number, token):
        """After a write that may or may not have happened: `assigned` comes again, under a raised token."""
        self.note("reload", number, token)
        self.say("reload", number, token)
        self.drop(number)

    # ---- turns ----

    def look_for_begin(self):
        """The demo writes the begin once every shard is served."""
        try:
            with open(os.path.join(self.options.data, "begin")) as file:
                self.begin_ms = float(file.read())
        except OSError:
            pass

    def next_ms(self, shard):
        """When the shard has something to do; None: not as things stand."""
        if shard.next_seq is None:
            return shard.not_before_ms
        if self.begin_ms is None or shard.due_ms is None:
            return None
        return max(self.begin_ms + shard.due_ms, shard.not_before_ms)

    def take_turn(self):
        """One turn of one shard, the next in the circle that has something to do. Returns how long to wait for lines."""
        if self.begin_ms is None:
            self.look_for_begin()
        now_ms, soonest_ms = boot_ms(), IDLE_MS
        for number in sorted(self.shards, key=lambda number: (number < self.turn, number)):
            at_ms = self.next_ms(self.shards[number])
            if at_ms is not None and at_ms <= now_ms:
                self.turn = number + 1
                (self.restore if self.shards[number].next_seq is None else self.work)(number)
                return 0
            if at_ms is not None:
                soonest_ms = min(soonest_ms, at_ms - now_ms)
        return soonest_ms

    # ---- a batch ----

    def work(self, number):
        """One step of work begins only where the gate says yes; from there on the fence protects it, not the gate."""
        shard = self.shards[number]
        if not self.gate.open(number, shard.token):
            shard.not_before_ms = boot_ms() + AGAIN_CLOSED_MS  # a line says why, or it opens soon
            return
        self.note("start", number, shard.token)
        done, failure = 0, None
        try:
            done = self.batch(number, shard)
        except (Stale, Failed, Unknown) as error:
            failure = error
        self.note("end", number, shard.token, done)  # before the shard may go to another
        self.after_batch(number, shard, failure)

    def batch(self, number, shard):
        due = self.files.due(number, shard.next_seq, boot_ms() - self.begin_ms, self.options.batch)
        if not due:
            return 0
        results = [(seq, key, digest(path, offset, length)) for seq, key, path, offset, length in due]
        self.note("computed", number, shard.token)
        time.sleep(self.options.work_ms / 1000)
        self.files.store(number, self.node, shard.token, results, int(boot_ms()), lambda: self.inside(number, shard))
        shard.next_seq = results[-1][0] + 1
        try:
            shard.next_seq, shard.due_ms = self.files.progress(number)
        except Failed as failed:  # what was committed stays committed
            self.complain("progress", failed)
            shard.due_ms = 0
        return len(results)

    def inside(self, number, shard):
        """The transaction stays open for a while, for those who want to hit it there."""
        if self.options.inside_ms:
            self.note("inside", number, shard.token)
            time.sleep(self.options.inside_ms / 1000)

    def after_batch(self, number, shard, failure):
        if failure is None:
            if boot_ms() - self.saved_ms >= SAVE_EVERY_MS:
                self.save(number, shard)
            return
        self.complain("batch", failure)
        if isinstance(failure, Stale):
            self.note("stale", number, shard.token)
            self.say("rejected", number, shard.token)
            self.drop(number)
        elif isinstance(failure, Unknown):
            self.reload(number, shard.token)
        else:
            shard.not_before_ms = boot_ms() + AGAIN_MS


def files_allowed():
    """As many data files as the limit on open files lets us have, and raises that first."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard == resource.RLIM_INFINITY:
        return MOST_FILES
    return max(1, min(MOST_FILES, (hard - DESCRIPTORS_ELSE) // DESCRIPTORS_A_FILE))


def main():
    parser = argparse.ArgumentParser(description="The demo's worker, to be run by `tenure run`.")
    parser.add_argument("--data", required=True, metavar="DIR")
    parser.add_argument("--notes", metavar="FILE")
    parser.add_argument("--work-ms", type=int, default=100, metavar="N")
    parser.add_argument("--inside-ms", type=int, default=0, metavar="N")
    parser.add_argument("--batch", type=int, default=64, metavar="N")
    options = parser.parse_args()
    if "TENURE_GATE" not in os.environ:
        parser.error("no agent: run it under `tenure run --group G -- inventory_worker.py ...`")
    Worker(options).live()


if __name__ == "__main__":
    main()
