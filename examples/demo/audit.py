"""The audit: what the data files say when all is over, by hashlib and sqlite3 only."""
import sqlite3

import records


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

    def look_at(self, shard, key, results, expected):
        """`results`: (key, digest, node, token) of each result of one record; `expected`: digests before and after the run."""
        self.records += 1
        self.processed += bool(results)
        self.changed += len(expected) > 1
        if not results:
            self.lost += 1
            self.tell(f"shard {shard}: {key}: no result")
        if len(results) > 1:
            self.duplicated += 1
            who = ", ".join(f"{node} under token {token}" for _, _, node, token in results)
            self.tell(f"shard {shard}: {key}: done by {who}")
        wrong = [result for result in results if result[0] != key or result[1] not in expected]
        if wrong:
            self.mismatched += 1
            self.tell(f"shard {shard}: {key}: {wrong[0][2]} found {wrong[0][1]}, expected {' or '.join(sorted(expected))}")


def audit(folder, by_shard, before, after):
    """Every record that was loaded, from the loader's own list, against the results; then results that no record explains."""
    found = Audit()
    for shard, blocks in enumerate(by_shard):
        connection = sqlite3.connect(records.data_path(folder, shard), timeout=5)
        results = {}
        for seq, key, digest, node, token, done_ms in connection.execute(
                "select seq, key, digest, node, token, done_ms from result order by rowid"):
            results.setdefault(seq, []).append((key, digest, node, token))
            found.done_ms.append(done_ms)
        connection.close()
        for seq, block in enumerate(blocks, 1):
            found.look_at(shard, block.key, results.pop(seq, []), {before[block.key], after[block.key]})
        for seq in results:
            found.mismatched += 1
            found.tell(f"shard {shard}: a result for record {seq}, which does not exist")
    return found


def overlaps(notes, killed_ms):
    """Pairs of spans of work on one shard by two nodes at one time, and the longest in ms. `killed_ms`: node -> when it was
    killed, which ends the span that it never ended itself."""
    spans, started = {}, {}
    for note in notes:
        place = (note["shard"], note["node"])
        if note["what"] == "start":
            started[place] = note["t_ms"]
        elif note["what"] == "end" and place in started:
            spans.setdefault(note["shard"], []).append((started.pop(place), note["t_ms"], note["node"]))
    for (shard, node), begin in started.items():
        spans.setdefault(shard, []).append((begin, killed_ms.get(node, begin), node))
    count, longest = 0, 0
    for of_shard in spans.values():
        still_open = []
        for begin, end, node in sorted(of_shard):
            still_open = [other for other in still_open if other[1] > begin]
            lengths = [min(end, other[1]) - begin for other in still_open if other[2] != node]
            count += len(lengths)
            longest = max([longest, *lengths])
            still_open.append((begin, end, node))
    return count, longest
