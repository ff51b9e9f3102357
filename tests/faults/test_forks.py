"""A cell that forks, as multiprocessing does: the child inherits all that memory has open."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.faults

Harness = Callable[..., str]

FORK = """
    import json, multiprocessing, sys
    from pathlib import Path
    from faults import weaknesses
    from faults.ledger import Ledger
    from faults.processes import crash
    from faults.verify import verify
    from faults.workload import Place, Worker
    from memnb.errors import MemnbError

    weaknesses.apply(*sys.argv[2:])
    place, ledger = Place(Path(sys.argv[1])), Ledger()
    place.make()
    worker = Worker(place, name="parent", seed=4, say=ledger.take)
    for operation in (worker.remember, worker.learn, worker.append, worker.replace):
        worker.attempt(operation)

    def in_child(queue):
        memory, outcomes = worker.memory, []
        for use in (
            lambda: memory.remember("A child says this."),
            lambda: memory.ask("Hi"),
            lambda: memory.facts(),
            lambda: memory.undo(),
        ):
            try:
                use()
                outcomes.append("worked")
            except MemnbError as error:
                is_told = "fork" in str(error) and str(error).isprintable()
                outcomes.append("told" if is_told else f"{type(error).__name__}: {error}")
            except Exception as error:
                outcomes.append(crash(error))
        queue.put(outcomes)
        memory.close()

    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    outcomes = set()
    for _ in range(50):
        worker.attempt(worker.ask)  # so that there is something to undo
        child = context.Process(target=in_child, args=(queue,))
        child.start()
        outcomes.update(queue.get())
        child.join()
        worker.work(1)
    worker.memory.close()
    found = verify(place, ledger, name="next", seed=1)
    print(json.dumps([sorted(outcomes), found]))
"""


def test_fifty_forked_children_are_told_and_disturb_nothing(
    harness: Harness, tmp_path: Path
) -> None:
    outcomes, found = json.loads(harness(FORK, tmp_path / "kept"))
    assert outcomes == ["told"]
    assert found == []


def test_children_that_nothing_stops_break_the_session(harness: Harness, tmp_path: Path) -> None:
    outcomes, found = json.loads(harness(FORK, tmp_path / "kept", "no-fork-guard"))
    assert outcomes != ["told"]
    assert found != []


def test_a_forked_child_that_opens_memory_anew_may_use_it(harness: Harness, tmp_path: Path) -> None:
    out = harness(
        """
        import json, os, sys
        from pathlib import Path
        from faults.ledger import Ledger, parsed
        from faults.processes import Process
        from faults.verify import verify
        from faults.workload import Place, Worker

        place, ledger = Place(Path(sys.argv[1])), Ledger()
        place.make()
        parent = Worker(place, name="parent", seed=4, say=ledger.take)
        parent.attempt(parent.remember)

        def body(say):
            child = Worker(place, name="child", seed=5, say=say)
            child.work(10)
            child.memory.close()

        process = Process(body)
        parent.work(10)
        process.hear_to_the_end()
        lines = parsed(process.data)
        for line in lines:
            ledger.take(line)
        parent.memory.close()
        print(json.dumps([len(lines), verify(place, ledger, name="next", seed=1)]))
        """,
        tmp_path / "kept",
    )
    n_lines, found = json.loads(out)
    assert n_lines > 5
    assert found == []
