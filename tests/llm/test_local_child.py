"""The model's process knows none of our keys and never outlives us."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memnb.errors import ModelUnavailable
from memnb.llm import local_child
from memnb.llm.local_child import LocalChild


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "HF_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "PYTHON_TOKEN",
        "CONDA_API_KEY",
        "DATABASE_URL",
        "JPY_PARENT_PID",
    ],
)
def test_the_child_is_not_told(name: str) -> None:
    told = local_child.child_environment({name: "value"}, Path("site-packages"))
    assert name not in told


@pytest.mark.parametrize("name", ["PATH", "HOME", "LC_ALL", "PYTHONPATH", "SystemRoot"])
def test_the_child_is_told(name: str) -> None:
    told = local_child.child_environment({name: "value"}, Path("site-packages"))
    assert told[name] == "value"


def test_openmp_waits_passively_in_the_child_whatever_the_parent_says() -> None:
    told = local_child.child_environment({"OMP_WAIT_POLICY": "ACTIVE"}, Path("site-packages"))
    assert told == {"OMP_WAIT_POLICY": "PASSIVE"}


def test_a_checkout_comes_before_the_python_path() -> None:
    told = local_child.child_environment({"PYTHONPATH": "mine"}, Path("checkout"))
    assert told["PYTHONPATH"] == os.pathsep.join(["checkout", "mine"])


@given(st.dictionaries(st.text(), st.text()))
def test_nothing_is_invented_but_two_settings(parent: dict[str, str]) -> None:
    told = local_child.child_environment(parent, Path("checkout"))
    assert set(told) <= {*parent, "OMP_WAIT_POLICY", "PYTHONPATH"}


def test_weights_that_are_no_model_are_one_line_and_leave_no_process(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="needs pip install 'memnb[local]'")
    weights = tmp_path / "weights.gguf"
    weights.write_bytes(b"GGUF, or not")
    child = LocalChild(weights, threads=1, context_tokens=512)
    with pytest.raises(ModelUnavailable, match="could not be started"):
        child.wait_ready()
    assert not child.alive


def test_a_child_that_is_killed_while_it_loads_is_gone(tmp_path: Path) -> None:
    child = LocalChild(tmp_path / "none.gguf", threads=1, context_tokens=512)
    child.kill()
    with pytest.raises(ModelUnavailable):
        child.wait_ready()
    assert not child.alive
