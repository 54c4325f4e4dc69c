"""Processes as /proc shows them: who descends from whom, who stands still, who is gone."""
import os
import signal
import time


def _stat(pid):
    """(state, parent) of a process; None: it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rsplit(b")", 1)[1].split()
        return fields[0].decode(), int(fields[1])
    except (OSError, IndexError):
        return None


def descendants(top):
    """All that `top` started and what those started, whatever group or session they are in; `top` not included."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = _stat(int(name))
            if stat:
                children.setdefault(stat[1], []).append(int(name))
    found, waiting = [], [top]
    while waiting:
        fresh = children.get(waiting.pop(), [])
        found += fresh
        waiting += fresh
    return found


def gone(pid):
    stat = _stat(pid)
    return stat is None or stat[0] in "ZX"


def stands_still(pid):
    """Every thread of it is stopped, or it is gone."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return True
    return all((_stat(f"{pid}/task/{thread}") or "T")[0] in "TtZX" for thread in threads)


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def stop(pids):
    """SIGSTOP, and waits until they stand still."""
    send(pids, signal.SIGSTOP)
    wait(lambda: all(map(stands_still, pids)), 5)


def wait(condition, limit_s):
    """Whether it came true in time."""
    give_up = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.002)
    return True


def end(pids):
    """Ends them, also those that stand still."""
    send(pids, signal.SIGCONT)
    send(pids, signal.SIGKILL)
    wait(lambda: all(map(gone, pids)), 5)
