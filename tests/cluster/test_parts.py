"""What clusters need that is no part of Ray: parcels, addresses, what is known of agents."""

import os
import socket
import subprocess
import sys
import threading

import pytest
from borneo_agents.arena.ray import parcel
from borneo_agents.arena.ray.cluster import write_files_into
from borneo_agents.arena.ray.parcel import ParcelError
from borneo_agents.arena.workers.worker_process import worker_environment
from borneo_agents.cluster import TOKEN, ClusterError, check_address
from borneo_agents.protocol.process import import_paths

from borneo_env.agent import find_agent


def packed(*names):
    return parcel.packed({name: find_agent(name) for name in names}, isolate=False)


def contents(packed):
    return {path: file.content for files in packed.folders.values() for path, file in files.items()}


# ---------------------------------------------------------------- parcels


def test_the_code_of_a_bot_travels_with_what_it_imports_beside_it(bots):
    found = contents(packed("random", "merchant", "my_bots:First"))
    assert set(found) == {"my_bots.py", "my_bots_order.py"}
    assert found["my_bots.py"] == (bots / "my_bots.py").read_bytes()


def test_installed_bots_do_not_travel():
    assert contents(packed("random", "merchant")) == {}


def test_files_that_a_name_gives_travel_with_their_permissions(bots):
    (bots / "data").mkdir()
    (bots / "data" / "weights").write_bytes(b"\0\1")
    (bots / "data" / "weights").chmod(0o750)
    (bots / "my_bots_file.py").write_text(
        "from my_bots import First\n\n\nclass Reading(First):\n    def __init__(self, file, more=0):\n        pass\n"
    )
    one = packed("my_bots_file:Reading:data:more=/etc/hostname")
    assert one.folders[str(bots)]["data/weights"] == (b"\0\1", 0o750)
    assert "/etc/hostname" not in contents(one), "what is not below the current folder stays"


def test_a_parcel_that_is_too_large_is_refused(bots, monkeypatch):
    monkeypatch.setattr(parcel, "LARGEST", (bots / "my_bots.py").stat().st_size)
    with pytest.raises(ParcelError, match="the files of 'my_bots:First' and those before it have more than"):
        packed("my_bots:First")


UNPACKING = """
import pickle, sys
from pathlib import Path
from borneo_agents.arena.ray import parcel
from borneo_env.agent import find_agent
one = pickle.load(sys.stdin.buffer)
parcel.unpack(one, Path(sys.argv[1]))
try:
    parcel.check(one)
    agent = find_agent(list(one.versions)[0])
    print(sys.modules[type(agent).__module__].__file__)
except ValueError as error:
    print(error)
"""


def unpacked_elsewhere(one, place, change=lambda one: None):
    """What another process, whose path has the folder of the bots too, makes of a parcel."""
    import pickle

    change(one)
    there = subprocess.run(
        [sys.executable, "-P", "-c", UNPACKING, str(place)], input=pickle.dumps(one), capture_output=True, check=True,
        env={**os.environ, "PYTHONPATH": import_paths()},
    )  # fmt: skip
    return there.stdout.decode().strip()


def test_a_node_plays_the_bot_that_has_travelled_and_not_another_of_its_name(bots):
    place = bots / "node"
    assert unpacked_elsewhere(packed("my_bots:First"), place) == str(place / "here" / "my_bots.py")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda one: setattr(one, "program", "0"), "it has another version of borneo-env: install the same"),
        (lambda one: one.versions.update({"merchant": "0"}), "it has another version of 'merchant': install the same"),
        (lambda one: one.folders.clear() or one.folders.update({one.here: {}}), "travels if its name has it"),
    ],
)
def test_a_node_that_would_play_otherwise_refuses(bots, change, told):
    one = packed("my_bots:First", "merchant")
    (bots / "my_bots.py").rename(bots / "gone.py")
    assert told in unpacked_elsewhere(one, bots / "node", change)


def test_files_from_a_machine_stay_in_their_folder(tmp_path):
    with pytest.raises(ValueError, match=r"'records/../../x'"):
        write_files_into(tmp_path, {"records/../../x": b""})


# ---------------------------------------------------------------- addresses


@pytest.mark.parametrize("address", ["there", "ray://10.0.0.1:10001", ":6379", "10.0.0.1:0", "10.0.0.1:x"])
def test_what_is_no_address_is_told(address):
    with pytest.raises(
        ClusterError, match=r"--cluster is local, or the address of a cluster such as 10.0.0.1:6379, not"
    ):
        check_address(address)


def test_an_address_where_nobody_answers_is_told_at_once():
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(
        ClusterError, match=rf"no cluster answers at '{address}': Connection refused; `ray start --head`"
    ):
        check_address(address)


def test_an_address_where_something_else_answers_is_told():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            connection, _ = server.accept()
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(ClusterError, match="is no cluster of Ray"):
            check_address(f"127.0.0.1:{server.getsockname()[1]}")
        thread.join()


@pytest.mark.soak
def test_whoever_does_not_use_ray_does_not_import_it():
    code = (
        "import sys, borneo_agents.arena.ray.cluster, borneo_agents.commands.arena, borneo_train.distributed.ray, "
        "borneo_train.commands.train; print([name for name in sys.modules if name.split('.')[0] == 'ray'])"
    )
    env = {**os.environ, "PYTHONPATH": import_paths()}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == "[]"


def test_agents_are_not_told_what_opens_a_cluster(monkeypatch):
    monkeypatch.setenv(TOKEN, "secret")
    assert os.environ[TOKEN] and "secret" not in worker_environment().values()
