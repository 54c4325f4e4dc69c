#!/usr/bin/env python3
"""Lets a worker outlive its agent: it is started in a session of its own, and never learns that its input ended.

usage: stubborn.py COMMAND...     (under `tenure run`)

Passes on what both sides say. The session's presence is inherited, as by anything that a worker starts.
"""
import os
import selectors
import subprocess
import sys


def stand_in(child):
    """For the agent's sight: ends as the worker ends, and dies with the agent."""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.exit(code if code >= 0 else 128 - code)


def write_all(fd, some):
    try:
        while some:
            some = some[os.write(fd, some):]
    except OSError:
        pass  # the other side is gone: what is said to it is lost


def pass_on(worker):
    ways = selectors.DefaultSelector()
    ways.register(0, selectors.EVENT_READ, worker.stdin.fileno())
    ways.register(worker.stdout.fileno(), selectors.EVENT_READ, 1)
    while True:
        for key, _ in ways.select():
            some = os.read(key.fd, 1 << 16)
            if some:
                write_all(key.data, some)
            elif key.fd == 0:
                ways.unregister(0)
            else:
                return worker.wait()


def main():
    child = os.fork()
    if child:
        stand_in(child)
    os.setsid()
    worker = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False)
    code = pass_on(worker)
    os._exit(code if code >= 0 else 128 - code)


main()
