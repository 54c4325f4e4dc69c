#!/usr/bin/env python3
"""A sharded inventory of the files below /usr by real processes, with a join and a kill while they work, and an audit.

    python3 examples/demo/demo.py [--build build] [--nodes 4] [--shards 256] [--pace 75] [--quick]

NODES, SHARDS and PACE in the environment mean the same. Ends with a report on standard output and in BUILD/demo/report.json.
Exit status: 0 when nothing was lost, duplicated or mismatched and every phase took place while work went on; 1 when
not; 2 for wrong arguments; 130 when interrupted. What a run leaves behind (store, data files, logs, notes) is in BUILD/demo/run-*.
"""
import argparse
import os
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import audit as auditing
import nodes
import phases
import records
import report
import screen

LEASE_MS = 15000
# Brisker than the defaults in what only makes people wait; the lease, and with it the safety, is the default.
SETTINGS = ["--hash", "xxh3", "--lease", f"{LEASE_MS}ms", "--settle", "2s", "--cool-down", "5s"]
MOST_RECORDS, QUICK_RECORDS, QUICK_PACE = 20000, 4000, 25


def count(least, most):
    def read(text):
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"'{text}': expected a number from {least} to {most}")
        return int(text)
    return read


def arguments():
    environment = os.environ.get
    parser = argparse.ArgumentParser(description="A sharded inventory of /usr, under fire and audited.")
    parser.add_argument("--build", default="build", metavar="DIR", help="where tenure was built (default build)")
    parser.add_argument("--nodes", type=count(1, 25), default=environment("NODES") or "4", metavar="N")
    parser.add_argument("--shards", type=count(1, 100000), default=environment("SHARDS") or "256", metavar="N")
    parser.add_argument("--pace", type=count(0, 86400), default=environment("PACE") or None, metavar="S",
                        help="seconds over which the records fall due (default 75; 0: at once, without join and kill)")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_RECORDS} records over {QUICK_PACE} s")
    given = parser.parse_args()
    for name in ("INPUT", "KEY"):
        if environment(name):
            parser.error(f"{name}: not in this version; the records are blocks of the files below /usr")
    if given.pace is None:
        given.pace = QUICK_PACE if given.quick else 75
    return given


def need(path):
    if not os.access(path, os.X_OK):
        raise nodes.Failed(f"{path} is not there: build first (`make`)")
    return path


def make_store(binary, folder, shards):
    """A fresh folder with a fresh store in it; elsewhere, when the file system of `folder` is none for a store."""
    place = tempfile.mkdtemp(prefix="run-", dir=folder)
    tenure = nodes.Tenure(binary, f"sqlite:{place}/store.db")
    try:
        tenure.create(shards, SETTINGS)
    except nodes.Failed as failed:
        if failed.status != 5:
            raise
        place = tempfile.mkdtemp(prefix="tenure-demo-")
        print(f"{folder} is on a file system that the store refuses; the data are in {place}\n  ({failed})")
        tenure = nodes.Tenure(binary, f"sqlite:{place}/store.db")
        tenure.create(shards, SETTINGS)
    return tenure, place


def load(tenure, place, given):
    """Collects the records and writes the data files; returns their folder, the records of each shard and the digests."""
    print("collecting records below /usr ...", flush=True)
    blocks = records.collect(QUICK_RECORDS if given.quick else MOST_RECORDS)
    if not blocks:
        raise nodes.Failed("there is not one readable file below /usr")
    by_shard = [[] for _ in range(given.shards)]
    for block, shard in zip(blocks, tenure.shards_of([block.key for block in blocks], given.shards)):
        by_shard[shard].append(block)
    data = os.path.join(place, "data")
    os.mkdir(data)
    before = records.digests(blocks)
    records.write_data_files(data, by_shard, given.pace, lambda path: tenure.run("stamp", "install", path))
    print(f"{len(blocks)} records on {given.shards} shards are in {data}", flush=True)
    return data, by_shard, before


def carry_out(run):
    run.balance()
    run.begin()
    if run.pace:
        run.join()
        run.kill()
    else:
        run.skipped.update(join="not with PACE=0", kill="not with PACE=0")
    run.finish()
    run.stop()


def demo(given):
    began = time.monotonic()
    binary = need(os.path.join(given.build, "tenure"))
    inventory = need(os.path.join(given.build, "examples", "inventory"))
    folder = os.path.abspath(os.path.join(given.build, "demo"))
    os.makedirs(folder, exist_ok=True)
    tenure, place = make_store(binary, folder, given.shards)
    data, by_shard, before = load(tenure, place, given)
    blocks = [block for of_shard in by_shard for block in of_shard]
    fleet = nodes.Fleet(inventory, tenure.store, data, place)
    run = phases.Run(tenure, fleet, screen.Screen(len(blocks), given.shards), data, len(blocks), given.shards, given.nodes,
                     given.pace)
    try:
        carry_out(run)
    finally:
        fleet.end()
    audit = auditing.audit(data, by_shard, before, records.digests(blocks))
    overlaps = auditing.overlaps(fleet.notes(), {node.name: node.killed_ms for node in fleet.nodes if node.killed_ms})
    found = report.facts(run, audit, overlaps, LEASE_MS, time.monotonic() - began)
    path = os.path.join(folder, "report.json")
    report.write(path, found)
    run.screen.clear()
    print(report.text(found, given.shards, path))
    return 1 if report.failed(found) else 0


def interrupt(number, frame):
    raise KeyboardInterrupt


def main():
    given = arguments()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        return demo(given)
    except nodes.Failed as failed:
        print(f"\ndemo: {failed}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndemo: interrupted; every process it started was ended", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
