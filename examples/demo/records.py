"""The records of the inventory: 16 KiB blocks of the files below /usr, and the data files that hold them.

A record is known by its shard and its number in that shard (seq); its key is PATH#BLOCK. The expected digests come from here
too, by hashlib, so that the audit needs nothing of Tenure.
"""
import hashlib
import os
import shutil
import sqlite3
from typing import NamedTuple

BLOCK = 16384

SCHEMA = """
create table record(seq integer primary key, key text not null, path text not null, offset integer not null,
                    length integer not null, due_ms integer not null);
create table result(seq integer not null, key text not null, digest text not null, node text not null,
                    token integer not null, done_ms integer not null);
create table progress(next_seq integer not null);
insert into progress values (1);
"""


class Block(NamedTuple):
    path: str
    number: int
    length: int

    @property
    def key(self):
        return f"{self.path}#{self.number}"

    @property
    def offset(self):
        return self.number * BLOCK


def files_below(top, leave_out=None):
    """Regular files in sorted order, on the file system of `top`; symbolic links are not followed. Names that are
    not printable text are left out: a key is one line of text."""
    device = os.stat(top).st_dev

    def walk(folder):
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if not entry.name.isprintable() or entry.path == leave_out:
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.stat(follow_symlinks=False).st_dev == device:
                        yield from walk(entry.path)
                elif entry.is_file(follow_symlinks=False) and os.access(entry.path, os.R_OK):
                    yield entry.path, entry.stat(follow_symlinks=False).st_size
            except OSError:
                continue

    return walk(top)


def collect(most):
    """At most so many blocks: of /usr/share first, then of the rest of /usr."""
    blocks = []
    for files in (files_below("/usr/share"), files_below("/usr", leave_out="/usr/share")):
        for path, size in files:
            for number in range((size + BLOCK - 1) // BLOCK):
                blocks.append(Block(path, number, min(BLOCK, size - number * BLOCK)))
                if len(blocks) == most:
                    return blocks
    return blocks


def digest(path, offset, length):
    """As the workers have it: hex digits, or "unreadable" when the block is not there as a whole."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb", buffering=0) as file:
            file.seek(offset)
            block = b""
            while len(block) < length:
                more = file.read(length - len(block))
                if not more:
                    return "unreadable"
                block += more
    except OSError:
        return "unreadable"
    return hashlib.sha256(block).hexdigest()


def digests(blocks):
    return {block.key: digest(block.path, block.offset, block.length) for block in blocks}


def data_path(folder, shard):
    return os.path.join(folder, f"shard-{shard:03d}.db")


def write_data_files(folder, by_shard, pace, install_stamp):
    """One file a shard. Due times are even over `pace` seconds, in the order in which a circle over the shards takes the records."""
    template = os.path.join(folder, "template.db")
    connection = sqlite3.connect(template)
    connection.executescript(SCHEMA)
    connection.close()
    install_stamp(template)
    due = due_times(by_shard, pace)
    for shard, blocks in enumerate(by_shard):
        path = data_path(folder, shard)
        shutil.copyfile(template, path)
        connection = sqlite3.connect(path)
        connection.execute("pragma synchronous = off")  # for loading only: it is a setting of this connection
        connection.executemany(
            "insert into record values (?, ?, ?, ?, ?, ?)",
            [(seq, block.key, block.path, block.offset, block.length, due[shard][seq - 1])
             for seq, block in enumerate(blocks, 1)])
        connection.commit()
        connection.close()
    os.remove(template)


def due_times(by_shard, pace):
    """For each shard the due times of its records, in ms after the begin."""
    total = sum(map(len, by_shard))
    due = [[] for _ in by_shard]
    at = 0
    waiting = [shard for shard, blocks in enumerate(by_shard) if blocks]
    while waiting:
        for shard in waiting:
            due[shard].append(pace * 1000 * at // total)
            at += 1
        waiting = [shard for shard in waiting if len(due[shard]) < len(by_shard[shard])]
    return due


def count_done(folder, shards):
    """How many results there are, by asking every data file."""
    done = 0
    for shard in range(shards):
        connection = sqlite3.connect(data_path(folder, shard), timeout=5)
        done += connection.execute("select next_seq - 1 from progress").fetchone()[0]
        connection.close()
    return done


def write_begin(folder, begin_ms):
    """The instant from which due times count; the workers wait for this file."""
    part = os.path.join(folder, "begin.part")
    with open(part, "w") as file:
        file.write(f"{begin_ms}\n")
    os.rename(part, os.path.join(folder, "begin"))
