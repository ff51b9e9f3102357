"""The page about security names tests that there are."""

from __future__ import annotations

import re

import pytest

from conformance import tables

REPOSITORY = tables.PAGE.parents[1]
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)`", tables.PAGE.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("name", NAMED)
def test_a_test_that_the_page_names_is_there(name: str) -> None:
    assert (REPOSITORY / name).is_file()
