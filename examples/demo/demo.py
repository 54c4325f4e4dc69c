#!/usr/bin/env python3
"""A sharded inventory by real processes in two languages, with a join, a kill, a leave and a pause while they work; and an audit.

    python3 examples/demo/demo.py [--build build] [--input FILE.csv --key COLUMN [--no-header]] [--nodes 4] [--shards 256]
                                  [--pace 75] [--lease 15] [--quick]

INPUT, KEY, NODES, SHARDS and PACE in the environment mean the same, and HEADER=no is --no-header. The records are 16 KiB blocks
of the files below /usr, or the rows of a CSV file. Ends with a report on standard output and in BUILD/demo/report.json.
Exit status: 0 when nothing was lost, duplicated or mismatched and every phase kept its promise; 1 when not; 2 for wrong
arguments or input; 130 when interrupted. What a run leaves behind (store, data files, logs, notes) is in BUILD/demo/run-*.
"""
import argparse
import os
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import audit as auditing
import data_folder
import nodes
import overlaps
import phases
import records
import report
import rows
import screen
from run import Run

MOST_RECORDS, QUICK_RECORDS, QUICK_PACE, QUICK_LEASE = 20000, 4000, 22, 3
DRAIN_S, DRAIN_MORE_MS = 30, 20  # how long a leave may take, and how much more a shard


def settings(lease):
    """Brisker than the defaults in what only makes people wait; the lease, and with it the safety, is the default."""
    return ["--hash", "xxh3", "--lease", f"{lease}s", "--settle", "2s", "--cool-down", "5s"]


def count(least, most):
    def read(text):
        if not (text.isascii() and text.isdecimal()) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"'{text}': expected a number from {least} to {most}")
        return int(text)
    return read


def arguments():
    environment = os.environ.get
    parser = argparse.ArgumentParser(description="A sharded inventory, under fire and audited.")
    parser.add_argument("--build", default="build", metavar="DIR", help="where tenure was built (default build)")
    parser.add_argument("--input", default=environment("INPUT") or None, metavar="FILE", help="a CSV file: a record is a row")
    parser.add_argument("--key", default=environment("KEY") or None, metavar="COLUMN", help="its key: a name, or a number from 1")
    parser.add_argument("--no-header", action="store_true", default=environment("HEADER") == "no", help="its first row is a record too")
    parser.add_argument("--nodes", type=count(1, 25), default=environment("NODES") or "4", metavar="N")
    parser.add_argument("--shards", type=count(1, 100000), default=environment("SHARDS") or "256", metavar="N")
    parser.add_argument("--pace", type=count(0, 86400), default=environment("PACE") or None, metavar="S",
                        help="seconds over which the records fall due (default 75; 0: at once, without faults)")
    parser.add_argument("--lease", type=count(2, 3600), metavar="S", help="seconds (default 15)")
    parser.add_argument("--quick", action="store_true",
                        help=f"{QUICK_RECORDS} records over {QUICK_PACE} s, lease {QUICK_LEASE} s")
    given = parser.parse_args()
    if bool(given.input) != bool(given.key):
        parser.error("INPUT and KEY (--input and --key) go together")
    given.pace = given.pace if given.pace is not None else QUICK_PACE if given.quick else 75
    given.lease = given.lease or (QUICK_LEASE if given.quick else 15)
    return given


def need(path):
    if not os.access(path, os.X_OK):
        raise nodes.Failed(f"{path} is not there: build first (`make`)")
    return path


def collect(given):
    """The records. BadInput before anything was made."""
    print(f"collecting records {'of ' + given.input if given.input else 'below /usr'} ...", flush=True)
    if given.input:
        return rows.load(given.input, given.key, not given.no_header)
    found = records.collect(QUICK_RECORDS if given.quick else MOST_RECORDS)
    if not found:
        raise nodes.Failed("there is not one readable file below /usr")
    return found


def make_store(binary, folder, given):
    """A fresh folder with a fresh store in it; elsewhere, when the file system of `folder` is none for a store."""
    place = tempfile.mkdtemp(prefix="run-", dir=folder)
    tenure = nodes.Tenure(binary, f"sqlite:{place}/store.db")
    try:
        tenure.create(given.shards, settings(given.lease))
    except nodes.Failed as failed:
        if failed.status != 5:
            raise
        place = tempfile.mkdtemp(prefix="tenure-demo-")
        print(f"{folder} is on a file system that the store refuses; the data are in {place}\n  ({failed})")
        tenure = nodes.Tenure(binary, f"sqlite:{place}/store.db")
        tenure.create(given.shards, settings(given.lease))
    return tenure, place


def load(tenure, place, found, given):
    """Writes the data files; returns their folder and the records of each shard."""
    by_shard = [[] for _ in range(given.shards)]
    for record, shard in zip(found, tenure.shards_of([record.key for record in found], given.shards)):
        by_shard[shard].append(record)
    data = os.path.join(place, "data")
    os.mkdir(data)
    data_folder.write(data, by_shard, given.pace, lambda path: tenure.run("stamp", "install", path))
    print(f"{len(found)} records on {given.shards} shards are in {data}", flush=True)
    return data, by_shard


def end_all(fleet):
    """Nothing interrupts this."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    fleet.end()


def audit_all(run, by_shard, before):
    in_order = [record for of_shard in by_shard for record in of_shard]
    found = auditing.audit(run.folder, by_shard, before, records.digests(in_order))
    deaths = {pid: at for node in run.fleet.nodes for pid, at in node.deaths.items()}
    stops = [stop for node in run.fleet.nodes for stop in node.stops]
    return found, overlaps.find(run.fleet.notes(), deaths, stops)


def demo(given):
    began = time.monotonic()
    binary = need(os.path.join(given.build, "tenure"))
    need(os.path.join(given.build, "examples", "inventory"))
    found = collect(given)
    folder = os.path.abspath(os.path.join(given.build, "demo"))
    os.makedirs(folder, exist_ok=True)
    tenure, place = make_store(binary, folder, given)
    data, by_shard = load(tenure, place, found, given)
    before = records.digests([record for of_shard in by_shard for record in of_shard])
    drain_limit = f"{DRAIN_S * 1000 + given.shards * DRAIN_MORE_MS}ms"
    fleet = nodes.Fleet(tenure, nodes.workers(given.build, data), place, "--drain-limit", drain_limit)
    run = Run(tenure, fleet, screen.Screen(len(found), given.shards), data, len(found), given)
    try:
        phases.carry_out(run)
    finally:
        end_all(fleet)
    facts = report.facts(run, *audit_all(run, by_shard, before), given.lease * 1000, time.monotonic() - began)
    path = os.path.join(folder, "report.json")
    report.write(path, facts)
    run.screen.clear()
    print(report.text(facts, given.shards, path))
    return 1 if report.failed(facts) else 0


def interrupt(number, frame):
    raise KeyboardInterrupt


def main():
    given = arguments()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        return demo(given)
    except records.BadInput as bad:
        print(f"demo: {bad}", file=sys.stderr)
        return 2
    except nodes.Failed as failed:
        print(f"\ndemo: {failed}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndemo: interrupted; every process it started was ended", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
