#!/usr/bin/env python3
"""The demo itself, in its short form: every phase, the audit, the report, and what it says to bad input.

usage: test_demo.py BUILD_DIR
"""
import csv
import hashlib
import io
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
DEMO = pathlib.Path(__file__).resolve().parents[2] / "examples/demo"
sys.path.insert(0, str(DEMO))

import audit
import data_files
import data_folder
import overlaps
import records
import rows
from fleet import SLOW, Report

BUILD = pathlib.Path(sys.argv[1]).resolve()
PHASES = ["balance", "join", "kill", "leave", "pause", "rejoin", "finish", "stop"]


class Place:
    """A build folder of the demo's own, so that it leaves the real one's report alone."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="tenure-demo-test-"))
        (self.path / "tenure").symlink_to(BUILD / "tenure")
        (self.path / "examples").symlink_to(BUILD / "examples")
        return self

    def __exit__(self, *failure):
        shutil.rmtree(self.path, ignore_errors=True)

    def start(self, *arguments, **environment):
        words = [sys.executable, str(DEMO / "demo.py"), "--build", str(self.path), *arguments]
        clean = {name: value for name, value in os.environ.items() if name not in ("INPUT", "KEY", "HEADER", "NODES", "SHARDS", "PACE")}
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**clean, **environment})

    def run(self, *arguments, **environment):
        """Exit status, output, errors."""
        process = self.start(*arguments, **environment)
        out, errors = process.communicate(timeout=300 * SLOW)
        return process.returncode, out, errors

    def report(self):
        return json.loads((self.path / "demo/report.json").read_text())

    def processes(self):
        """Of anybody, with this folder in their command line."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = pathlib.Path(f"/proc/{name}/cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if str(self.path) in words:
                found.append(int(name))
        return found


def the_short_demo_keeps_every_promise(report):
    """If the demo does not hold in front of a sceptic, nothing else will be looked at."""
    with Place() as place:
        status, out, errors = place.run("--quick", *(["--pace", "90"] if SLOW > 1 else []))
        report.check(status == 0, f"it ends with exit status {status} {errors.strip()}")
        if status:
            print(out)
            return
        found = place.report()
        done = [phase["name"] for phase in found["phases"] if phase["state"] == "done"]
        report.check(done == PHASES, f"its phases: {' '.join(done)}")
        report.check(found["records"] == found["processed"] == 4000 and not found["lost"] + found["duplicated"] + found["mismatched"],
                     f"{found['processed']} of {found['records']} records, none lost, duplicated or mismatched")
        report.check(found["stale_rejected"] >= 1, f"{found['stale_rejected']} stale writes refused")
        report.check(found["scale_out"] == {"moved": 51, "max_in_flight": found["scale_out"]["max_in_flight"]}
                     and 1 <= found["scale_out"]["max_in_flight"] <= 5, f"scale out: {found['scale_out']}")
        report.check(found["overlaps"]["count"] == 0, f"overlaps: {found['overlaps']}")
        report.check(all(isinstance(found["takeover_ms"][name], int) for name in ("kill", "pause")), f"takeover: {found['takeover_ms']} ms")
        kinds = {worker["kind"] for worker in found["workers"] if worker["records"] and not worker["killed"]}
        report.check(kinds == {"c", "python"}, "workers in both languages worked to the end")
        report.check(not place.processes(), "no process is left")


CSV = ('\ufeffid,"na, me",note\r\n1,王小明,plain\r\n2,"王小明","two\r\nlines"\r\n3,"a ""quoted"" one",\r\n4,x,"日本\n語, ""and"" more"\r\n').encode()


def rows_of_a_csv_file_are_records(report):
    """The same text by Python's csv module; the pieces are the file itself."""
    with Place() as place:
        path = place.path / "in.csv"
        path.write_bytes(CSV)
        expected = list(csv.reader(io.StringIO(CSV.decode("utf-8-sig"), newline="")))[1:]
        for key, column in (("na, me", 1), ("2", 1), ("id", 0)):
            found = rows.load(str(path), key)
            report.check([record.key for record in found] == [row[column] for row in expected], f"KEY={key}: as Python's csv module has it")
        pieces = [CSV[record.offset:record.offset + record.length] for record in found]
        report.check(CSV.endswith(b"".join(piece + b"\r\n" for piece in pieces)), "a row's bytes are those of the file, without the line end")
        report.check(records.digests(found) == [hashlib.sha256(piece).hexdigest() for piece in pieces], "and their SHA-256 is its work")
        status, out, errors = place.run("--nodes", "2", "--shards", "16", PACE="0", INPUT=str(path), KEY="na, me")
        found = place.report()
        report.check(status == 0 and found["records"] == found["processed"] == 4, f"the demo on it, PACE=0: exit status {status} {errors}")
        why = {phase["name"]: phase.get("why") for phase in found["phases"]}
        report.check(why["pause"] == "not with PACE=0", "the phases that do not apply are named")


def bad_input_is_refused_with_its_place(report):
    """Whoever has a file of 100,000 rows needs the line."""
    cases = [(b"a,b\n1,2\n,3\n", "a", ":3: the key (column 1) is empty"), (b"a,b\r\n1,2\r\n4\r\n", "b", ":3: there is no column 2"),
             (b"a,b\n1,2\n", "c", ":1: there is no column 'c'"), (b"a,b\n1,2\n", "3", ":1: there is no column 3"),
             (b'a,b\n"x\ny",2\n"",z\n', "1", ":4: the key"), (b'a,b\n1,"2\n3', "b", ":2: a quotation mark is never closed"),
             (b"a\n\xff\n", "a", ":2: the key (column 1) is not UTF-8"), (b"a,b\n1,2\n", "0", ":1: there is no column '0'")]
    with Place() as place:
        path = place.path / "bad.csv"
        for text, key, words in cases:
            path.write_bytes(text)
            try:
                said = f"accepted: {rows.load(str(path), key)}"
            except records.BadInput as bad:
                said = str(bad)
            report.check(said.startswith(f"{path}{words}"), f"{text!r} by {key}: {said.removeprefix(str(place.path))}")
        status, out, errors = place.run(INPUT=str(path), KEY="0")
        report.check(status == 2 and f"{path}:1: there is no column '0'" in errors, f"the demo says it with exit status {status}")
        for environment in ({"INPUT": str(path)}, {"INPUT": "/nothing/there", "KEY": "1"}, {"NODES": "0"}, {"PACE": "x"}):
            status, out, errors = place.run(**environment)
            report.check(status == 2 and errors.strip() != "", f"{environment.keys() & {'INPUT', 'KEY', 'NODES', 'PACE'}}: exit status {status}")


def an_interrupt_ends_every_process(report):
    """Ctrl-C, also while a node stands still, must leave nothing behind."""
    with Place() as place:
        process = place.start("--quick", "--nodes", "2", "--shards", "16")
        for line in process.stdout:
            if "fall due" in line:
                break
        running = [pid for pid in place.processes() if pid != process.pid]
        for pid in running[::2]:
            os.kill(pid, signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        give_up = time.monotonic() + 5
        while place.processes() and time.monotonic() < give_up:
            time.sleep(0.05)
        report.check(process.returncode == 130 and len(running) >= 4 and not place.processes(),
                     f"exit status {process.returncode}; of {len(running)} processes, half of them stopped, {len(place.processes())} are left")


def the_overlap_check_catches_an_overlap(report):
    """A check that never fired is not a check."""
    def notes(*acts):
        return [{"t_ms": t, "pid": pid, "node": f"n{pid}", "shard": 7, "token": 1, "what": what} for t, pid, what in acts]

    both = notes((1, 1, "start"), (3, 2, "start"), (5, 1, "end"), (9, 2, "end"))
    found = overlaps.find(both, {}, [])
    report.check((found.count, found.longest_ms) == (1, 2), "two at once: one overlap of 2 ms")
    found = overlaps.find(both, {}, [(1, 2, 4.5)])
    report.check((found.count, found.woken_count, found.woken_longest_ms) == (0, 1, 0.5), "a paused one overlaps only with its first step after that")
    found = overlaps.find(notes((1, 1, "start"), (3, 2, "start"), (9, 2, "end")), {1: 4}, [])
    report.check((found.count, found.longest_ms) == (1, 1), "a killed one works until it was seen gone")
    found = overlaps.find(notes((1, 1, "start"), (3, 1, "end"), (3, 2, "start"), (9, 2, "end")), {}, [])
    report.check((found.count, found.spans) == (0, 2), "one after the other: none")


def the_audit_catches_what_it_looks_for(report):
    """Lost, doubled, wrong, invented and changed records, each in a data file made by hand."""
    with Place() as place:
        source = place.path / "source"
        source.write_bytes(b"abcdef")
        found = [records.Record(f"k{number}", str(source), number, 1) for number in range(6)]
        data_folder.write(str(place.path), [found], 0, lambda path: None)
        before = records.digests(found)
        source.write_bytes(b"abcdeX")  # the last one changes; its result is of before
        made = [(1, "k0", before[0]), (2, "k1", before[1]), (2, "k1", before[1]), (3, "k2", before[0]), (5, "another", before[4]),
                 (6, "k5", before[5]), (9, "k9", before[0])]
        connection = sqlite3.connect(data_files.path_of(str(place.path), 0))
        connection.executemany("insert into result values (?, ?, ?, 'n', 1, 0)", made)
        connection.commit()
        connection.close()
        seen = audit.audit(str(place.path), [found], before, records.digests(found))
        counts = {name: getattr(seen, name) for name in ("records", "processed", "lost", "duplicated", "mismatched", "changed")}
        report.check(counts == {"records": 6, "processed": 5, "lost": 1, "duplicated": 1, "mismatched": 3, "changed": 1} and not seen.clean,
                     f"by hand: {counts}")


Report().run(the_overlap_check_catches_an_overlap, the_audit_catches_what_it_looks_for, bad_input_is_refused_with_its_place, rows_of_a_csv_file_are_records,
             the_short_demo_keeps_every_promise, an_interrupt_ends_every_process)
