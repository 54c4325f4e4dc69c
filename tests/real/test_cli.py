#!/usr/bin/env python3
"""The command line, run as people run it: exit status, words, JSON, and that bad input changes nothing.

usage: test_cli.py BUILD_DIRECTORY [SECTION...]"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(Path(__file__).resolve().parent))

from cli import groups, hashing, history, live, stamps, steering, stores, terminal, usage  # noqa: E402
from cli.kit import Kit  # noqa: E402

SECTIONS = {
    "usage": usage.run,
    "hash": hashing.run,
    "stores": stores.run,
    "groups": groups.run,
    "stamps": stamps.run,
    "history": history.run,
    "terminal": terminal.run,
    "live": live.run,
    "steering": steering.run,
}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    wanted = sys.argv[2:] or list(SECTIONS)
    passed = failed = 0
    for name in wanted:
        with Kit(sys.argv[1]) as kit:
            SECTIONS[name](kit)
            passed, failed = passed + kit.passed, failed + kit.failed
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
