"""Looks into the store file itself, every few milliseconds: who has which shard, and in which phase. Read only."""
import sqlite3
import threading
import time

from fleet import boot_ms

UNOWNED, OWNED, PREPARING, DRAINING, RESTORING = range(5)
QUERY = """select s.shard, s.state, s.token, coalesce(n.node_id, '') from shard s left join lease l on l.session = s.session and l.state < 2
           left join node n on n.id = l.node"""


class StoreWatch:
    def __init__(self, path, every_s=0.003):
        self.path, self.every_s = path, every_s
        self.lock, self.rows, self.over = threading.Lock(), {}, False
        self.dark = {}       # shard -> since when it is not served
        self.longest = {}    # shard -> longest time not served since the last clear()
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()

    def _look(self):
        db = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, isolation_level=None)
        while not self.over:
            rows, now = {row[0]: row[1:] for row in db.execute(QUERY)}, boot_ms()
            with self.lock:
                for shard, (state, _, owner) in rows.items():
                    served = owner and state in (OWNED, PREPARING, DRAINING)  # a draining owner still works
                    if served:
                        since = self.dark.pop(shard, None)
                        if since is not None:
                            self.longest[shard] = max(self.longest.get(shard, 0), now - since)
                    else:
                        self.dark.setdefault(shard, now)
                self.rows = rows
            time.sleep(self.every_s)
        db.close()

    def clear(self):
        with self.lock:
            self.longest = {}

    def owned_by(self, name):
        with self.lock:
            return {shard for shard, (state, _, owner) in self.rows.items() if owner == name and state in (OWNED, PREPARING)}

    def counts(self):
        with self.lock:
            counts = {}
            for state, _, owner in self.rows.values():
                if owner and state in (OWNED, PREPARING):
                    counts[owner] = counts.get(owner, 0) + 1
            return counts

    def tokens(self):
        with self.lock:
            return {shard: token for shard, (_, token, _) in self.rows.items()}

    def served_elsewhere(self, shards, name):
        with self.lock:
            return all(self.rows[s][0] in (OWNED, PREPARING) and self.rows[s][2] not in ("", name) for s in shards)

    def balanced(self, names):
        counts = self.counts()
        return set(counts) == set(names) and sum(counts.values()) == len(self.rows) and max(counts.values()) - min(counts.values()) <= 1

    def close(self):
        self.over = True
        self.thread.join()
