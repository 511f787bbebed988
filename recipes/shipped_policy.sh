#!/bin/sh
# The shipped policy, as far as commands make it: its first three steps.
#
# Machine: one NVIDIA H200 with 16 CPU cores. The three steps took 510, 520 and 1,307 s.
# Result of the steps: 31.6, 42.3 and 46.7 % (±1.5) of 4,000 games against three merchants, network alone
# (results/shipped-policy.json); par is 25 %. This file itself was not run: a script drove the learner with these
# settings, step 3 in three pieces with the seeds 51, 52 and 53. The code has changed since.
#
# No command makes the rest. Scripts made the networks wider (step 4) and deeper (step 5) before they learnt on, to
# 54.1 %; had small networks learn beside them, one of which plays on in searches; and taught the critic others' turns.
# Its card (agents/borneo_agents/policy/shipped/card.json) has their settings, docs/log what each brought.
set -eu
PATH="$PWD/.venv/bin:$PATH"

borneo train --device cuda --timesteps 1685585920 --gae-lambda 0.98 --actor 512x3 --critic 384x3 --seed 1 \
  --out out/step-1
borneo train --device cuda --timesteps 79167488 --start out/step-1 --bots 1 --n-envs 8192 --n-steps 32 --n-epochs 3 \
  --batch-size 4096 --learning-rate 0.0006 --ent-coef 0.01 --lead 0.15 --gae-lambda 0.99 --seed 42 --out out/step-2
borneo train --device cuda --timesteps 524812288 --start out/step-2 --bots 0.75 --n-envs 16384 --n-steps 32 \
  --n-epochs 3 --batch-size 4096 --learning-rate 0.0006 --ent-coef 0.01 --lead 0.15 --gae-lambda 0.99 --seed 51 \
  --out out/step-3
borneo arena policy:path=out/step-3/last:budget=0 merchant --lineups challenge --games 4000 --seed 4343
