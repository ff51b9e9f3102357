from __future__ import annotations

import os
import signal
import stat
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from memnb.errors import StoreBusy, StoreError, UnsafeFileSystem
from memnb.storage.locks import FileLock, interrupts_wait, require_same_process

HOLD = """
    import sys
    from pathlib import Path
    from memnb.storage.locks import FileLock
    lock = FileLock(Path(sys.argv[1]), label="nb/eda.ipynb")
    with lock.held(5000):
        print("held")
        sys.stdin.readline()
    print("free")
    sys.stdin.readline()
"""


def held_by_a_child(children: Any, path: Path) -> subprocess.Popen[str]:
    """A child that holds the lock at `path` until it gets a line."""
    child = children.start(HOLD, path)
    assert child.stdout.readline() == "held\n"
    return child


def tell(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("\n")
    child.stdin.flush()


def is_free(path: Path) -> bool:
    """Whether a newcomer gets the lock at once."""
    newcomer = FileLock(path, label="newcomer")
    try:
        with newcomer.held(0):
            return True
    except StoreBusy:
        return False
    finally:
        newcomer.close()


def test_a_second_process_is_refused_after_a_bounded_wait_and_told_who_holds(
    children: Any, tmp_path: Path
) -> None:
    child = held_by_a_child(children, tmp_path / "lock")
    lock = FileLock(tmp_path / "lock", label="us")
    with pytest.raises(StoreBusy) as caught, lock.held(50):
        pytest.fail("two processes inside")
    assert caught.value.holder == f"nb/eda.ipynb (pid {child.pid})"
    assert caught.value.holder in str(caught.value)
    assert "0.05 s" in str(caught.value)


def test_who_waits_gets_the_lock_when_it_is_let_go(children: Any, tmp_path: Path) -> None:
    child = held_by_a_child(children, tmp_path / "lock")
    tell(child)
    with FileLock(tmp_path / "lock", label="us").held(20_000):
        assert child.stdout.readline() == "free\n"


def test_the_lock_of_a_killed_process_is_free(children: Any, tmp_path: Path) -> None:
    child = held_by_a_child(children, tmp_path / "lock")
    child.kill()
    child.wait()
    assert is_free(tmp_path / "lock")


def test_a_stopped_process_keeps_the_lock_until_it_is_killed(children: Any, tmp_path: Path) -> None:
    child = held_by_a_child(children, tmp_path / "lock")
    child.send_signal(signal.SIGSTOP)
    assert not is_free(tmp_path / "lock")
    child.kill()
    child.wait()
    assert is_free(tmp_path / "lock")


def test_two_locks_on_one_file_exclude_each_other_in_one_process(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", label="us")
    with lock.held(0):
        assert not is_free(tmp_path / "lock")
    assert is_free(tmp_path / "lock")


def test_threads_that_share_a_lock_are_never_inside_at_once(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", label="us")
    counter = tmp_path / "counter"
    counter.write_text("0")

    def count() -> None:
        for _ in range(10):
            with lock.held(20_000):
                counter.write_text(str(int(counter.read_text()) + 1))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.read_text() == "40"


def test_a_thread_that_waits_too_long_is_told(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", label="us")
    refused: list[StoreBusy] = []

    def try_it() -> None:
        with pytest.raises(StoreBusy) as caught, lock.held(20):
            pytest.fail("two threads inside")
        refused.append(caught.value)

    with lock.held(0):
        thread = threading.Thread(target=try_it)
        thread.start()
        thread.join()
    assert len(refused) == 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_block_that_raises_lets_the_lock_go(error: type[BaseException], tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", label="us")
    with pytest.raises(error), lock.held(0):
        raise error
    assert is_free(tmp_path / "lock")
    with lock.held(0):
        pass


def test_a_lock_can_be_used_again_after_it_was_closed(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", label="us")
    for _ in range(2):
        with lock.held(0):
            assert not is_free(tmp_path / "lock")
        lock.close()
        lock.close()


def test_a_lock_that_was_tried_is_held_until_it_is_closed(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", label="nb.ipynb")
    assert lock.try_hold()
    other = FileLock(tmp_path / "lock", label="other")
    assert not other.try_hold()
    assert other.holder() == f"nb.ipynb (pid {os.getpid()})"
    lock.close()
    assert other.try_hold()


def test_a_lock_file_without_a_name_in_it_is_held_by_another_process(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    assert FileLock(tmp_path / "lock", label="us").holder() == "another process"


@pytest.mark.parametrize(
    "label",
    [
        pytest.param("日本語のノート" * 40 + ".ipynb", id="longer than its place"),
        pytest.param(os.fsdecode(b"caf\xe9.ipynb"), id="file name that is no UTF-8"),
        pytest.param("", id="empty"),
    ],
)
def test_whatever_the_notebook_is_called_the_holder_can_be_told(label: str, tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", label=label)
    assert lock.try_hold()
    holder = lock.holder()
    assert f"(pid {os.getpid()})" in holder
    assert holder.encode().decode() == holder


@pytest.mark.parametrize(
    "label", ["a\nb.ipynb", "a\x1b]52;c;eA==\x07.ipynb"], ids=["line", "escape"]
)
def test_the_holders_name_is_one_printable_line(label: str, tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", label=label)
    assert lock.try_hold()
    assert lock.holder().isprintable()


def test_the_lock_file_is_private(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock", label="us").held(0):
        assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600


def test_a_symlink_in_place_of_the_lock_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("precious")
    (tmp_path / "lock").symlink_to(tmp_path / "target")
    with pytest.raises(UnsafeFileSystem), FileLock(tmp_path / "lock", label="us").held(0):
        pytest.fail("held")
    assert (tmp_path / "target").read_text() == "precious"


def test_a_folder_that_is_gone_is_one_of_our_errors(tmp_path: Path) -> None:
    with pytest.raises(StoreError), FileLock(tmp_path / "none" / "lock", label="us").held(0):
        pytest.fail("held")


def test_a_lock_file_that_was_deleted_lets_no_two_inside(tmp_path: Path) -> None:
    """People delete lock files that look stale; who comes next must meet who is inside."""
    ours = FileLock(tmp_path / "lock", label="us")
    with ours.held(0):
        pass
    (tmp_path / "lock").unlink()
    other = FileLock(tmp_path / "lock", label="other")
    with other.held(0), pytest.raises(StoreBusy), ours.held(20):
        pytest.fail("two inside")


def test_a_lock_file_that_was_deleted_keeps_nobody_out(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", label="us")
    with lock.held(0):
        pass
    (tmp_path / "lock").unlink()
    with lock.held(0):
        assert not is_free(tmp_path / "lock")


def test_four_processes_share_the_lock_without_starving(children: Any, tmp_path: Path) -> None:
    (tmp_path / "counter").write_text("0")
    # Next to nothing is done outside the lock: who lets go of it asks for it again at once.
    code = """
        import os, sys
        from pathlib import Path
        from memnb.storage.locks import FileLock
        lock = FileLock(Path(sys.argv[1]) / "lock", label="one of four")
        counter = os.open(Path(sys.argv[1]) / "counter", os.O_RDWR)
        print("ready")
        sys.stdin.readline()
        mine = 0
        while True:
            with lock.held(30_000):
                count = int(os.pread(counter, 20, 0))
                if count >= 200:
                    break
                os.pwrite(counter, b"%d" % (count + 1), 0)
                mine += 1
        print(mine)
    """
    four = [children.start(code, tmp_path) for _ in range(4)]
    for child in four:
        assert child.stdout.readline() == "ready\n"
    for child in four:
        tell(child)
    shares = [int(child.stdout.readline()) for child in four]
    assert sum(shares) == 200
    assert min(shares) >= 10, shares


FORK = """
    import os, sys
    from pathlib import Path
    from memnb.errors import StoreBusy, StoreError
    from memnb.storage.locks import FileLock
    path = Path(sys.argv[1])
    lock = FileLock(path, label="parent")

    def in_child(action):
        pid = os.fork()
        if pid == 0:
            try:
                os._exit(action() or 0)
            except BaseException as error:
                print(repr(error), file=sys.stderr)
                os._exit(99)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def refused():
        try:
            with lock.held(1000):
                return 1
        except StoreBusy:
            return 2
        except StoreError as error:
            return 0 if "fork" in str(error) else 3

    def free():
        other = FileLock(path, label="other")
        try:
            with other.held(0):
                return True
        except StoreBusy:
            return False
        finally:
            other.close()
"""


def test_a_forked_child_is_told_that_the_lock_is_its_parents(children: Any, tmp_path: Path) -> None:
    code = (
        FORK
        + """
    with lock.held(0):
        pass
    print(in_child(refused))
    """
    )
    assert children.run(code, tmp_path / "lock") == "0\n"


def test_a_child_forked_while_the_lock_was_held_is_told_the_same(
    children: Any, tmp_path: Path
) -> None:
    code = (
        FORK
        + """
    with lock.held(0):
        print(in_child(refused), free())
    print(free())
    """
    )
    assert children.run(code, tmp_path / "lock") == "0 False\nTrue\n"


def test_fifty_forked_children_neither_free_the_lock_nor_keep_it(
    children: Any, tmp_path: Path
) -> None:
    code = (
        FORK
        + """
    with lock.held(0):
        for _ in range(49):
            in_child(lock.close)
        kept = not free()
        end, start = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(start)
            os.read(end, 1)
            os._exit(0)
    print(kept, free())
    os.close(start)
    os.waitpid(pid, 0)
    """
    )
    assert children.run(code, tmp_path / "lock") == "True True\n"


def test_the_process_that_opened_something_may_use_it() -> None:
    require_same_process(os.getpid())
    with pytest.raises(StoreError):
        require_same_process(os.getpid() + 1)


def test_an_interrupt_waits_for_the_end_of_the_block_and_is_raised_then() -> None:
    before = signal.getsignal(signal.SIGINT)
    done = []

    def block() -> None:
        with interrupts_wait():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_waits_for_the_outermost_of_two_blocks() -> None:
    done = []

    def blocks() -> None:
        with interrupts_wait():
            with interrupts_wait():
                signal.raise_signal(signal.SIGINT)
                done.append("inner")
            done.append("outer")

    with pytest.raises(KeyboardInterrupt):
        blocks()
    assert done == ["inner", "outer"]


def test_an_interrupt_waits_for_the_lock_to_be_let_go(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", label="us")
    done = []

    def block() -> None:
        with lock.held(0):
            signal.raise_signal(signal.SIGINT)
            done.append("inside")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert done == ["inside"]
    assert is_free(tmp_path / "lock")


@pytest.mark.parametrize("holder", ["another process", "another thread"])
def test_an_interrupt_ends_the_wait_for_the_lock(
    children: Any, tmp_path: Path, holder: str
) -> None:
    lock = FileLock(tmp_path / "lock", label="us")
    is_inside, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with lock.held(0):
            is_inside.set()
            may_end.wait()

    thread = threading.Thread(target=hold)
    if holder == "another process":
        held_by_a_child(children, tmp_path / "lock")
    else:
        thread.start()
        is_inside.wait()
    interrupt = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    try:
        with pytest.raises(KeyboardInterrupt) as caught, lock.held(5_000):
            pytest.fail("two inside")
    finally:
        may_end.set()
        interrupt.join()
    assert not isinstance(caught.value.__context__, StoreBusy), "it was heard too late"


def test_without_an_interrupt_the_block_ends_as_it_does() -> None:
    before = signal.getsignal(signal.SIGINT)
    with interrupts_wait():
        pass
    with pytest.raises(ValueError, match="own"), interrupts_wait():
        raise ValueError("own")
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_of_the_block_is_not_lost_to_an_interrupt() -> None:
    def block() -> None:
        with interrupts_wait():
            signal.raise_signal(signal.SIGINT)
            raise ValueError("own")

    with pytest.raises(KeyboardInterrupt) as caught:
        block()
    assert isinstance(caught.value.__context__, ValueError)


def test_a_program_that_ignores_interrupts_goes_on_ignoring_them() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts_wait():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_another_thread_leaves_the_handler_of_interrupts_alone() -> None:
    seen = []

    def look() -> None:
        with interrupts_wait():
            seen.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [before]


def test_a_storm_of_interrupts_leaves_no_lock_behind(children: Any, tmp_path: Path) -> None:
    """Interrupts that come before, between and after the steps of taking and giving back."""
    code = """
        import sys
        from pathlib import Path
        from faults.storms import Storm
        from memnb.errors import StoreBusy
        from memnb.storage.locks import FileLock

        path = Path(sys.argv[1])

        def work(lock):
            with lock.held(2_000):
                pass

        n_kept = n_stuck = 0
        with Storm(work, pause_seconds=0.0004) as storm:
            while storm.n_interrupts < 300:
                lock = FileLock(path, label="stormy")  # a new one doesn't pause before it tries
                if storm.lets_through(lock):
                    continue
                newcomer = FileLock(path, label="newcomer")
                n_kept += not newcomer.try_hold()
                newcomer.close()
                try:
                    with lock.held(0):
                        pass
                except StoreBusy:
                    n_stuck += 1
                lock.close()
        print(f"{n_kept} kept from others, {n_stuck} stuck for ourselves")
    """
    out = children.run(code, tmp_path / "lock")
    assert out == "0 kept from others, 0 stuck for ourselves\n"
