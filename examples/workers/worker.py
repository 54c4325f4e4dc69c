#!/usr/bin/env python3
"""A worker for `tenure run`, in Python, with nothing but the standard library. Its work is to count: the count of a
shard is its checkpoint, so that it goes on where the last owner stopped.

    tenure run --group orders -- ./worker.py [MS_A_STEP]

Lines from the agent are read on a thread; the main loop works on its shards in turn, and asks the gate page before
each step.
"""
import json
import queue
import sys
import threading
import time

from gate_page import GatePage

STEP_S = float(sys.argv[1] if len(sys.argv) > 1 else 50) / 1000
SAVE_EVERY = 10

inbox = queue.Queue()
shards = {}  # shard -> {"token", "count"}


def say(event, **fields):
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def read_lines():
    for line in sys.stdin:
        inbox.put(json.loads(line))
    inbox.put({"event": "end"})  # the agent is gone


def save(shard, mine):
    say("checkpoint", shard=shard, token=mine["token"], data=str(mine["count"]))


def on_event(event):
    kind, shard, token = event["event"], event.get("shard"), event.get("token")
    if kind == "assigned":
        shards[shard] = {"token": token, "count": int(event["checkpoint"] or 0)}
        # a worker with a database of its own raises its stamp here, before it reads (docs/WORKERS.md)
        say("ready", shard=shard, token=token)
    elif kind == "prepare":
        say("prepared", shard=shard, token=token)
    elif kind == "drain":
        mine = shards.pop(shard, None)
        if mine:
            save(shard, mine)  # saved before the shard goes, whoever is faster
        say("released", shard=shard, token=token)
    elif kind == "lost":
        if shards.get(shard, {}).get("token") == token:
            del shards[shard]
    elif kind == "save_failed" and event["reason"] == "maybe":
        shards.pop(shard, None)
        say("reload", shard=shard, token=token)
    elif kind in ("shutdown", "end"):
        sys.exit(0)


def take_events(wait):
    try:
        on_event(inbox.get(timeout=wait) if wait else inbox.get_nowait())
        while True:
            on_event(inbox.get_nowait())
    except queue.Empty:
        pass


def main():
    gate = GatePage()
    threading.Thread(target=read_lines, daemon=True).start()
    while True:
        take_events(0 if shards else 1)
        for shard in list(shards):
            mine = shards.get(shard)
            if not mine or not gate.open(shard, mine["token"]):
                continue  # an event says why
            time.sleep(STEP_S)  # the work
            mine["count"] += 1
            if mine["count"] % SAVE_EVERY == 0:
                save(shard, mine)
            take_events(0)
        if not any(gate.open(shard, mine["token"]) for shard, mine in shards.items()):
            take_events(0.05)


main()
