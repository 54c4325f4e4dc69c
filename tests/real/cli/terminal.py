"""What only a terminal gets: colours and progress."""
import os
import pty
import subprocess


def on_terminal(kit, *words, **env):
    """Runs with standard output and error on a terminal; everything that came out."""
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "TENURE_STORE": kit.url(), "TERM": "xterm", **env}
    process = subprocess.Popen([kit.binary, *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    process.wait(timeout=60)
    return b"".join(pieces).decode()


def run(kit):
    kit.run("group", "create", "orders", "--shards", "4")
    kit.check("a terminal gets colours", "\x1b[1m" in on_terminal(kit, "group", "list"))
    kit.check("not with NO_COLOR", "\x1b" not in on_terminal(kit, "group", "list", NO_COLOR="1"))
    kit.check("not when the terminal is dumb", "\x1b" not in on_terminal(kit, "group", "list", TERM="dumb"))
    kit.check("a pipe gets none", "\x1b" not in kit.run("group", "list").out)
    kit.check("JSON has none anywhere", "\x1b" not in on_terminal(kit, "group", "list", "--json"))
    waiting = ["status", "--group", "orders", "--wait-ready", "--timeout", "100ms"]
    kit.check("a wait shows its progress on a terminal", "\r\x1b[K0 of 4 shards are ready" in on_terminal(kit, *waiting))
    kit.check("and in a log file only its end", kit.run(*waiting).err.count("\n") == 1 and "\r" not in kit.run(*waiting).err)
    shown = on_terminal(kit, "hash", "--algo", "java", "--shards", "4", "a\x1b[2Jb")
    kit.check("a key cannot send control sequences to a terminal", "\x1b" not in shown and "a\\x1b[2Jb" in shown, repr(shown))
