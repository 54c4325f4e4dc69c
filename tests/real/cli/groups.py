"""Groups: validated before they are written, never ignored when they differ, repairable when broken."""

import base64

LONG = "x" * 10000


def run(kit):
    for shards in ("0", "-1", "2147483648", "1048577", "abc", "", "1e3", "99999999999999999999999"):
        kit.expect(f"--shards {shards!r} is refused before a store is made", 2, "group", "create", "orders", "--shards", shards,
                   has="--shards")
    kit.check("and no store was made", not kit.store.exists())
    kit.expect("--dry-run of a first group makes nothing", 0, "group", "create", "orders", "--dry-run", has=("would make", "would create"))
    kit.check("no store yet", not kit.store.exists())
    kit.expect("a group is created", 0, "group", "create", "orders", "--shards", "16", "--lease", "6s", has="created group 'orders': 16")
    kit.expect("a second one with other settings", 0, "group", "create", "events", "--hash", "java", "--shards", "5")
    before = kit.contents()
    for shards in ("0", "-1", "2147483648", "abc"):
        kit.expect(f"--shards {shards!r} is refused", 2, "group", "create", "third", "--shards", shards)
        kit.expect(f"also for a group that exists, with --update: {shards!r}", 2, "group", "create", "orders", "--shards", shards, "--update")
        kit.expect(f"and by group set: {shards!r}", 2, "group", "set", "orders", "--shards", shards)
    bad_settings(kit)
    kit.check("the store is unchanged after all refusals", kit.contents() == before, kit.contents())
    existing(kit, before)
    changing(kit)
    showing(kit)
    deleting(kit)
    broken(kit)


def bad_settings(kit):
    kit.expect("renew, request timeout and margin must fit in half the lease", 2, "group", "create", "third", "--lease", "6s",
               "--renew", "5s", has="lease / 2")
    kit.expect("a setting out of bounds is named with its bounds", 2, "group", "create", "third", "--lease", "1ms", has=("--lease", "500ms"))
    kit.expect("an unknown strategy is named, with those there are", 2, "group", "create", "third", "--strategy", "balancd",
               has=("balancd", "balanced"))
    kit.expect("an unknown hash is named, with those there are", 2, "group", "create", "third", "--hash", "md5", has=("'md5'", "xxh3"))
    kit.expect("a seed for a hash that takes none", 2, "group", "create", "third", "--hash", "java", "--seed", "1", has="--seed")
    kit.expect("a choice that is none is named with the choices", 2, "group", "create", "third", "--on-drain-timeout", "maybe",
               has=("'maybe'", "force|give_up"))
    for name in ("", "a/b", "a\nb", "x" * 129, LONG, b"\xc3\x28"):
        kit.expect(f"group name {name[:12]!r} is refused", 2, "group", "create", name)
    kit.expect("a name of 128 bytes of any script is taken", 0, "group", "create", "é" * 64, "--dry-run")


def existing(kit, before):
    kit.expect("the same settings again: exit 0", 0, "group", "create", "orders", "--shards", "16", "--lease", "6s", has="exists")
    differs = kit.expect("others: exit 4 and a table of the differences", 4, "group", "create", "orders", "--shards", "16",
                         "--lease", "9s", "--settle", "1s", has=("exists with other settings", "SETTING", "lease", "6s", "9s", "settle", "--update"))
    kit.check("the table has a row a difference, derived ones too",
              [line.split()[0] for line in differs.err.splitlines()[1:6]] == ["lease", "renew", "request-timeout", "margin", "settle"], differs)
    for shards in ("8", "32"):
        for extra in ([], ["--update"]):
            kit.expect(f"another shard count is refused, naming reshard: {shards} {extra}", 4, "group", "create", "orders", "--shards",
                       shards, "--lease", "6s", *extra, has=("shards", "16", "reshard", "not in this version"))
    kit.expect("another hash is refused for good", 4, "group", "create", "orders", "--shards", "16", "--lease", "6s", "--hash", "java",
               "--update", has=("hash", "reshard"))
    kit.expect("another seed is refused for good", 4, "group", "create", "orders", "--shards", "16", "--lease", "6s", "--seed", "1", has="seed")
    kit.check("and nothing changed", kit.contents() == before)
    kit.expect("--update --dry-run says what would change", 0, "group", "create", "orders", "--shards", "16", "--lease", "9s",
               "--update", "--dry-run", has=("would change", "6s", "9s"))
    kit.check("and changes nothing", kit.contents() == before)
    kit.expect("--update changes what may change", 0, "group", "create", "orders", "--shards", "16", "--lease", "9s", "--update",
               has=("changed", "6s", "9s"))
    show = kit.run("group", "show", "orders", "--json").json
    kit.check("and it is stored, with what derives from it", (show["lease_ms"], show["renew_ms"], show["margin_ms"]) == (9000, 3000, 600), show)
    kit.expect("reshard does not exist yet, and says so", 2, "group", "reshard", "orders", "32", has="reshard")


def changing(kit):
    kit.expect("group set changes what is named", 0, "group", "set", "orders", "--max-moves", "7", has=("changed", "max-moves", "5", "7"))
    kit.expect("the same again has nothing to do", 0, "group", "set", "orders", "--max-moves", "7", has="already")
    kit.expect("a lease takes its derived values along", 0, "group", "set", "orders", "--lease", "30s", has=("renew", "10s"))
    kit.expect("a value set by hand", 0, "group", "set", "orders", "--renew", "4s")
    kit.expect("then stays when the lease changes", 0, "group", "set", "orders", "--lease", "60s")
    show = kit.run("group", "show", "orders", "--json").json
    kit.check("as stored", (show["lease_ms"], show["renew_ms"], show["request_ms"], show["max_moves"]) == (60000, 4000, 6000, 7), show)
    before = kit.contents()
    kit.expect("and binds: a lease that is too short for it is refused", 2, "group", "set", "orders", "--lease", "6s", has="lease / 2")
    kit.expect("group set refuses another shard count, naming reshard", 4, "group", "set", "orders", "--shards", "8", has=("reshard", "not in this version"))
    kit.expect("group set refuses another hash", 4, "group", "set", "orders", "--hash", "crc32", has="hash")
    kit.expect("group set --dry-run says what would change", 0, "group", "set", "orders", "--settle", "9s", "--dry-run", has=("would change", "9s"))
    kit.expect("group set of a missing group", 4, "group", "set", "ordrs", "--settle", "9s", has=("'ordrs'", "did you mean 'orders'"))
    kit.check("none of which changed anything", kit.contents() == before)


def showing(kit):
    listing = kit.expect("group list as JSON", 0, "group", "list", "--json").json
    kit.check("has every group", sorted(group["group"] for group in listing) == ["events", "orders"] and
              all(group["valid"] for group in listing), listing)
    kit.expect("group list in words", 0, "group", "list", has=("orders", "16", "java", "ok"), lacks=("\x1b",))
    kit.expect("group show in words", 0, "group", "show", "events", has=("drain-timeout", "30s", "force"))
    kit.expect("a missing group is exit 4", 4, "group", "show", "nothing", has="'nothing'")
    for words in (["status"], ["shards"], ["route", "k"], ["history"], ["checkpoint", "get", "0"],
                  ["checkpoint", "set", "0", "--force", "x"], ["move", "0", "n"]):
        kit.expect(f"so for {words[0]}", 4, *words, "--group", "nothing", has="'nothing'")
    kit.expect("TENURE_GROUP names the group", 0, "status", env={"TENURE_GROUP": "orders"}, has="group orders: 16 shards")
    status = kit.expect("status of a group without nodes", 0, "status", "--group", "orders", "--json").json
    kit.check("has the fields of the contract",
              set(status) >= {"group", "shards", "plan_epoch", "store_time_ms", "unowned", "moves_in_flight", "skew", "nodes"} and
              status["unowned"] == 16 and status["skew"] == {"count": 1.0, "load": 1.0} and status["nodes"] == [], status)
    shards = kit.expect("shards of it", 0, "shards", "--group", "orders", "--json").json
    kit.check("are all unowned", len(shards) == 16 and all(row["state"] == "unowned" and row["owner"] is None for row in shards) and
              set(shards[0]) >= {"shard", "owner", "session", "token", "desired", "state", "since_ms"}, shards[0])
    route = kit.expect("route to an unowned shard is exit 1", 1, "route", "--group", "events", "A10086", "--json").json
    kit.check("with nulls", route == {"shard": 1907625230 % 5, "owner": None, "address": None, "token": None}, route)
    kit.expect("in words too", 1, "route", "--group", "events", "A10086", has="unowned")
    kit.expect("the empty key is refused", 2, "route", "--group", "events", "", has="empty key")
    kit.expect("--wait-ready gives up after --timeout with exit 1", 1, "status", "--group", "orders", "--wait-ready", "--timeout", "100ms",
               has="0 of 16")
    checkpoints(kit)


def checkpoints(kit):
    for shard in ("16", "-1", "abc", "4294967296", "x" * 10000):
        kit.expect(f"shard {shard[:12]!r} is out of range", 2, "checkpoint", "get", "--group", "orders", "--", shard, has="0 to 15")
    kit.expect("no checkpoint yet: exit 1", 1, "checkpoint", "get", "3", "--group", "orders", has="no checkpoint")
    none = kit.run("checkpoint", "get", "3", "--group", "orders", "--json").json
    kit.check("and nulls", none["data"] is None and none["seq"] == 0 and none["token"] is None and none["saved_ms"] is None, none)
    kit.expect("set needs --token or --force", 2, "checkpoint", "set", "3", "--group", "orders", "x", has=("--token", "--force"))
    kit.expect("set --dry-run writes nothing", 0, "checkpoint", "set", "3", "--force", "--group", "orders", "--dry-run", "x", has="would write 1 bytes")
    kit.expect("there is still none", 1, "checkpoint", "get", "3", "--group", "orders")
    kit.expect("set --force writes", 0, "checkpoint", "set", "3", "--force", "--group", "orders", "page=7", has="sequence 1")
    got = kit.expect("get prints the bytes, nothing added", 0, "checkpoint", "get", "3", "--group", "orders")
    kit.check("exactly", got.raw == b"page=7", got)
    kit.expect("a wrong token is stale: exit 5", 5, "checkpoint", "set", "3", "--token", "12345", "--group", "orders", "x")
    kit.expect("--seq below the stored one: exit 5", 5, "checkpoint", "set", "3", "--force", "--seq", "1", "--group", "orders", "y")
    kit.expect("--dry-run says so too", 5, "checkpoint", "set", "3", "--force", "--seq", "1", "--group", "orders", "--dry-run", "y")
    kit.expect("--rewind allows it", 0, "checkpoint", "set", "3", "--force", "--seq", "1", "--rewind", "--group", "orders", "y")
    kit.expect("--seq 0 is refused", 2, "checkpoint", "set", "3", "--force", "--seq", "0", "--group", "orders", "y", has="--seq")
    data = bytes(range(256)) * 256
    kit.expect("64 KiB of any bytes come from standard input", 0, "checkpoint", "set", "4", "--force", "--group", "orders", stdin=data)
    kit.check("and go out the same", kit.run("checkpoint", "get", "4", "--group", "orders").raw == data)
    as_json = kit.run("checkpoint", "get", "4", "--group", "orders", "--json").json
    kit.check("in JSON as base64", as_json["data"] is None and base64.b64decode(as_json["data_base64"]) == data, as_json["seq"])
    kit.expect("one byte more is refused", 2, "checkpoint", "set", "4", "--force", "--group", "orders", stdin=data + b"x", has="65536")
    kit.expect("an empty checkpoint is one", 0, "checkpoint", "set", "5", "--force", "--group", "orders", "")
    kit.expect("and is got", 0, "checkpoint", "get", "5", "--group", "orders", "--json", has='"data":""')


def deleting(kit):
    kit.run("group", "create", "gone")
    kit.expect("group delete --dry-run", 0, "group", "delete", "gone", "--dry-run", has="would delete")
    kit.expect("the group is still there", 0, "group", "show", "gone")
    kit.expect("group delete", 0, "group", "delete", "gone", has="deleted")
    kit.expect("and it is gone", 4, "group", "show", "gone")
    kit.expect("deleting it again is exit 4", 4, "group", "delete", "gone")


def broken(kit):
    """A record that no version of ours would write, put there directly."""
    whole = kit.run("group", "show", "events", "--json").json
    kit.sql("update grp set hash = 'nonsense', strategy = 'nonsense' where name = 'orders'")
    kit.sql("update setting set value = -7 where name = 'lease_ms' and group_id = (select id from grp where name = 'orders')")
    listing = {group["group"]: group for group in kit.expect("group list goes on with a broken group in it", 0, "group", "list", "--json").json}
    kit.check("which is shown as invalid, with the reason", not listing["orders"]["valid"] and listing["orders"]["problem"], listing)
    kit.check("the other groups are unaffected", listing["events"] == whole, listing["events"])
    kit.expect("in words too", 0, "group", "list", has="invalid")
    kit.expect("group show shows it", 0, "group", "show", "orders", has="invalid")
    kit.expect("status refuses to guess: exit 3, with the remedy", 3, "status", "--group", "orders", has=("not valid", "--update"))
    kit.expect("the other group works", 0, "status", "--group", "events")
    kit.expect("create without --update lists the differences", 4, "group", "create", "orders", "--shards", "16", has="--update")
    kit.expect("create --update overwrites it with a valid one", 0, "group", "create", "orders", "--shards", "16", "--update")
    kit.check("and it is valid", kit.run("group", "show", "orders", "--json").json["valid"])
    kit.expect("and usable", 0, "status", "--group", "orders")
