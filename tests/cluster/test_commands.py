"""Programs of their own on clusters of this machine: the tuning example, and strangers who knock."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is missing: `make test-ray` installs it")

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]  # Ray's own

TUNING = Path(__file__).parents[2] / "train/examples/ray_tune.py"
HOST = """
import os, sys
from borneo_agents.cluster import TOKEN, joined
with joined("local", 1) as ray:
    print(ray.get_runtime_context().gcs_address, os.environ[TOKEN], flush=True)
    sys.stdin.readline()
"""
GUEST = """
import sys, ray
ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
print("came in")
"""


def test_the_tuning_example_tries_several_options_and_puts_the_best_first():
    pytest.importorskip("torch")
    options = "--trials 3 --timesteps 100000 --evaluations 2 --games 8 --against random --seed 1 --json"
    done = subprocess.run([sys.executable, TUNING, *options.split()], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    order = [(one["decisions"], one["wins"]) for one in found]
    assert order == sorted(order, reverse=True)
    assert order[0][0] >= 98_304, "a whole rollout"
    assert len({tuple(one["options"].values()) for one in found}) == len(found) == 3


def test_a_cluster_of_this_machine_lets_nobody_in_without_its_token():
    host = subprocess.Popen([sys.executable, "-c", HOST], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        address, token = host.stdout.readline().split()
        assert len(token) == 64
        for given, welcome in ((token, True), ("0" * 64, False), (None, False)):
            mode = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": given} if given else {"RAY_AUTH_MODE": "disabled"}
            environment = os.environ | {"RAY_USAGE_STATS_ENABLED": "0"} | mode
            try:
                guest = subprocess.run(
                    [sys.executable, "-c", GUEST, address], env=environment, capture_output=True, text=True, timeout=60
                )
                entered = "came in" in guest.stdout
            except subprocess.TimeoutExpired:  # it knocks on, and nobody opens
                entered = False
            assert entered == welcome, (given, welcome)
    finally:
        host.communicate("\n", timeout=60)
