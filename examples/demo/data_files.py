"""The application's data files in Python, as datafile.h has them in C: one SQLite file a shard, written behind the fence."""
import collections
import os
import sqlite3

DUE = "select seq, key, path, offset, length from record where seq >= ? and due_ms <= ? order by seq limit ?"
NEXT = "select p.next_seq, r.due_ms from progress p left join record r on r.seq = p.next_seq"
FENCE = "insert into tenure_fence(group_name, shard, node, token) values (?, ?, ?, ?)"
RESULT = "insert into result(seq, key, digest, node, token, done_ms) values (?, ?, ?, ?, ?, ?)"

# A new owner raises the stamp before it reads, never downwards; `begin immediate` waits out a transaction in flight.
# These two lines are all that `tenure stamp raise` does.
RAISE = ("insert into tenure_stamp(group_name, shard, token) values (?, ?, ?) on conflict(group_name, shard)"
         " do update set token = excluded.token where excluded.token > tenure_stamp.token")
STAMP = "select token from tenure_stamp where group_name = ? and shard = ?"


class Stale(Exception):
    """Another node has the shard; nothing was written."""


class Failed(Exception):
    """Nothing happened: locked, no room, ...; try again later."""


class Unknown(Exception):
    """The commit failed: it may have happened."""


def path_of(folder, shard):
    return os.path.join(folder, f"shard-{shard:03d}.db")


class DataFiles:
    """At most `most` files are open at a time; the one not used for longest is closed first."""

    def __init__(self, folder, group, most, patience_s=0.5):
        self.folder, self.group, self.most, self.patience_s = folder, group, most, patience_s
        self.open = collections.OrderedDict()

    def use(self, shard):
        if shard in self.open:
            self.open.move_to_end(shard)
            return self.open[shard]
        while len(self.open) >= self.most:
            self.open.popitem(last=False)[1].close()
        uri = f"file:{path_of(self.folder, shard).replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?mode=rw"
        self.open[shard] = sqlite3.connect(uri, uri=True, timeout=self.patience_s, isolation_level=None)
        return self.open[shard]

    def close(self, shard):
        if shard in self.open:
            self.open.pop(shard).close()

    def raise_stamp(self, shard, token):
        """Stale when the stamp is higher already."""
        def change(db):
            db.execute(RAISE, (self.group, shard, token))
            if db.execute(STAMP, (self.group, shard)).fetchone()[0] != token:
                raise Stale(f"shard {shard}: the stamp is above token {token}")
        self._transaction(shard, change)

    def progress(self, shard):
        """The next record, and when it becomes due (None: there is none)."""
        return self._read(shard, NEXT, ())[0]

    def due(self, shard, next_seq, now_ms, room):
        return self._read(shard, DUE, (next_seq, now_ms, room))

    def store(self, shard, node, token, results, now_ms, inside):
        """Results (seq, key, digest) in order and the progress behind the last: all or nothing, and only under the token."""
        def change(db):
            db.execute(FENCE, (self.group, shard, node, token))
            inside()
            db.executemany(RESULT, [(seq, key, digest, node, token, now_ms) for seq, key, digest in results])
            db.execute("update progress set next_seq = ?", (results[-1][0] + 1,))
        self._transaction(shard, change)

    def _read(self, shard, sql, values):
        try:
            return self.use(shard).execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise Failed(f"shard {shard}: {error}") from error

    def _transaction(self, shard, change):
        db = None
        try:
            db = self.use(shard)
            db.execute("begin immediate")
            change(db)
        except (sqlite3.Error, Stale) as error:
            self._undo(db)
            if isinstance(error, Stale) or str(error).startswith("TN001"):
                raise Stale(str(error)) from error
            raise Failed(f"shard {shard}: {error}") from error
        try:
            db.execute("commit")
        except sqlite3.Error as error:
            self._undo(db)
            # busy: a reader was in the way, nothing was written
            kind = Failed if "is locked" in str(error) else Unknown
            raise kind(f"shard {shard}: {error}") from error

    @staticmethod
    def _undo(db):
        try:
            if db and db.in_transaction:
                db.execute("rollback")
        except sqlite3.Error:
            pass  # the connection has rolled back by itself
