"""Stores that are missing, unreadable, damaged or newer: a clear sentence, the right exit status, nothing made."""
import os
import sqlite3
import time

READS = [["group", "list"], ["group", "show", "g"], ["status", "--group", "g"], ["shards", "--group", "g"],
         ["route", "--group", "g", "k"], ["history", "--group", "g"], ["checkpoint", "get", "0", "--group", "g"],
         ["store", "info"]]
WRITES = [["group", "set", "g", "--lease", "10s"], ["group", "delete", "g"], ["drain", "n"], ["undrain", "n"],
          ["move", "0", "n", "--group", "g"], ["checkpoint", "set", "0", "--force", "--group", "g", "x"],
          ["store", "new-history"]]


def run(kit):
    for words in READS + WRITES:
        kit.expect(f"a missing store is exit 3 with a remedy: {' '.join(words[:2])}", 3, *words, has="tenure group create")
    kit.check("and none of them made it", not kit.store.exists())
    for url in ("postgress://host/db", "mysql:x", "store.db", "", "sqlite", ":", "http://localhost/"):
        kit.expect(f"store URL {url!r} is refused, naming what is built in", 2, "group", "list", "--store", url, has="sqlite")
    kit.expect("--store before the verb works", 3, "--store", kit.url("other.db"), "group", "list")
    kit.expect("--store wins over TENURE_STORE", 3, "group", "list", "--store", kit.url("other.db"), has="other.db")
    kit.expect("--store twice is refused", 2, "--store", kit.url(), "group", "list", "--store", kit.url())

    state = {"XDG_STATE_HOME": str(kit.directory / "state")}
    kit.expect("the default store is in the user's state directory", 0, "group", "create", "g", store=False, env=state)
    kit.check("where it was made", any((kit.directory / "state").rglob("*")), list(kit.directory.rglob("*")))
    home = kit.expect("without XDG_STATE_HOME it is below HOME", 0, "group", "create", "g", store=False)
    kit.check("in .local/state", any((kit.directory / ".local" / "state").rglob("*")), home)

    kit.expect("group create makes the store", 0, "group", "create", "g", "--shards", "8", has="created group 'g'")
    info = kit.expect("store info tells where and what", 0, "store", "info", "--json").json
    kit.check("as JSON", info["backend"] == "sqlite" and info["groups"] == 1 and info["live_sessions"] == 0 and
              abs(info["store_time_ms"] - time.time() * 1000) < 60000, info)
    kit.expect("store info has words too", 0, "store", "info", has=("backend", "sqlite", "history"))
    locked(kit)
    damaged(kit)
    histories(kit)


def damaged(kit):
    garbage = kit.directory / "garbage.db"
    garbage.write_bytes(b"this is not a database, and it is long enough to be looked at\n" * 200)
    before = garbage.read_bytes()
    for words in (["group", "list"], ["group", "create", "x"], ["store", "new-history"]):
        kit.expect(f"a file that is no database is exit 3: {' '.join(words[:2])}", 3, *words, "--store", kit.url("garbage.db"))
    kit.check("and is left as it was", garbage.read_bytes() == before)

    foreign = kit.directory / "foreign.db"
    kit.sql("create table mine(x)", foreign)
    kit.expect("somebody else's database is not taken for a store", 3, "group", "list", "--store", kit.url("foreign.db"))
    kit.expect("nor made into one", 3, "group", "create", "x", "--store", kit.url("foreign.db"))
    kit.check("and has its own table only", kit.sql("select name from sqlite_master", foreign) == [("mine",)])

    kit.sql("pragma wal_checkpoint(truncate)")
    torn = kit.directory / "torn.db"
    whole = kit.store.read_bytes()
    torn.write_bytes(whole[:4096] + os.urandom(len(whole) - 4096))
    result = kit.run("status", "--group", "g", "--store", kit.url("torn.db"))
    kit.check("a damaged store is exit 3", result.code == 3 and result.err, result)
    torn.write_bytes(whole[: len(whole) // 2])
    result = kit.run("status", "--group", "g", "--store", kit.url("torn.db"))
    kit.check("half a store is exit 3", result.code == 3 and result.err, result)
    kit.expect("a directory is no store", 3, "group", "list", "--store", f"sqlite:{kit.directory}")
    kit.expect("a store in a directory that is not there is exit 3", 3, "group", "list", "--store", kit.url("no/such/dir.db"))

    newer = kit.directory / "newer.db"
    newer.write_bytes(whole)
    version = kit.sql("pragma user_version", newer)[0][0]
    kit.sql(f"pragma user_version = {version + 1}", newer)
    for words in (["group", "list"], ["group", "create", "x"]):
        kit.expect(f"a store of a newer schema is refused: {' '.join(words)}", 5, *words, "--store", kit.url("newer.db"))

    secret = kit.directory / "secret"
    secret.mkdir()
    (secret / "store.db").write_bytes(whole)
    (secret / "store.db").chmod(0o000)
    secret.chmod(0o755)
    kit.expect("an unreadable file is exit 3", 3, "group", "list", "--store", kit.url("secret/store.db"), nobody=True)
    (secret / "store.db").chmod(0o644)
    kit.expect("a store that may not be written is exit 3", 3, "group", "set", "g", "--lease", "20s", "--store",
               kit.url("secret/store.db"), nobody=True)
    kit.expect("a directory that may not be written cannot get a store", 3, "group", "create", "g", "--store",
               kit.url("secret/new.db"), nobody=True)


def locked(kit):
    """Somebody holds the write lock: writes wait for --limit and then say so, reads go on."""
    connection = sqlite3.connect(kit.store, isolation_level=None, timeout=0)
    connection.execute("begin immediate")
    kit.expect("a write that finds the store locked gives up after --limit: exit 3", 3, "group", "set", "g", "--lease", "20s",
               "--limit", "50ms")
    kit.expect("a read does not wait", 0, "status", "--group", "g", "--limit", "50ms")
    connection.execute("rollback")
    connection.close()
    kit.expect("and then the write goes through", 0, "group", "set", "g", "--lease", "20s")


def moved(kit):
    """A store file that was copied from another machine."""
    connection = sqlite3.connect(kit.store)
    connection.execute("update store set machine_id = 'another', boot_id = 'another'")
    connection.commit()
    connection.close()
    kit.expect("a file of another machine is refused, with what to do", 5, "status", "--group", "g", has=("another machine (another)", "new-history"))
    before = kit.contents()
    kit.expect("new-history --dry-run looks at it all the same", 0, "store", "new-history", "--dry-run", has="would begin history")
    kit.check("and changes nothing", kit.contents() == before)
    kit.expect("so it is refused still", 5, "store", "info", has="another machine")
    kit.expect("new-history takes it over", 0, "store", "new-history", has="begins")
    kit.expect("now it is this machine's", 0, "status", "--group", "g")


def histories(kit):
    moved(kit)
    before = kit.run("store", "info", "--json").json
    kit.expect("new-history --dry-run says what it would do", 0, "store", "new-history", "--dry-run", has="would begin")
    kit.check("and does not do it", kit.run("store", "info", "--json").json["history"] == before["history"])
    kit.expect("new-history begins a new history", 0, "store", "new-history", has="begins")
    after = kit.run("store", "info", "--json").json
    kit.check("which is later", after["history"] > before["history"], after)
    kit.expect("--seen is taken into account", 0, "store", "new-history", "--seen", str(after["history"] + 1000))
    kit.check("and stays below the new one", kit.run("store", "info", "--json").json["history"] > after["history"] + 1000)
    rows = kit.run("shards", "--group", "g", "--json").json
    kit.check("every token is of the new history", all(row["token"] > 2 ** 29 for row in rows), rows[:2])
    kit.expect("a history number that is none is refused", 2, "store", "new-history", "--seen", "-1", has="--seen")
    kit.expect("the history records it", 0, "history", "--all-groups", has="new history")
