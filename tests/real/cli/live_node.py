"""A node in a process of its own, by the public C library: joins, answers every event, and leaves when its standard input ends.

usage: live_node.py LIBTENURE URL NODE ADDRESS GROUP...    Prints "joined SESSION", then one line an event."""
import ctypes
import select
import sys
from ctypes import POINTER, Structure, byref, c_bool, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

EVENTS = ["none", "assigned", "prepare", "cancelled", "drain", "lost", "joined", "ended", "stopped"]
OK, TIMEOUT = 0, 24


class Options(Structure):
    _fields_ = [("size", c_size_t), ("store", c_char_p), ("node_id", c_char_p), ("address", c_char_p), ("labels", c_char_p),
                ("weight_milli", c_uint64), ("replace", c_bool), ("join_limit_ms", c_int64), ("log", c_void_p), ("context", c_void_p)]


class Event(Structure):
    _fields_ = [("kind", c_int), ("group", c_void_p), ("shard", c_uint32), ("token", c_uint64), ("seq", c_uint64),
                ("checkpoint", c_void_p), ("checkpoint_size", c_size_t), ("deadline_in_ms", c_int64), ("status", c_int),
                ("reason", c_char_p)]


class Error(Structure):
    _fields_ = [("status", c_int), ("text", c_char * 512)]


def load(path):
    library = ctypes.CDLL(path)
    library.tenure_next.argtypes = [c_void_p, c_int64, POINTER(Event)]
    library.tenure_ready.argtypes = [c_void_p, c_uint32, c_uint64]
    library.tenure_prepared.argtypes = [c_void_p, c_uint32]
    library.tenure_released.argtypes = [c_void_p, c_uint32, c_uint64]
    library.tenure_stop.argtypes = [c_void_p, c_int64]
    library.tenure_close.argtypes = [c_void_p]
    library.tenure_session.argtypes = [c_void_p]
    library.tenure_session.restype = c_uint64
    return library


def must(status, error):
    if status != OK:
        sys.exit(f"status {status}: {error.text.decode()}")


def answer(library, event):
    if EVENTS[event.kind] == "assigned":
        library.tenure_ready(event.group, event.shard, event.token)
    elif EVENTS[event.kind] == "prepare":
        library.tenure_prepared(event.group, event.shard)
    elif EVENTS[event.kind] == "drain":
        library.tenure_released(event.group, event.shard, event.token)
    print(EVENTS[event.kind], event.shard, event.token, flush=True)


def main():
    path, url, node, address, *groups = sys.argv[1:]
    library, error, handle, event = load(path), Error(), c_void_p(), Event()
    options = Options()
    library.tenure_options_init(byref(options))
    options.store, options.node_id, options.address = url.encode(), node.encode(), address.encode()
    options.labels = b'{"zone":"z1"}'
    must(library.tenure_open(byref(options), byref(handle), byref(error)), error)
    for group in groups:
        joined = c_void_p()
        must(library.tenure_join(handle, group.encode(), byref(joined), byref(error)), error)
    print("joined", library.tenure_session(handle), flush=True)
    stopping = False
    while True:
        status = library.tenure_next(handle, 20, byref(event))
        if status == OK:
            answer(library, event)
            if EVENTS[event.kind] == "stopped":
                break
        elif status != TIMEOUT:
            break
        if not stopping and select.select([sys.stdin], [], [], 0)[0]:
            library.tenure_stop(handle, 20000)
            stopping = True
    library.tenure_close(handle)


main()
