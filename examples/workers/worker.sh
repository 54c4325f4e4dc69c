#!/usr/bin/env bash
# A worker for `tenure run`, in a shell: one process for all shards of the node.
#
#     tenure run --group orders -- ./worker.sh
#
# Its work is to count; the count of a shard is its checkpoint. For a script that need not know of shards in the plural,
# see one_shard.sh.
declare -A token count

field() { # NAME: its number or text in $line
    [[ $line =~ \"$1\":\"?([^,\"}]*) ]] && printf '%s' "${BASH_REMATCH[1]}"
}
say() { # EVENT SHARD TOKEN [MORE]
    printf '{"event":"%s","shard":%s,"token":%s%s}\n' "$1" "$2" "$3" "${4:-}"
}
save() { # SHARD
    say checkpoint "$1" "${token[$1]}" ",\"data\":\"${count[$1]}\""
}

while :; do
    if IFS= read -r -t 0.2 line; then
        shard=$(field shard) now=$(field token)
        case $(field event) in
        assigned)
            checkpoint=$(field checkpoint)
            token[$shard]=$now count[$shard]=${checkpoint/null/0}
            say ready "$shard" "$now"
            ;;
        prepare) say prepared "$shard" "$now" ;;
        drain)
            [ "${token[$shard]:-}" = "$now" ] && save "$shard"
            unset "token[$shard]"
            say released "$shard" "$now"
            ;;
        lost) [ "${token[$shard]:-}" = "$now" ] && unset "token[$shard]" ;;
        shutdown) exit 0 ;;
        esac
        continue # all that waits first
    elif [ $? -le 128 ]; then
        exit 0 # end of input: the agent is gone
    fi
    for shard in "${!token[@]}"; do
        count[$shard]=$((count[$shard] + 1)) # the work
        [ $((count[$shard] % 5)) -eq 0 ] && save "$shard"
    done
done
