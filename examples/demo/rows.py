"""Records from a CSV file (RFC 4180): a record is one row, its work the SHA-256 of the row's bytes as they stand in the file,
without the line end.

The first row is the header unless it is said that there is none. A byte order mark before it, CRLF and LF are accepted;
text is UTF-8. The key is one column, by its name or by its number from 1; rows with equal keys are different records.
"""
import os

from records import BadInput, Record

MARK = b"\xef\xbb\xbf"


class Place:
    """Where a complaint points to."""

    def __init__(self, path):
        self.path, self.line = path, 1

    def bad(self, what):
        return BadInput(f"{self.path}:{self.line}: {what}")


def load(path, key, header=True):
    """Every row as a record, in order. BadInput names file and line."""
    place = Place(path)
    data = contents(path)
    rows = split(data, len(MARK) if data.startswith(MARK) else 0, place)
    column = column_of(next(rows, (0, 0, None))[2] if header else None, key, place)
    whole = os.path.realpath(path)
    found = [Record(key_of(fields, column, place), whole, begin, end - begin) for begin, end, fields in rows]
    if not found:
        raise place.bad("there is no row")
    return found


def contents(path):
    try:
        if not os.path.isfile(path):
            raise BadInput(f"{path}: not a regular file that is there")
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error


def split(data, at, place):
    """Yields (begin, end, fields) of every row; place.line is the row's first line meanwhile."""
    while at < len(data):
        newline = data.find(b"\n", at)
        end = len(data) if newline < 0 else newline
        if data.find(b'"', at, end) < 0:  # the usual case
            after = end + 1
            end -= data[at:end].endswith(b"\r")
            fields = data[at:end].split(b",")
        else:
            fields, end, after = quoted_row(data, at, place)
        yield at, end, fields
        place.line += data.count(b"\n", at, after)
        at = after


def quoted_row(data, at, place):
    """Fields of the row that begins at `at`, where it ends, and where the next one begins."""
    fields = []
    while True:
        if data[at:at + 1] == b'"':
            field, at = quoted_field(data, at, place)
        else:
            stop = min(found for found in (data.find(b",", at), data.find(b"\n", at), len(data)) if found >= 0)
            stop -= data[stop:stop + 1] != b"," and data[at:stop].endswith(b"\r")
            field, at = data[at:stop], stop
            if b'"' in field:
                raise place.bad(f"field {len(fields) + 1} has a quotation mark but does not begin with one")
        fields.append(field)
        if data[at:at + 1] == b",":
            at += 1
        elif at == len(data) or data[at:at + 1] == b"\n":
            return fields, at, at + 1
        elif data[at:at + 2] in (b"\r\n", b"\r"):
            return fields, at, at + 2
        else:
            raise place.bad(f"field {len(fields)} goes on behind its closing quotation mark")


def quoted_field(data, at, place):
    """The text of the field that begins with the quotation mark at `at`, and where it ends."""
    begin = at + 1
    close = data.find(b'"', begin)
    while close >= 0 and data[close + 1:close + 2] == b'"':
        close = data.find(b'"', close + 2)
    if close < 0:
        raise place.bad("a quotation mark is never closed")
    return data[begin:close].replace(b'""', b'"'), close + 1


def column_of(names, key, place):
    """The column's index: by its name where there is a header, else by its number."""
    texts = [] if names is None else [name.decode("utf-8", "replace") for name in names]
    if texts.count(key) > 1:
        raise place.bad(f"{texts.count(key)} columns are named '{key}': give the number of one")
    if key in texts:
        return texts.index(key)
    if not (key.isascii() and key.isdigit()) or int(key) == 0:
        raise place.bad(f"there is no column '{key}'; there are: {', '.join(texts) or 'none with a name'}")
    if names is not None and int(key) > len(names):
        raise place.bad(f"there is no column {key}: the header has {len(names)}")
    return int(key) - 1


def key_of(fields, column, place):
    if column >= len(fields):
        raise place.bad(f"there is no column {column + 1}: the row has {len(fields)}")
    if not fields[column]:
        raise place.bad(f"the key (column {column + 1}) is empty")
    try:
        key = fields[column].decode("utf-8")
    except UnicodeDecodeError:
        raise place.bad(f"the key (column {column + 1}) is not UTF-8") from None
    if "\0" in key:
        raise place.bad(f"the key (column {column + 1}) has a zero byte")
    return key
