"""Parsing: a mistyped command must name what was wrong, and never half-run or crash."""
import os
import re

LONG = "x" * 10000


def verbs_of(kit):
    lines = kit.run("--help").out.split("exit status")[0].splitlines()
    names = []
    for line in lines:
        match = re.match(r"  ([a-z-]+(?: [a-z-]+)?)(?= |$)", line)
        if match and line.startswith("  "):
            words = match.group(1).split()
            names.append(words)
    return names


def run(kit):
    first = kit.expect("--version prints the version", 0, "--version", has="tenure ")
    kit.check("--version is one line", first.out.count("\n") == 1)
    kit.expect("--help lists the verbs", 0, "--help", has=("group create", "status", "stamp raise", "exit status"))
    kit.expect("help lists the verbs", 0, "help", has="checkpoint set")
    kit.expect("no verb is a usage error", 2, has="a verb is needed")
    helped = [words for words in verbs_of(kit) if "usage: tenure" in kit.run("help", *words).out]
    kit.check("help explains every verb that --help lists", len(helped) == len(verbs_of(kit)) >= 20, helped)
    kit.expect("VERB --help explains the verb", 0, "group", "create", "--help", has=("--lease D", "--shards N", "--dry-run"))
    kit.expect("help of a family lists its verbs", 0, "help", "stamp", has=("stamp install", "stamp raise"))
    kit.expect("help of no verb is a usage error", 2, "help", "nonsense", has="nonsense")

    kit.expect("an unknown verb is named, with the nearest", 2, "staus", has=("'staus'", "'status'"))
    kit.expect("an unknown second word is named, with the nearest", 2, "group", "lsit", has=("'lsit'", "'list'"))
    kit.expect("a verb of two words needs both", 2, "group", has="second word")
    kit.expect("an unknown option is named, with the nearest", 2, "group", "create", "g", "--shrads", "4",
               has=("--shrads", "--shards"))
    kit.expect("an unknown option with = is named without its value", 2, "status", "--jsn=1", has="--json")
    kit.expect("an unknown short option is named", 2, "status", "-z", has="-z")
    kit.expect("a missing value is named", 2, "group", "create", "g", "--shards", has="--shards needs a value")
    kit.expect("a flag takes no value", 2, "status", "--json=yes", has="--json takes no value")
    kit.expect("an option given twice is refused", 2, "group", "create", "g", "--shards", "4", "--shards", "5", has="twice")
    kit.expect("too few arguments name what is missing", 2, "move", "3", has="SHARD NODE")
    kit.expect("too many arguments name the first", 2, "status", "extra", has="'extra'")
    kit.expect("a verb without a store refuses --store", 2, "--store", "sqlite:x", "hash", has="--store")
    kit.expect("no group is a usage error that names the ways to say it", 2, "status", has=("--group", "TENURE_GROUP"))

    for text in ("15", "abc", "", "-5s", "5x", "1.2345s", "1.5ms", "99999999999h", "1e3s"):
        kit.expect(f"duration {text!r} is refused", 2, "group", "create", "g", "--settle", text, "--dry-run",
                   has="--settle")
    for text in ("0", "0s", "500ms", "1.5s", "2m", "1h"):
        kit.expect(f"duration {text!r} is taken", 0, "group", "create", "g", f"--settle={text}", "--dry-run")
    kit.check("none of this made a store", not kit.store.exists())

    for words in (["group", "create", LONG], ["status", "--group", LONG], [LONG], ["group", LONG], ["status", "--" + LONG],
                  ["status", "-" + LONG], ["drain", LONG], ["move", "1", LONG, "--group", "g"], ["group", "create", "g", "--hash", LONG],
                  ["group", "create", "g", "--strategy", LONG], ["group", "create", "g", "--lease", LONG],
                  ["group", "create", "g", "--shards", LONG], ["--store", LONG, "group", "list"],
                  ["hash", "--algo", LONG, "--shards", "4", "k"], ["history", "--group", "g", "--since", LONG],
                  ["checkpoint", "get", LONG, "--group", "g"], ["stamp", "raise", "f", "--group", LONG, "--shard", "1", "--token", "1"]):
        result = kit.run(*words)
        shape = " ".join(word if len(word) < 50 else "10,000 characters" for word in words)
        kit.check(f"refused in short: {shape}", result.code in (2, 3, 4) and 0 < len(result.err) < 1500, result)

    for words in (["group", "create", "a\x1b[31mb"], ["\x1b]0;title\x07"], ["status", "--\x1b[31m"], ["drain", "a\u202eb\x9b"],
                  ["group", "create", b"\xff\xfe"], ["--store", "sqlite:\x1b[2J", "group", "list"]):
        result = kit.run(*words)
        kit.check(f"control characters are shown escaped: {words[-1]!r}",
                  result.code in (2, 3, 4) and "\x1b" not in result.err and "\u202e" not in result.err, result)

    with open("/dev/full", "wb") as full:
        result = kit.run("help", stdout=full)
    kit.check("output that cannot be written is a failure", result.code == 3 and "standard output" in result.err, result)
    script = kit.expect("completion is a script that bash accepts", 0, "completion", "bash", has="complete ")
    path = kit.directory / "completion.sh"
    path.write_text(script.out)
    kit.check("bash parses the completion", os.system(f"bash -n {path}") == 0)
    path.write_text(script.out + 'COMP_WORDS=(tenure group cr); COMP_CWORD=2; _tenure; echo "${COMPREPLY[@]}"\n'
                    'COMP_WORDS=(tenure st); COMP_CWORD=1; _tenure; echo "${COMPREPLY[@]}"\n'
                    'COMP_WORDS=(tenure group create g --lea); COMP_CWORD=4; _tenure; echo "${COMPREPLY[@]}"\n')
    said = os.popen(f"bash {path}").read().splitlines()
    kit.check("bash completes verbs, second words and options", said == ["create", "status stamp store", "--lease"] or
              said == ["create", "stamp status store", "--lease"], said)
    kit.expect("completion for another shell is refused", 2, "completion", "fish", has="'fish'")
