"""The records of the inventory: pieces of files, by default 16 KiB blocks of the files below /usr; and the expected digests.

A record is known by its shard and its number in that shard (seq); its key says to which shard it belongs, and need not be
unique. The digests come from here, by hashlib, so that the audit needs nothing of Tenure.
"""
import hashlib
import os
from typing import NamedTuple

BLOCK = 16384


class BadInput(Exception):
    """The input cannot be used; the text says where and why."""


class Record(NamedTuple):
    key: str
    path: str
    offset: int
    length: int


def files_below(top, leave_out=None):
    """Regular files in sorted order, on the file system of `top`; symbolic links are not followed. Names that are
    not printable text are left out: a key is one line of text."""
    device = os.stat(top).st_dev

    def walk(folder):
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if not entry.name.isprintable() or entry.path == leave_out:
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.stat(follow_symlinks=False).st_dev == device:
                        yield from walk(entry.path)
                elif entry.is_file(follow_symlinks=False) and os.access(entry.path, os.R_OK):
                    yield entry.path, entry.stat(follow_symlinks=False).st_size
            except OSError:
                continue

    return walk(top)


def blocks(path, size, most):
    """At most so many records of one file; the key is PATH#BLOCK."""
    count = min(most, (size + BLOCK - 1) // BLOCK)
    return [Record(f"{path}#{number}", path, number * BLOCK, min(BLOCK, size - number * BLOCK)) for number in range(count)]


def collect(most):
    """At most so many records: of /usr/share first, then of the rest of /usr."""
    found = []
    for files in (files_below("/usr/share"), files_below("/usr", leave_out="/usr/share")):
        for path, size in files:
            found += blocks(path, size, most - len(found))
            if len(found) == most:
                return found
    return found


def read(file, offset, length):
    """The piece, or what there is of it."""
    file.seek(offset)
    piece = b""
    while len(piece) < length:
        more = file.read(length - len(piece))
        if not more:
            break
        piece += more
    return piece


def digests(found):
    """One a record, as the workers have it: hex digits, or "unreadable" when the piece is not there as a whole."""
    out, path, file = [], None, None
    for record in found:
        try:
            if record.path != path:
                if file:
                    file.close()
                path, file = record.path, None
                file = open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb", buffering=0)
            piece = read(file, record.offset, record.length) if file else b""
        except OSError:
            piece = b""
        whole = file is not None and len(piece) == record.length
        out.append(hashlib.sha256(piece).hexdigest() if whole else "unreadable")
    if file:
        file.close()
    return out
