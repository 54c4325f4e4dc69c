"""The audit: what the data files say when all is over, by hashlib and sqlite3 only."""
import sqlite3

from data_files import path_of


class Audit:
    """Counts of what went wrong, and `stories`: the first few cases in words."""

    def __init__(self):
        self.records = self.processed = self.lost = self.duplicated = self.mismatched = self.changed = 0
        self.done_ms = []  # of every result
        self.stories = []

    @property
    def clean(self):
        return self.lost == self.duplicated == self.mismatched == 0

    def tell(self, story):
        if len(self.stories) < 20:
            self.stories.append(story)

    def look_at(self, shard, seq, key, results, expected):
        """`results`: (key, digest, node, token) of each result of one record; `expected`: digests before and after the run."""
        name = f"shard {shard}: record {seq} ({key!r})"
        self.records += 1
        self.processed += bool(results)
        self.changed += len(expected) > 1
        if not results:
            self.lost += 1
            self.tell(f"{name}: no result")
        if len(results) > 1:
            self.duplicated += 1
            who = ", ".join(f"{node} under token {token}" for _, _, node, token in results)
            self.tell(f"{name}: done by {who}")
        wrong = [result for result in results if result[0] != key or result[1] not in expected]
        if wrong:
            self.mismatched += 1
            self.tell(f"{name}: {wrong[0][2]} found {wrong[0][1]} of {wrong[0][0]!r}, expected {' or '.join(sorted(expected))}")


def audit(folder, by_shard, before, after):
    """Every record that was loaded, from the loader's own list, against the results; then results that no record explains.
    `before`, `after`: a digest a record, in the order of the shards."""
    found = Audit()
    expected = iter(zip(before, after))
    for shard, of_shard in enumerate(by_shard):
        connection = sqlite3.connect(path_of(folder, shard), timeout=5)
        results = {}
        for seq, key, digest, node, token, done_ms in connection.execute(
                "select seq, key, digest, node, token, done_ms from result order by rowid"):
            results.setdefault(seq, []).append((key, digest, node, token))
            found.done_ms.append(done_ms)
        connection.close()
        for seq, record in enumerate(of_shard, 1):
            found.look_at(shard, seq, record.key, results.pop(seq, []), set(next(expected)))
        for seq in results:
            found.mismatched += 1
            found.tell(f"shard {shard}: a result for record {seq}, which does not exist")
    return found
