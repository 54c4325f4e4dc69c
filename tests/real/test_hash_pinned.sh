#!/bin/sh
# The same key is on the same shard in every process, locale, environment, compiler and optimisation.
#
# usage: test_hash_pinned.sh BUILD_DIR
#
# What would break in the world: after a restart, or with a second worker process, keys are on other shards; messages
# vanish or are handled twice.
if [ $# -ne 1 ] || ! [ -d "$1" ]; then
    echo "usage: $0 BUILD_DIR" >&2
    exit 2
fi
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
golden=$(cat "$root/tests/golden/shards.txt") || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
fail=0

ok() { echo "ok - $1"; }
not_ok() { echo "not ok - $1"; fail=1; }

# same SENTENCE WANTED GOT
same() {
    if [ -n "$2" ] && [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1: '$3' instead of '$2'"; fi
}

# Locales this machine does not have are made if it can, so that setting them means something.
make_locales() {
    command -v localedef >/dev/null || return
    mkdir "$work/locales"
    for name in zh_CN tr_TR; do
        localedef -i $name -f UTF-8 "$work/locales/$name.UTF-8" 2>/dev/null || return
    done
    export LOCPATH="$work/locales"
}

# digest_in NUMBER PROGRAM: in a process of its own, with a locale and an environment of that number.
digest_in() {
    case $(($1 % 3)) in
    0) locale=C ;;
    1) locale=zh_CN.UTF-8 ;;
    *) locale=tr_TR.UTF-8 ;;
    esac
    padding=$(head -c $(($1 * 1777)) /dev/zero | tr '\0' x)
    LC_ALL=$locale TENURE_TEST_PADDING=$padding "$2"
}

check_processes() {
    n=0 equal=0
    while [ $n -lt 20 ]; do
        digest=$(digest_in $n "$build/tests/shard_digest") || digest="exit status $?"
        if [ "$digest" = "$golden" ]; then equal=$((equal + 1)); else echo "process $n: $digest"; fi
        n=$((n + 1))
    done
    same "20 fresh processes in three locales and 20 environments place 1000 keys alike" 20 $equal
}

# check_build COMPILER FLAG...
check_build() {
    name="$*"
    command -v "$1" >/dev/null || { echo "skipped: needs $1"; return; }
    # shellcheck disable=SC2068
    if ! $@ -std=c17 -D_GNU_SOURCE -I"$root/src" -I"$root/include" "$root"/tests/unit/core/hash/shard_digest.c \
        "$root"/src/core/hash/*.c "$root/src/base/status.c" -o "$work/digest" 2>"$work/errors"; then
        cat "$work/errors"
        not_ok "$name compiles the hashes"
        return
    fi
    same "a build by $name places keys as the golden file says" "$golden" "$("$work/digest" 2>&1)"
}

check_builds() {
    for compiler in gcc clang; do
        check_build $compiler -O0
        check_build $compiler -O3
        check_build $compiler -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
    done
}

# The command line against the library, over the same 1000 keys.
check_command_line() {
    if ! [ -x "$build/tenure" ]; then
        echo "skipped: needs $build/tenure"
        return
    fi
    same "tenure hash places the order A10086 where Java does" "$(printf 'A10086\t1907625230\t14')" \
        "$("$build/tenure" hash --algo java --shards 256 A10086 2>&1)"
    same "tenure hash takes the floorMod of the smallest integer" "$(printf 'polygenelubricants\t-2147483648\t2')" \
        "$("$build/tenure" hash --algo java --shards 10 polygenelubricants 2>&1)"
    same "tenure hash takes an emoji as UTF-8" "$(printf '💰\t-1486360756\t12')" \
        "$(LC_ALL=tr_TR.UTF-8 "$build/tenure" hash --algo murmur3_32 --shards 32 💰 2>&1)"
    "$build/tests/shard_digest" keys >"$work/keys"
    for algo in xxh3 xxh64 java murmur3_32 murmur2 crc16 crc32 crc32c fnv1a32 fnv1a64 postgres; do
        "$build/tests/shard_digest" $algo 1000 >"$work/library"
        LC_ALL=tr_TR.UTF-8 "$build/tenure" hash --algo $algo --shards 1000 <"$work/keys" >"$work/command" 2>&1
        if [ -s "$work/library" ] && cmp -s "$work/library" "$work/command"; then
            ok "tenure hash --algo $algo prints for 1000 keys what the library computes"
        else
            not_ok "tenure hash --algo $algo prints for 1000 keys what the library computes"
            diff "$work/library" "$work/command" | head -4
        fi
    done
}

make_locales
check_processes
check_builds
check_command_line
exit $fail
