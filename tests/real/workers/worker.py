#!/usr/bin/env python3
"""A worker that notes, outside any protection, what it does, and misbehaves as it is told.

usage: worker.py NOTES [TRICK...]

NOTES: a file that gets a JSON line an act, with the boot clock. Tricks: see below, each a word with `=value` perhaps.
"""
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "examples/workers"))
from gate_page import GatePage

NOTES = sys.argv[1]
TRICKS = dict((word.split("=", 1) + [""])[:2] for word in sys.argv[2:])
ONE_SHARD = "TENURE_CHECKPOINT_FD" in os.environ
SOCKET = int(os.environ["TENURE_CHECKPOINT_FD"]) if ONE_SHARD else None
IN, OUT = (SOCKET, SOCKET) if ONE_SHARD else (0, 1)
if ONE_SHARD and TRICKS.get("only", os.environ["TENURE_SHARD"]) != os.environ["TENURE_SHARD"]:
    TRICKS = {}  # they are another shard's
shards, done, saved_at = {}, set(), {}
buffered = b""


def note(what, **fields):
    line = {"t": time.clock_gettime(time.CLOCK_BOOTTIME) * 1000, "what": what, "pid": os.getpid(), "node": os.environ["TENURE_NODE"], **fields}
    with open(NOTES, "a") as file:
        file.write(json.dumps(line) + "\n")


def say(event, **fields):
    os.write(OUT, (json.dumps({"event": event, **fields}) + "\n").encode())


def lines(wait):
    """What has come by now; None in it: the end."""
    global buffered
    if not select.select([IN], [], [], wait)[0]:
        return []
    some = os.read(IN, 1 << 20)
    if not some:
        return [None]
    *whole, buffered = (buffered + some).split(b"\n")
    return [json.loads(line) for line in whole]


def assigned(event):
    shard, token = event["shard"], event["token"]
    note("assigned", shard=shard, token=token, checkpoint=event["checkpoint"], seq=event["seq"])
    if "mute" in TRICKS:
        return
    if "old_tokens" in TRICKS:
        for kind in ("ready", "released", "reload", "rejected", "progress"):
            say(kind, shard=shard, token=token - 1)
        say("checkpoint", shard=shard, token=token - 1, data="from the past")
    if "strangers" in TRICKS:
        for other in (shard + 1000000, 4294967295):
            say("ready", shard=other, token=token)
            say("reload", shard=other, token=token)
        say("released", shard=shard, token=token)  # nobody asked
        os.write(OUT, b'{"event":"ready"}\n{"event":"ready","shard":-1,"token":1}\n{"event":"nonsense"}\nnot json\n[]\n\xff\xfe\n\0\n')
        say("done", job="j", fire=1)
    if event["checkpoint"] == "done":
        done.add(shard)
    shards[shard] = token
    say("ready", shard=shard, token=token)
    note("ready", shard=shard, token=token)
    for data in json.loads(TRICKS.get("save", "[]")):  # [{"data":.. or "fill":[..,n],"seq":..,"rewind":..}]
        fill = data.pop("fill", None)
        say("checkpoint", shard=shard, token=token, **({"data": fill[0] * fill[1]} if fill else {}), **data)


def drain(event):
    shard, token = event["shard"], event["token"]
    note("drain", shard=shard, token=token, deadline_in_ms=event["deadline_in_ms"])
    if "never_release" in TRICKS:
        return
    if shards.get(shard) == token:
        del shards[shard]
    say("released", shard=shard, token=token)
    note("released", shard=shard, token=token)


def on(event):
    kind = event["event"]
    if kind == "hello":
        note("hello", hello=event, environment={k: v for k, v in os.environ.items() if k.startswith("TENURE_")})
    elif kind == "assigned":
        assigned(event)
    elif kind == "prepare":
        note("prepare", shard=event["shard"], deadline_in_ms=event["deadline_in_ms"])
        say("prepared", shard=event["shard"], token=event["token"])
    elif kind == "drain":
        drain(event)
    elif kind == "lost":
        note("lost", shard=event["shard"], token=event["token"], reason=event["reason"])
        if shards.get(event["shard"]) == event["token"]:
            del shards[event["shard"]]
    else:
        note(kind, **{k: v for k, v in event.items() if k != "event"})
    if kind == "shutdown":
        sys.exit(0)


def stubborn():
    """A grandchild in a session of its own that no signal but SIGKILL ends; it looks through the gate page."""
    code = (
        "import json,os,signal,sys,time\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from gate_page import GatePage\n"
        "[signal.signal(s, signal.SIG_IGN) for s in (1, 2, 3, 15)]\n"
        "gate = GatePage(); notes = open(sys.argv[2], 'a', buffering=1); seen = None\n"
        "tokens = json.loads(sys.argv[3])\n"
        "while True:\n"
        "    now = [s for s, t in tokens.items() if gate.open(int(s), t)]\n"
        "    if len(now) != seen:\n"
        "        seen = len(now)\n"
        "        notes.write(json.dumps({'t': time.clock_gettime(time.CLOCK_BOOTTIME) * 1000, 'what': 'gates', 'open': seen, 'pid': os.getpid(), 'node': os.environ['TENURE_NODE']}) + '\\n')\n"
        "    time.sleep(0.002)\n"
    )
    # close_fds=False: it inherits the session's presence, as what a worker starts does by default in C and in a shell
    arguments = [sys.executable, "-c", code, str(pathlib.Path(__file__).resolve().parents[3] / "examples/workers"), NOTES, json.dumps(shards)]
    child = subprocess.Popen(arguments, start_new_session=True, close_fds="close" in TRICKS["stubborn"], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    note("stubborn", child=child.pid)


def work(shard, token):
    """One batch a shard, of a length; nothing is read meanwhile."""
    note("begin", shard=shard, token=token)
    time.sleep(float(TRICKS["work_s"]))
    note("batch", shard=shard, token=token)
    say("checkpoint", shard=shard, token=token, data="done")
    done.add(shard)


def woke_up(gate):
    """What a worker tries that stood still and does not know it: it looks at its gates, then saves."""
    note("woke", shards=len(shards), open=sum(gate.open(shard, token) for shard, token in shards.items()))
    for shard, token in shards.items():
        say("checkpoint", shard=shard, token=token, data="late")


def save_in_turn(shard, token):
    """A background timer, as many workers have one: a checkpoint a shard every save_ms."""
    now = time.monotonic()
    if now - saved_at.get((shard, token), 0) >= int(TRICKS["save_ms"]) / 1000:
        saved_at[shard, token] = now
        say("checkpoint", shard=shard, token=token, data=str(now))
        note("saves", shard=shard, token=token)


def main():
    if "exit" in TRICKS:
        note("exit")
        sys.exit(int(TRICKS["exit"]))
    if "close_output" in TRICKS:
        note("closes")
        os.close(1)
        time.sleep(3600)
    if "deaf" in TRICKS:
        note("deaf")
        time.sleep(3600)
    if "flood" in TRICKS:
        for _ in range(10):
            os.write(OUT, b"x" * (1 << 20))
        os.write(OUT, b"\n")
        note("flooded")
    if ONE_SHARD:
        note("one shard", shard=int(os.environ["TENURE_SHARD"]), token=int(os.environ["TENURE_TOKEN"]))
        signal.signal(signal.SIGTERM, lambda *_: note("terminated"))
    gate, had, hatched, last = GatePage(), {}, False, time.monotonic()
    while True:
        if time.monotonic() - last > 1 and "work_s" not in TRICKS:
            woke_up(gate)
        last = time.monotonic()
        for event in lines(0.005):
            if event is None:
                note("end of input")
                sys.exit(0)
            on(event)
        for shard, token in list(shards.items()):
            open_now = gate.open(shard, token)
            if had.get((shard, token), False) != open_now:
                had[shard, token] = open_now
                note("gate", shard=shard, token=token, open=open_now)
            if "progress" in TRICKS and open_now and shard != int(TRICKS["progress"] or -1):
                say("progress", shard=shard, token=token)
            if "finish" in TRICKS and open_now:
                note("finishes", shard=shard, token=token)
                sys.exit(0)
            if "save_ms" in TRICKS and open_now:
                save_in_turn(shard, token)
            if "work_s" in TRICKS and open_now and shard not in done:
                work(shard, token)
        if "stubborn" in TRICKS and not hatched and len(shards) == int(os.environ["TENURE_SHARDS"]) and all(gate.open(s, t) for s, t in shards.items()):
            hatched = True
            stubborn()


main()
