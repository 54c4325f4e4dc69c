"""tenure hash: other people's scripts route by these numbers."""
import json

KEYS = {  # algorithm: hash of "A10086", as the algorithm's own publication computes it (tests/vectors)
    "java": 1907625230, "murmur3_32": -670928716, "crc16": 15082, "crc32": 0xe5e2dd0f, "crc32c": 0x7e3aab1a,
    "fnv1a32": 0xc7d4d709,
}


def run(kit):
    for algo, value in KEYS.items():
        kit.expect(f"{algo} prints its own number and the floorMod", 0, "hash", "--algo", algo, "--shards", "255", "A10086",
                   has=f"A10086\t{value}\t{value % 255}\n")
    kit.expect("xxh64 with a seed", 0, "hash", "--algo", "xxh64", "--shards", "256", "--seed", "42", "A10087",
               has=f"A10087\t{0xfd5d7b91ae657c71}\t{0x71}\n")
    empty = kit.run("hash", "--algo", "murmur2", "--shards", "12", "--allow-empty", "")
    kit.check("--allow-empty hashes the empty key", empty.code == 0 and empty.out == "\t275646681\t9\n", empty)
    kit.expect("the empty key is refused", 2, "hash", "--algo", "java", "--shards", "4", "a", "", has="key 2 is empty")

    lines = kit.run("hash", "--algo", "java", "--shards", "256", stdin="A10086\nB00001")
    kit.check("keys come one a line from standard input, the last with or without a newline",
              lines.out == "A10086\t1907625230\t14\nB00001\t1935330607\t47\n", lines)
    kit.expect("an empty line is an empty key", 2, "hash", "--algo", "java", "--shards", "4", stdin="a\n\nb\n", has="key 2")
    null = kit.run("hash", "--algo", "java", "--shards", "256", "-0", stdin=b"A10086\0a\nb\0")
    kit.check("-0 reads NUL-separated keys, newlines included",
              null.code == 0 and null.out == f"A10086\t1907625230\t14\na\nb\t{java('a' + chr(10) + 'b')}\t{java('a' + chr(10) + 'b') % 256}\n", null)
    dash = kit.expect("a key that begins with - goes after --", 0, "hash", "--algo", "crc32", "--shards", "4", "--", "-k")
    kit.check("and is that key", dash.out.startswith("-k\t"), dash)
    many = kit.run("hash", "--algo", "java", "--shards", "7", stdin="".join(f"k{i}\n" for i in range(200000)))
    kit.check("200,000 keys come back in order",
              many.out.count("\n") == 200000 and many.out.endswith(f"k199999\t{java('k199999')}\t{java('k199999') % 7}\n"), "")

    for shards in ("0", "-1", "1048577", "2147483648", "abc", "1.5", ""):
        kit.expect(f"--shards {shards!r} is refused", 2, "hash", "--algo", "java", "--shards", shards, "k", has="--shards")
    kit.expect("--seed with an algorithm that takes none is a usage error", 2, "hash", "--algo", "java", "--shards", "4",
               "--seed", "0", "k", has="--seed")
    kit.expect("a seed that does not fit is refused", 2, "hash", "--algo", "murmur3_32", "--shards", "4", "--seed",
               "4294967296", "k")
    kit.expect("a seed above 2^64 - 1 is refused", 2, "hash", "--algo", "xxh3", "--shards", "4", "--seed",
               "18446744073709551616", "k", has="--seed")
    kit.expect("an unknown algorithm is named, with all there are", 2, "hash", "--algo", "md5", "--shards", "4", "k",
               has=("'md5'", "xxh3", "postgres"))
    kit.expect("algorithm and shards are needed", 2, "hash", "k", has=("--algo", "--shards"))
    batch(kit)


def java(text):
    value = 0
    for unit in text:
        value = (value * 31 + ord(unit)) & 0xffffffff
    return value - (1 << 32) if value >> 31 else value


def batch(kit):
    requests = [
        '{"algo":"java","shards":256,"key":"A10086"}',
        '{"algo":"xxh64","shards":256,"key_hex":"413130303837"}',
        'nonsense',
        '',
        '[1]',
        '{"algo":"java","shards":256,"key":"A10086","sead":1}',
        '{"algo":"java","shards":0,"key":"A10086"}',
        '{"algo":"java","shards":256}',
        '{"algo":"java","shards":256,"key":""}',
        '{"algo":"java","shards":256,"key":"","allow_empty":true}',
        '{"algo":"java","shards":256,"key_hex":"4g"}',
        '{"algo":"java","shards":256,"key":"a","key_hex":"61"}',
        '{"algo":"java","shards":256,"key":"a","seed":7}',
        '{"algo":"java","shards":256,"key":"a\\u0000b"}',
        '{"algo":"murmur3_32","shards":256,"key":"A10086","seed":0}',
        '{"algo":"xxh3","shards":256,"key":"a","seed":"18446744073709551615"}',
        '{"algo":"java","shards":256,"key":"' + "k" * 10000 + '"}',
        '{"algo":"java","shards":256,"key":"' + "k" * 2000000 + '"}',
        '{"algo":"java","shards":256,"key":"last"}',
    ]
    result = kit.run("hash", "--batch", stdin="\n".join(requests))
    answers = [json.loads(line) for line in result.out.splitlines()]
    kit.check("--batch answers every line and goes on after bad ones", result.code == 0 and len(answers) == len(requests), result)
    if len(answers) != len(requests):
        return
    kit.check("a batch answer has hash and shard", answers[0] == {"hash": 1907625230, "shard": 14}, answers[0])
    kit.check("a 64-bit hash is a decimal string", answers[1] == {"hash": str(0x54543ce6e2977d53), "shard": 0x53}, answers[1])
    failures = [i for i, answer in enumerate(answers) if "error" in answer]
    kit.check("exactly the bad requests fail", failures == [2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 17], failures)
    kit.check("an error has a code and a message",
              all(set(answers[i]["error"]) == {"code", "message"} for i in failures) and
              answers[5]["error"]["code"] == "BAD_INPUT" and "sead" in answers[5]["error"]["message"], answers[5])
    kit.check("a key may contain NUL", answers[13]["hash"] == java("a\0b"), answers[13])
    kit.check("murmur3_32 is signed", answers[14]["hash"] == -670928716, answers[14])
    kit.check("the line after one that is too long is answered", answers[18]["hash"] == java("last"), answers[18])
    kit.expect("--batch takes no keys as arguments", 2, "hash", "--batch", "k")
