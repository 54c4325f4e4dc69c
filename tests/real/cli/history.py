"""tenure history: instants in and out, and texts from elsewhere."""


def run(kit):
    kit.run("group", "create", "orders", "--shards", "8")
    leap_day = 951782400000  # 2000-02-29T00:00:00Z
    kit.sql("delete from event")
    add = "insert into event(unix_ms, group_name, shard, node_id, session, token, cause) values "
    kit.sql(add + f"({leap_day - 1}, 'orders', 3, 'a', 1, 5, 'claimed'), ({leap_day}, 'orders', 3, 'b' || char(27) || '[2J', 2, 6, 'taken over'),"
                  f" ({leap_day + 1234}, 'orders', 4, 'c', 3, 7, 'claimed'), ({leap_day + 2000}, '', -1, 'c', 3, 0, 'joined')")
    words = kit.expect("instants are printed as RFC 3339 UTC, to the millisecond", 0, "history", "--group", "orders",
                       has=("2000-02-28T23:59:59.999Z", "2000-02-29T00:00:00.000Z", "2000-02-29T00:00:01.234Z"))
    kit.check("control characters in a stored name are escaped", "\x1b" not in words.out and "b\\x1b[2J" in words.out, words)
    for since, tokens in (("2000-02-29T00:00:00Z", [6, 7]), ("2000-02-29T08:00:00+08:00", [6, 7]), ("2000-02-28T18:30:00.001-05:30", [7]),
                          ("2000-02-29 00:00:01.2349Z", [7]), ("2000-02-29t00:00:01.235z", []), ("0001-01-01T00:00:00Z", [5, 6, 7]),
                          ("2000-02-28T23:59:60Z", [6, 7])):
        got = kit.run("history", "--group", "orders", "--since", since, "--json")
        kit.check(f"--since {since}", got.code == 0 and [event["token"] for event in got.json] == tokens, got)
    for since in ("2001-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2000-13-01T00:00:00Z", "2000-00-01T00:00:00Z", "2000-01-32T00:00:00Z",
                  "2000-01-01T24:00:00Z", "2000-01-01T00:60:00Z", "2000-01-01T00:00:61Z", "2000-01-01T00:00:00+24:00",
                  "2000-01-01T00:00:00+0800", "2000-01-01T00:00:00.Z", "2000-01-01T00:00:00Z ", "2000-1-1T00:00:00Z", "2000-01-01"):
        kit.expect(f"--since {since!r} is refused", 2, "history", "--group", "orders", "--since", since, has="--since")
    kit.expect("--all-groups has events of sessions too", 0, "history", "--all-groups", has="joined")
    kit.expect("--all-groups and --shard do not go together", 2, "history", "--all-groups", "--shard", "3", has="--shard")
    newest = kit.run("history", "--group", "orders", "--limit", "1", "--json").json
    kit.check("--limit keeps the newest", [event["token"] for event in newest] == [7], newest)
    for limit in ("0", "-1", "abc", "5s"):
        kit.expect(f"--limit {limit!r} is refused", 2, "history", "--group", "orders", "--limit", limit, has="--limit")
    kit.expect("--store-limit bounds the store's time there", 0, "history", "--group", "orders", "--store-limit", "1s")
