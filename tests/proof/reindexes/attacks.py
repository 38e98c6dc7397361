"""Rounds of reindexes.py in which several operators are at work, or a server is killed in each step."""
import subprocess
import time

PATIENCE = 300  # seconds, for whatever the machine is slow at
# What one operator does, and what another one does beside it; and whether there is a reindex before.
RIVALS = (
    ("", ("reindex",), ("reindex",)),
    ("kept", ("apply", "--yes"), ("reindex", "--back")),
    ("kept", ("reindex", "--back"), ("reindex", "--back")),
    ("kept", ("reindex", "--back"), ("reindex", "--finish", "--yes")),
    ("", ("reindex",), ("adopt",)),
    ("kept", ("reindex", "--finish", "--yes"), ("reindex", "--finish", "--yes")),
    ("", ("reindex",), ("reindex", "--abort")),
)


def start(world, words):
    with_alias = words if words[0] == "apply" else (*words, world.alias)
    return world.start(*with_alias)


def run_rivals(world, number, writers):
    """Whatever they do, the alias points to one index, and in the end each generation equals the view."""
    for before, one, two in RIVALS:
        settle(world)
        if world.reindex()["state"] == "kept" and not before:
            world.must("reindex", world.alias, "--finish", "--yes")
        elif before and not world.reindex()["state"]:
            world.must("reindex", world.alias)
        number += 1
        world.set_mapping(number)
        commands = [start(world, one)]
        time.sleep(world.random.uniform(0, 0.5))
        commands.append(start(world, two))
        codes = [command.wait(PATIENCE) for command in commands]  # 0 done, 1 the other one was first, 2 it no longer fits
        world.tally.count("pairs of operators")
        if any(code not in (0, 1, 2) for code in codes):
            world.tally.fault(f"{one} beside {two} ended with {codes}")
        world.stands_for()
    settle(world)
    writers.pause()
    world.compare()
    writers.go_on()


def settle(world):
    """Waits until nothing is under way."""
    deadline = time.monotonic() + PATIENCE
    while world.reindex()["state"] not in ("", "kept", "failed") or world.reindex()["wanted"]:
        if time.monotonic() > deadline:
            world.tally.fault(f"still under way: {world.reindex()}")
            return
        time.sleep(0.1)


def run_kills(world, number, writers, what, kill):
    """Kills the server in each state through which a reindex, the way back and the end of it go."""
    world.set_mapping(number)
    for words, is_over in (
        (("reindex", "--keep", "1h"), lambda reindex, live: reindex["state"] == "kept"),
        (("reindex", "--back"), lambda reindex, live: reindex["state"] == "kept" and reindex["live_name"] != live),
        (("reindex", "--back"), lambda reindex, live: reindex["state"] == "kept" and reindex["live_name"] != live),
        (("reindex", "--finish", "--yes"), lambda reindex, live: not reindex["state"]),
    ):
        kill_in_each_state(world, words, is_over, what, kill)
    writers.pause()
    world.compare()
    writers.go_on()
    left = world.elasticsearch.generations(world.alias)
    if len(left) != 1:
        world.tally.fault(f"after the round there are {left}")


def kill_in_each_state(world, words, is_over, what, kill):
    killed, deadline = set(), time.monotonic() + PATIENCE
    live = world.reindex()["live_name"]
    command = start(world, words)
    while not is_over(reindex := world.reindex(), live):
        if time.monotonic() > deadline:
            world.tally.fault(f"{words} is still under way: {reindex}")
            break
        state = reindex["state"]
        if state and state not in killed:
            killed.add(state)
            kill()
            world.tally.count(f"{what}: in the state {state}")
        elif command.poll() not in (None, 0):
            command = start(world, words)  # a server was away
        else:
            time.sleep(0.005)
    try:
        command.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        world.tally.fault(f"{words} does not end")
        command.kill()
        command.wait()
