"""Stamps: the fence in the user's own SQLite file, as a script in any language uses it."""
import os
import sqlite3

FENCE = "insert into tenure_fence(group_name, shard, node, token) values ('orders', 37, 'A', 19)"


def fails(connection, sql):
    try:
        connection.execute(sql)
    except sqlite3.Error as error:
        return str(error)
    return ""


def run(kit):
    data = kit.directory / "data.db"
    kit.expect("stamp install --dry-run makes nothing", 0, "stamp", "install", str(data), "--dry-run", has="would make")
    kit.check("no file yet", not data.exists())
    kit.expect("raising in a missing file is exit 3", 3, "stamp", "raise", str(data), "--group", "orders", "--shard", "37", "--token", "1")
    kit.expect("stamp install makes the file", 0, "stamp", "install", str(data))
    kit.expect("installing again changes nothing", 0, "stamp", "install", f"sqlite:{data}")
    raising = ["stamp", "raise", str(data), "--group", "orders", "--shard", "37"]
    kit.expect("raise --dry-run says what it would do", 0, *raising, "--token", "19", "--dry-run", has="from 0 to 19")
    kit.expect("raise", 0, *raising, "--token", "19", has="is 19")
    kit.expect("raise again to the same", 0, *raising, "--token", "19")
    kit.expect("lower is refused: exit 5", 5, *raising, "--token", "18", has="19")
    kit.expect("lower is refused in --dry-run too", 5, *raising, "--token", "18", "--dry-run")

    connection = sqlite3.connect(data, isolation_level=None, timeout=0)
    kit.check("a fence with the current token passes", fails(connection, FENCE) == "")
    kit.check("a stale one aborts with TN001", fails(connection, FENCE.replace("19", "18")).startswith("TN001"))
    kit.check("one that is ahead aborts too", fails(connection, FENCE.replace("19", "20")).startswith("TN001"))
    kit.check("a shard without stamp aborts", fails(connection, FENCE.replace("37", "38")).startswith("TN001"))
    kit.check("the stamp is readable", connection.execute("select group_name, shard, token from tenure_stamp").fetchall() == [("orders", 37, 19)])
    connection.execute("begin")
    connection.execute(FENCE)
    busy = kit.expect("a fenced transaction in flight keeps the stamp down: exit 3", 3, *raising, "--token", "20", "--limit", "50ms", has="locked")
    kit.check("and the message names the process", str(os.getpid()) in busy.err, busy)
    connection.execute("commit")
    kit.expect("then it can be raised", 0, *raising, "--token", "20")
    kit.check("and the old owner is fenced off", fails(connection, FENCE).startswith("TN001"))
    connection.close()

    for name, value in (("--shard", "-1"), ("--shard", "1048576"), ("--token", "0"), ("--token", "9007199254740992"), ("--token", "abc")):
        words = {"--shard": "37", "--token": "30", name: value}
        kit.expect(f"{name} {value} is refused", 2, "stamp", "raise", str(data), "--group", "orders", "--shard", words["--shard"],
                   "--token", words["--token"], has=name)
    kit.expect("shard and token are needed", 2, "stamp", "raise", str(data), "--group", "orders", has="--shard")
    kit.expect("another database is refused in words", 2, "stamp", "install", "postgres://host/db", has="not in this version")
    garbage = kit.directory / "garbage.db"
    garbage.write_bytes(b"not a database at all, but long enough to be looked at\n" * 100)
    kit.expect("a file that is no database is exit 3", 3, "stamp", "install", str(garbage))
    plain = kit.directory / "plain.db"
    kit.sql("create table mine(x)", plain)
    kit.expect("a file without stamps names the remedy: exit 4", 4, "stamp", "raise", str(plain), "--group", "orders", "--shard", "1",
               "--token", "1", has="tenure stamp install")
