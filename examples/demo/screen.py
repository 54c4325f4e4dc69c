"""What the demo shows while it runs: on a terminal a shard map and a bar, redrawn; elsewhere one line a phase and every 5 s."""
import os
import shutil
import sys
import time

COLOURS = [44, 42, 43, 45, 46, 41, 47]  # backgrounds, a node each
REDRAW_S, LINE_S = 0.2, 5


class Screen:
    def __init__(self, total, shards, out=sys.stdout):
        self.total, self.shards, self.out = total, shards, out
        self.live = out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.colour = self.live and not os.environ.get("NO_COLOR")
        self.began = time.monotonic()
        self.shown = self.began
        self.lines = 0  # of the picture that stands on the terminal
        self.now = ""

    def clear(self):
        if self.lines:
            self.out.write(f"\033[{self.lines}A\033[J")
        self.lines = 0

    def say(self, text):
        """A line that stays."""
        self.clear()
        self.out.write(f"{time.monotonic() - self.began:6.1f} s  {text}\n")
        self.out.flush()

    def phase(self, text):
        self.now = text
        self.say(text)

    def show(self, fleet):
        """Often called; shows something only when it is time."""
        age = time.monotonic() - self.shown
        if age < (REDRAW_S if self.live else LINE_S):
            return
        self.shown = time.monotonic()
        if not self.live:
            self.say(f"  {self.now}: {self.figures(fleet)}")
            return
        picture = self.picture(fleet)
        self.clear()
        self.out.write("".join(line + "\n" for line in picture))
        self.out.flush()
        self.lines = len(picture)

    def figures(self, fleet):
        held = {}
        for node, _, _ in fleet.server.values():
            held[node] = held.get(node, 0) + 1
        each = " ".join(f"{node.name}:{held.get(node.name, 0)}{'(paused)' if node.stopped else ''}" for node in fleet.nodes if node.up)
        return f"{fleet.done} of {self.total} records; shards {each}"

    def picture(self, fleet):
        size = shutil.get_terminal_size()
        columns = max(10, min(64, size.columns - 1))
        number = {node.name: i for i, node in enumerate(fleet.nodes)}
        lines = []
        if self.shards <= columns * max(1, size.lines - 6):
            for first in range(0, self.shards, columns):
                row = range(first, min(first + columns, self.shards))
                lines.append("".join(self.cell(fleet.server.get(shard), number) for shard in row))
        width = columns - 2
        full = width * fleet.done // self.total if self.total else width
        lines.append("[" + "#" * full + "." * (width - full) + "]")
        lines.append(self.figures(fleet)[:size.columns - 1])
        return lines

    def cell(self, served, number):
        if not served:
            return "."
        name = served[0]
        if not self.colour:
            return name[0]
        return f"\033[30;{COLOURS[number[name] % len(COLOURS)]}m{name[0]}\033[0m"
