"""Two workers on one shard at one time, from what the workers noted outside any protection.

A span of work begins with the note `start` and ends with `end`. A worker that was killed notes no end: its span lasts until
the process was seen gone. A process that stood still did nothing meanwhile: its span is cut there, and what is left of it
after SIGCONT is the one step that a paused node may take before it learns that its shards are elsewhere (it can only fail:
its write is refused). Overlaps of such a step are counted by themselves.
"""
from typing import NamedTuple


class Span(NamedTuple):
    begin: float
    end: float
    pid: int
    node: str
    woken: bool  # the rest of a step, after SIGCONT


class Overlaps:
    def __init__(self):
        self.count = self.woken_count = 0
        self.longest_ms = self.woken_longest_ms = self.woken_step_ms = 0.0  # the last: the longest such step itself
        self.spans = 0
        self.stories = []

    def add(self, shard, one, other):
        length = min(one.end, other.end) - max(one.begin, other.begin)
        if one.woken or other.woken:
            self.woken_count += 1
            self.woken_longest_ms = max(self.woken_longest_ms, length)
            return
        self.count += 1
        self.longest_ms = max(self.longest_ms, length)
        if len(self.stories) < 20:
            self.stories.append(f"shard {shard}: nodes {one.node} ({one.pid}) and {other.node} ({other.pid}) both worked on it "
                                f"for {length:.1f} ms at {max(one.begin, other.begin):.0f} ms")


def spans_of(notes, deaths):
    """shard -> whole spans. `deaths`: pid -> when it was seen gone."""
    spans, started, last = {}, {}, {}
    for note in notes:
        place = (note["shard"], note["pid"])
        last[note["pid"]] = note["t_ms"]
        if note["what"] == "start":
            started[place] = (note["t_ms"], note["node"])
        elif note["what"] == "end" and place in started:
            begin, node = started.pop(place)
            spans.setdefault(note["shard"], []).append(Span(begin, note["t_ms"], note["pid"], node, False))
    for (shard, pid), (begin, node) in started.items():
        end = max(begin, deaths.get(pid, last[pid]))
        spans.setdefault(shard, []).append(Span(begin, end, pid, node, False))
    return spans


def cut(span, stops):
    """The pieces in which the process ran. `stops`: (from, to) of this process, in order."""
    pieces, begin, woken = [], span.begin, False
    for stopped, went_on in stops:
        if begin <= stopped < span.end:
            pieces.append(span._replace(begin=begin, end=stopped, woken=woken))
            begin, woken = min(went_on, span.end), True
    return pieces + [span._replace(begin=begin, woken=woken)]


def find(notes, deaths, stops):
    """`notes` in order of time; `stops`: (pid, from, to)."""
    found, of_pid = Overlaps(), {}
    for pid, stopped, went_on in sorted(stops, key=lambda stop: stop[1]):
        of_pid.setdefault(pid, []).append((stopped, went_on))
    for shard, spans in spans_of(notes, deaths).items():
        still_open = []
        for span in sorted(piece for span in spans for piece in cut(span, of_pid.get(span.pid, []))):
            found.spans += 1
            found.woken_step_ms = max(found.woken_step_ms, (span.end - span.begin) * span.woken)
            still_open = [other for other in still_open if other.end > span.begin]
            for other in still_open:
                if other.pid != span.pid:
                    found.add(shard, other, span)
            still_open.append(span)
    return found
