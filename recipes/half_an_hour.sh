#!/bin/sh
# A policy in half an hour: self-play from nothing, then merchants in the other seats.
#
#   for seed in 101 102 103; do sh recipes/half_an_hour.sh $seed & done; wait
#
# Machine: one NVIDIA H200 with 16 CPU cores. Three at once took 1,656 s, everything included.
# Result: 44.8, 39.5 and 42.0 % (±1.5) of 4,000 games against three merchants, network alone; par is 25 %
# (results/half-an-hour.json). The code has changed since: see "stale" there. Run in the project's folder.
set -eu
seed=${1:-101}
PATH="$PWD/.venv/bin:$PATH"

borneo train --minutes 6.6 --gae-lambda 0.98 --evaluations 3 --evaluation-games 100 --seed "$seed" \
  --out "out/self-$seed"
borneo train --minutes 17.5 --start "out/self-$seed" --opponent merchant --opponent-share 1 --n-epochs 3 \
  --n-steps 128 --batch-size 4096 --learning-rate 0.0006 --ent-coef 0.01 --margin-coef 0.15 --gae-lambda 0.99 \
  --evaluations 4 --evaluation-games 100 --seed "$seed" --out "out/bots-$seed"
borneo arena "policy:path=out/bots-$seed/last:budget=0" merchant --lineups challenge --games 4000 --seed 4343
