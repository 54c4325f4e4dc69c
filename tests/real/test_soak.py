#!/usr/bin/env python3
"""Random faults while agents work through real data files, and then the demo's audit: nothing lost, doubled or wrong, and no two
workers on one shard at one time by their own unprotected notes.

usage: test_soak.py BUILD_DIR     (TENURE_SOAK=1: 100 faults, 20 kills, and a part with the default lease; SEED=N repeats a run)
"""
import os
import pathlib
import random
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "soak"))

from faults import KINDS, Faults, kill_inside
from fleet import SOAK, Report
from lab import SLOW, Lab

BUILD = sys.argv[1]
SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
SMALL = ("--lease", "2s", "--renew", "500ms", "--settle", "200ms", "--cool-down", "0s", "--crash-grace", "300ms")
RECORDS_A_SECOND, DISK_MB = 100, 48


def break_things(lab, dice, count):
    """Every kind in its turn, shuffled again each round; each when so much of the work is done, and some at once, before the
    last is healed."""
    faults, bag = Faults(lab, dice), []
    for number in range(1, count + 1):
        if not bag:
            bag = list(KINDS) + (["fill_disk"] if lab.folder.mounted else [])
            dice.shuffle(bag)
        if dice.random() < 0.7:
            lab.heal()
            share = lab.total * number // (count + 1)
            lab.wait(f"{share} records done", 60, lambda: lab.fleet.done >= share)
        began = time.monotonic()
        print(f"# {number}: {getattr(faults, bag.pop())()} ({time.monotonic() - began:.1f} s)", flush=True)


def judge(report, lab, words):
    results, overlaps = lab.audit()
    for story in (*results.stories, *overlaps.stories):
        print(f"# {story}")
    report.check(results.clean and results.records == lab.total,
                 f"{words}: of {results.records} records {results.lost} lost, {results.duplicated} duplicated, {results.mismatched} mismatched")
    report.check(overlaps.spans > 0 and overlaps.count == 0,
                 f"{words}: {overlaps.count} overlaps in {overlaps.spans} pieces of work; {overlaps.woken_count} with a paused worker's first "
                 f"step, the longest {overlaps.woken_longest_ms:.1f} ms; {lab.fleet.stale} stale writes refused")


def storm(report, words, settings, lease_s, count, seconds_a_fault):
    """The same seed gives the same faults."""
    dice = random.Random(f"{SEED} {words}")
    pace = int(count * seconds_a_fault)
    lab = Lab(BUILD, settings, lease_s, shards=32, total=pace * RECORDS_A_SECOND, pace=pace, work_ms=20, inside_ms=20, size_mb=DISK_MB)
    if not lab.folder.mounted:
        print("skipped: needs the right to mount a tmpfs, to fill up a disk")
    try:
        for number in range(4):
            lab.start(stubborn=number == 3)
        lab.begin()
        break_things(lab, dice, count)
        lab.finish(60 + pace)
        judge(report, lab, words)
    except Exception:
        print(f"# SEED={SEED} repeats this")
        raise
    finally:
        lab.close()


def random_faults_in_the_small_lab(report):
    """Whatever goes wrong, and in whatever order: what was promised about data holds."""
    count = 100 if SOAK else 12
    storm(report, f"{count} random faults, lease 2 s, seed {SEED}", SMALL, 2, count, 3 if SOAK else 2.5)


def workers_killed_inside_their_open_transactions(report):
    """A half-written batch must be undone by whoever comes next, and done once."""
    kills, words = (20, "20 kills inside an open transaction") if SOAK else (8, "8 kills inside an open transaction")
    lab = Lab(BUILD, SMALL, 2, shards=20, total=2000, pace=8, work_ms=20, inside_ms=30)
    try:
        for _ in range(5):
            lab.start()
        lab.begin()
        for number in range(kills):
            kill_inside(lab, lab.fleet.nodes[number % 5])
        lab.finish(60)
        judge(report, lab, words)
        ends = [node.process.returncode for node in lab.fleet.nodes]
        report.check(ends == [0] * 5, f"{words}: no node was lost by it (exit statuses {ends})")
    finally:
        lab.close()


def random_faults_with_the_default_lease(report):
    """The same where everything takes longer."""
    if not SOAK:
        return
    storm(report, f"12 random faults, lease 15 s, seed {SEED}", ("--settle", "1s", "--cool-down", "5s"), 15, 12, 20)


if __name__ == "__main__":
    print(f"# seed {SEED}" + (f", {SLOW} times the patience" if SLOW > 1 else ""), flush=True)
    Report().run(random_faults_in_the_small_lab, workers_killed_inside_their_open_transactions, random_faults_with_the_default_lease)
