#!/bin/sh
# A script that works on one shard: it runs while this node owns the shard, and is told to end when the shard moves.
#
#     tenure run --group orders --per-shard -- ./one_shard.sh
#
# TENURE_SHARD and TENURE_TOKEN say what it is for. Progress is saved by a line to descriptor TENURE_CHECKPOINT_FD; the
# first lines that it could read from there are `hello` and `assigned`, with the checkpoint of the last owner.
trap 'exit 0' TERM # the step under way ends, and the shard is released

step=0
while :; do
    step=$((step + 1))
    sleep 0.2 # the work
    printf '{"event":"checkpoint","shard":%s,"token":%s,"data":"step %s"}\n' "$TENURE_SHARD" "$TENURE_TOKEN" "$step" >&"$TENURE_CHECKPOINT_FD"
done
