"""Makes the application's data files, one SQLite file a shard, and looks into them from outside."""
import os
import shutil
import sqlite3

from data_files import path_of

SCHEMA = """
create table record(seq integer primary key, key text not null, path text not null, offset integer not null,
                    length integer not null, due_ms integer not null);
create table result(seq integer not null, key text not null, digest text not null, node text not null,
                    token integer not null, done_ms integer not null);
create table progress(next_seq integer not null);
insert into progress values (1);
"""


def write(folder, by_shard, pace, install_stamp):
    """Due times are even over `pace` seconds, in the order in which a circle over the shards takes the records."""
    template = os.path.join(folder, "template.db")
    connection = sqlite3.connect(template)
    connection.executescript(SCHEMA)
    connection.close()
    install_stamp(template)
    due = due_times(by_shard, pace)
    for shard, found in enumerate(by_shard):
        path = path_of(folder, shard)
        shutil.copyfile(template, path)
        connection = sqlite3.connect(path)
        connection.execute("pragma synchronous = off")  # for loading only: it is a setting of this connection
        connection.executemany("insert into record values (?, ?, ?, ?, ?, ?)",
                               [(seq, *record, due[shard][seq - 1]) for seq, record in enumerate(found, 1)])
        connection.commit()
        connection.close()
    os.remove(template)


def due_times(by_shard, pace):
    """For each shard the due times of its records, in ms after the begin."""
    total = sum(map(len, by_shard))
    due = [[] for _ in by_shard]
    at = 0
    waiting = [shard for shard, found in enumerate(by_shard) if found]
    while waiting:
        for shard in waiting:
            due[shard].append(int(pace * 1000 * at / total))
            at += 1
        waiting = [shard for shard in waiting if len(due[shard]) < len(by_shard[shard])]
    return due


def count_done(folder, shards):
    """How many results there are, by asking every data file."""
    done = 0
    for shard in range(shards):
        connection = sqlite3.connect(path_of(folder, shard), timeout=5)
        done += connection.execute("select next_seq - 1 from progress").fetchone()[0]
        connection.close()
    return done


def is_locked(folder, shard):
    """Does anybody hold any lock on the shard's file?"""
    connection = sqlite3.connect(path_of(folder, shard), timeout=0, isolation_level=None)
    try:
        connection.execute("begin exclusive")
        connection.execute("rollback")
        return False
    except sqlite3.OperationalError:
        return True
    finally:
        connection.close()


def write_begin(folder, begin_ms):
    """The instant (boot clock) from which due times count; the workers wait for this file."""
    part = os.path.join(folder, "begin.part")
    with open(part, "w") as file:
        file.write(f"{int(begin_ms)}\n")
    os.rename(part, os.path.join(folder, "begin"))
