"""Runs the binary in a directory of its own and keeps the score."""
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

NOBODY = 65534
LIMIT_S = 60


class Result:
    def __init__(self, code, out, err):
        self.code, self.raw, self.err = code, out, err.decode("utf-8", "replace")
        self.out = out.decode("utf-8", "replace")
        self.all = self.out + self.err

    @property
    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"exit {self.code}\n  stdout: {self.out[:600]!r}\n  stderr: {self.err[:600]!r}"


class Kit:
    """One section: a scratch directory, a default store in it, and checks."""

    def __init__(self, build):
        self.build = Path(build).resolve()
        self.passed = self.failed = 0

    def __enter__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="tenure-cli-"))
        os.chmod(self.directory, 0o755)
        # A copy, so that a user without rights to the build directory can run it.
        self.binary = self.directory / "tenure"
        shutil.copy(self.build / "tenure", self.binary)
        self.store = self.directory / "store.db"
        return self

    def __exit__(self, *_):
        for path in self.directory.rglob("*"):
            if path.is_dir():
                path.chmod(0o700)
        shutil.rmtree(self.directory)

    def url(self, name="store.db"):
        return f"sqlite:{self.directory / name}"

    def run(self, *words, stdin=b"", env=None, nobody=False, store=True, stdout=subprocess.PIPE):
        """Runs `tenure WORDS`. `store`: TENURE_STORE names the section's store."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.directory), "LC_ALL": "C.UTF-8"}
        for name, value in os.environ.items():
            if name.startswith(("ASAN", "UBSAN", "TSAN", "LSAN", "LD_")):
                environment[name] = value
        if store:
            environment["TENURE_STORE"] = self.url()
        environment.update(env or {})
        words = [os.fsencode(word) for word in words]
        if isinstance(stdin, str):
            stdin = stdin.encode()
        extra = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if nobody and os.geteuid() == 0 else {}
        done = subprocess.run([self.binary, *words], input=stdin, stdout=stdout, stderr=subprocess.PIPE, env=environment,
                              cwd=self.directory, timeout=LIMIT_S, check=False, **extra)
        return Result(done.returncode, done.stdout or b"", done.stderr)

    def check(self, sentence, good, evidence=""):
        if good:
            self.passed += 1
            print(f"ok - {sentence}", flush=True)
        else:
            self.failed += 1
            print(f"not ok - {sentence}\n  {evidence}", flush=True)

    def expect(self, sentence, code, *words, has=(), lacks=(), **options):
        """Runs and checks the exit status, and that each of `has` is somewhere in the output. Returns the result."""
        result = self.run(*words, **options)
        has = (has,) if isinstance(has, str) else has
        good = result.code == code and all(text in result.all for text in has)
        good = good and not any(text in result.all for text in lacks)
        self.check(sentence, good, f"wanted exit {code} and {has!r}, got {result!r}")
        return result

    def sql(self, script, path=None):
        """Runs SQL in the store file directly, as somebody with a tool for SQLite would."""
        connection = sqlite3.connect(path or self.store)
        try:
            rows = connection.execute(script).fetchall()
            connection.commit()
            return rows
        finally:
            connection.close()

    def contents(self):
        """What the store says of its groups: to see that nothing changed."""
        return self.run("group", "list", "--json").out
