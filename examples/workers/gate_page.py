"""Reads the gate page of `tenure run`: may I work on this shard under this token, now?

    from gate_page import GatePage
    gate = GatePage()                   # TENURE_GATE
    if gate.open(shard, token): ...     # one more step of work may begin

The layout is that of include/tenure/gate_page.h, version 1. A yes is the right to begin a step of work now; a
protected write carries its token all the same. Costs about a microsecond. Map it once, at the start: when the agent
is gone there is nothing to be opened any more, while a page that is mapped goes on saying no.
"""
import mmap
import os
import struct
import time

MAGIC, BYTE_ORDER, VERSION = b"TNGATE1\0", 0x01020304, 1
HEAD = struct.Struct("=8sIIIIII")  # magic, byte order, version, header bytes, slot bytes, shards, zero
STALE_AFTER, HEARTBEAT, DEADLINE = 32 // 8, 40 // 8, 48 // 8  # in 8-byte words


class GatePage:
    def __init__(self, path=None):
        with open(path or os.environ["TENURE_GATE"], "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        magic, order, version, self._header, self._slot, self.shards, _ = HEAD.unpack_from(self._map)
        if (magic, order, version) != (MAGIC, BYTE_ORDER, VERSION):
            raise ValueError("not a gate page of version 1")
        # words of 8 bytes: each is read in one piece
        self._words = memoryview(self._map)[: len(self._map) // 8 * 8].cast("q")

    def left_ns(self, shard, token):
        """For how much longer the gate is sure to be open if nothing closes it; 0: it is closed."""
        if not 0 <= shard < self.shards or not token:
            return 0
        words = self._words
        if words[(self._header + shard * self._slot) // 8] != token:
            return 0
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        until = min(words[DEADLINE], words[HEARTBEAT] + words[STALE_AFTER])
        return max(0, until - now)

    def open(self, shard, token):
        return self.left_ns(shard, token) > 0

    def heartbeat_age_ns(self):
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) - self._words[HEARTBEAT]
