"""Is a value generated, chosen, or a placeholder?"""

from __future__ import annotations

import sys

import pytest

from memnb.core.secret_search import _lowered
from memnb.core.secret_values import (
    decoded_base64,
    is_chosen,
    is_generated,
    is_json_token,
    is_placeholder,
    is_strong,
)

GENERATED = [
    "eq1kdfy6" + "spsc3lkr2",
    "popovbzrsda70t9" + "ytk433szcg3",
    "Zf3D0LXCM3EIMbg" + "JpUNnkRtOfOueHznB",
    "a8f5f167f44f4964" + "e6c998dee827110c",
    "92f770b0-1dc5-4a29" + "-89e3-0e6a3a68414c",
    "853352230767" + "694291",
]
NAMES = [
    "sha256_digest2",
    "tokenExpiryDate2",
    "x509_cert_sha256_v3",
    "GenerationStreamOutputToken",
    "SummaryV2ChatResponseUsage",
    "2026-11-30T12:00:00Z",
    "version-1.2.3-alpha4",
    "https://host/a1b2c3d4e5f6",
    "/var/lib/a1b2c3d4e5f6g7",
    "100000",
    "getpass",
]
PLACEHOLDERS = [
    "YOUR_API_KEY", "x" * 20, "<token>", "${TOKEN}", "{{ token }}", "$TOKEN", "%TOKEN%", "***",
    "changeme", "change-me-1", "my-example-key-1a2b", "abc...", "0000000000000000", "12345678",
    "abcdefgh", "REDACTED", "fake1a2b3c4d5e", "%s", "sk_test_xxxxXXXX", "•••••••••",
]  # fmt: skip


@pytest.mark.parametrize("value", GENERATED)
def test_random_letters_and_digits_are_generated(value: str) -> None:
    assert is_generated(value)


@pytest.mark.parametrize("value", NAMES)
def test_names_versions_dates_and_addresses_are_not_generated(value: str) -> None:
    assert not is_generated(value)


@pytest.mark.parametrize("value", PLACEHOLDERS)
def test_what_stands_for_a_secret_is_a_placeholder(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize("value", GENERATED)
def test_what_is_generated_is_no_placeholder(value: str) -> None:
    assert not is_placeholder(value)


@pytest.mark.parametrize("value", ["password", "Passw0rd!", "postgres", "admin", "open sesame"])
def test_a_default_password_protects_nothing(value: str) -> None:
    assert not is_chosen(value)


def test_strength_counts_the_kinds_of_characters_and_wants_a_digit() -> None:
    assert is_strong("xk29mmpq", n_kinds=2)
    assert not is_strong("xk29mmpq", n_kinds=3)
    assert is_strong("Xk29!mmpq", n_kinds=4)
    assert not is_strong("Xk!mmpqrs", n_kinds=3)
    assert not is_strong("Xk29!m", n_kinds=4)


def test_base64_is_decoded_in_both_alphabets_with_or_without_padding() -> None:
    assert decoded_base64("aGk/aGk+") == "hi?hi>"
    assert decoded_base64("aGk_aGk-") == "hi?hi>"
    assert decoded_base64("aGk=") == decoded_base64("aGk") == "hi"


@pytest.mark.parametrize("value", ["", "a", "é", "aGk!", "////", "AAECAw=="])
def test_what_is_no_printable_text_decodes_to_nothing(value: str) -> None:
    assert decoded_base64(value) == ""


def test_only_a_header_with_an_algorithm_makes_a_token() -> None:
    assert is_json_token("eyJhbGciOiJIUzI1NiJ9.e30.x")
    assert not is_json_token("eyJuYW1lIjoiYSJ9.e30.x")


def test_lower_case_keeps_every_characters_place() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    assert len(_lowered(everything)) == len(everything)
