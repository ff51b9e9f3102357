from __future__ import annotations

import hmac
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memnb.core.facts import Fact, Kind, Source, SourceRef, mac_payload
from memnb.errors import (
    GenerationChanged,
    HiddenText,
    InputError,
    InvalidText,
    MemnbError,
    Refused,
    RevisionChanged,
    SecretFound,
    SourceNotValid,
    StoreBusy,
    UnknownId,
)
from memnb.memory import forgetting, remembering, stating
from memnb.memory.remembering import Claim
from memnb.memory.stating import Said
from memories import EUR, KEY, SECRET, SPLIT, STORE_ID, TESTS, Children, Desk, scripted


def fact(desk: Desk, fact_id: str) -> Fact:
    found = desk.stores.facts.fact(fact_id)
    assert found is not None
    return found


# --- remember ------------------------------------------------------------------------------------


def test_a_statement_becomes_a_fact_that_points_at_its_record(desk: Desk) -> None:
    kept = desk.remember(EUR, kind="preference")
    assert (kept.outcome, kept.revision) == ("new", 1)
    revision = fact(desk, kept.fact_id).current
    assert (revision.text, revision.basis, revision.origin) == (EUR, "statement", "person")
    (source,) = revision.sources
    assert source.ref.session_id == desk.session_id
    (record,) = [r for r in desk.records() if r.head.seq in source.ref.seqs]
    assert record.body is not None
    assert (record.body["via"], record.body["asks"]) == ("command", False)
    assert desk.status(kept.fact_id) == "valid"


def test_a_statement_is_one_fact_one_record_and_no_copy_of_its_text(desk: Desk) -> None:
    desk.remember(EUR)
    assert desk.types() == ["session_start", "user"]
    assert desk.transcript().count(EUR) == 1


@pytest.mark.parametrize("kind", ["preference", "convention", "decision", "observation"])
def test_a_fact_keeps_its_kind(desk: Desk, kind: Kind) -> None:
    assert fact(desk, desk.remember(EUR, kind=kind).fact_id).kind == kind


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(EUR, id="the same"),
        pytest.param(EUR.upper(), id="another case"),
        pytest.param("  We always   report\trevenue in EUR cents. ", id="other blanks"),
    ],
)
def test_a_text_that_is_known_is_not_kept_twice(desk: Desk, again: str) -> None:
    first = desk.remember(EUR)
    second = desk.remember(again)
    assert (second.outcome, second.fact_id, second.revision) == ("already", first.fact_id, 1)
    assert desk.stores.facts.count() == 1


def test_composed_and_decomposed_letters_are_the_same_text(desk: Desk) -> None:
    first = desk.remember("Größe is in cm")
    assert desk.remember("Gro\u0308ße is in cm").fact_id == first.fact_id


def test_a_text_that_was_corrected_since_is_not_kept_anew(desk: Desk) -> None:
    first = desk.remember(EUR)
    desk.correct(first.fact_id, "We report revenue in euros.")
    again = desk.remember(EUR)
    assert (again.outcome, again.fact_id, again.revision) == ("replaced", first.fact_id, 2)
    assert fact(desk, first.fact_id).current.text == "We report revenue in euros."


def test_a_text_that_a_fact_came_back_to_is_known(desk: Desk) -> None:
    first = desk.remember("one")
    desk.correct(first.fact_id, "two", 1)
    desk.correct(first.fact_id, "one", 2)
    assert desk.remember("one").outcome == "already"
    assert desk.remember("two").outcome == "replaced"


def test_a_text_of_512_bytes_is_kept_and_one_more_is_not(desk: Desk) -> None:
    longest = "é" * 256
    assert desk.remember(longest).outcome == "new"
    with pytest.raises(InvalidText, match="at most 512 bytes"):
        desk.remember(longest + "x")


REFUSED = [
    pytest.param("", InvalidText, id="empty"),
    pytest.param(" \t ", InvalidText, id="blank"),
    pytest.param("x" * 513, InvalidText, id="513 bytes"),
    *[
        pytest.param(f"one{line_break}two", InvalidText, id=f"line break {ord(line_break):04x}")
        for line_break in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
    ],
    pytest.param(f"the token is {SECRET}", SecretFound, id="secret"),
    pytest.param("abc\u202edef", HiddenText, id="bidirectional control"),
    pytest.param("abc\u200bdef", HiddenText, id="invisible"),
    pytest.param("abc\0def", HiddenText, id="NUL"),
    pytest.param("abc\ud800def", InvalidText, id="half a surrogate pair"),
    pytest.param("ab\U000e0041c", HiddenText, id="tag"),
]


@pytest.mark.parametrize(("text", "error"), REFUSED)
def test_a_refused_statement_leaves_nothing_on_the_disk(
    desk: Desk, text: str, error: type[MemnbError]
) -> None:
    with pytest.raises(error) as caught:
        desk.remember(text)
    assert "\n" not in str(caught.value)
    assert SECRET not in str(caught.value)
    assert not desk.folder.exists()


@pytest.mark.parametrize(("text", "error"), REFUSED)
def test_a_refused_correction_leaves_nothing_behind(
    desk: Desk, text: str, error: type[MemnbError]
) -> None:
    kept = desk.remember(EUR)
    before = desk.transcript()
    with pytest.raises(error):
        desk.correct(kept.fact_id, text)
    assert desk.transcript() == before
    assert len(fact(desk, kept.fact_id).revisions) == 1


def test_a_command_with_a_secret_beside_the_text_is_not_recorded(desk: Desk) -> None:
    with pytest.raises(SecretFound):
        stating.remember(desk.memory, EUR, Said(f"%memory remember --note {SECRET} {EUR}"))
    assert not desk.folder.exists()


def test_the_fact_is_the_last_place_of_its_text_in_the_command(desk: Desk) -> None:
    kept = stating.remember(
        desk.memory, "decision", Said("%memory remember --kind decision decision"), kind="decision"
    )
    assert desk.status(kept.fact_id) == "valid"
    (source,) = fact(desk, kept.fact_id).current.sources
    assert source.quote is not None
    assert source.quote.start == len("%memory remember --kind decision ")


def test_what_is_derived_from_an_unknown_fact_leaves_nothing_on_the_disk(desk: Desk) -> None:
    with pytest.raises(UnknownId):
        desk.remember(EUR, derived_from=("F-zzzzzz",))
    assert not desk.stores.facts.count()
    assert EUR not in desk.transcript()


def test_a_time_that_ends_before_it_begins_is_refused_in_a_line(desk: Desk) -> None:
    with pytest.raises(InputError):
        desk.remember(
            EUR,
            valid_from="2026-11-30T00:00:00.000000Z",
            valid_to="2026-11-29T00:00:00.000000Z",
        )
    assert not desk.stores.facts.count()


def test_one_fact_named_twice_as_origin_counts_once(desk: Desk) -> None:
    base = desk.remember(EUR).fact_id
    kept = desk.remember(SPLIT, derived_from=(base, base))
    assert [link.other_id for link in fact(desk, kept.fact_id).current.links] == [base]


def test_stating_what_is_known_writes_no_second_copy_of_the_text(desk: Desk) -> None:
    # A copy that no fact cites would not be excluded when the fact is forgotten.
    desk.remember(EUR)
    desk.remember(EUR)
    assert desk.transcript().count(EUR) == 1


def test_a_fact_whose_evidence_was_undone_is_in_the_prompt_again_when_a_person_states_it(
    desk: Desk,
) -> None:
    desk.learn(EUR)
    desk.memory.session.undo()
    assert EUR not in desk.section()
    desk.remember(EUR)
    assert EUR in desk.section()


def test_a_fact_whose_source_was_excluded_is_in_the_prompt_again_when_a_person_states_it(
    desk: Desk,
) -> None:
    message = f"{EUR} {SPLIT}"
    model = scripted(
        ("memory_remember", {"text": EUR}), ("memory_remember", {"text": SPLIT}), "Noted."
    )
    first, _ = desk.ask(message, model, mode="auto").remembered
    desk.forget(first.partition("@")[0])
    desk.remember(SPLIT)
    assert SPLIT in desk.section()


def test_a_held_fact_is_in_the_prompt_again_when_a_person_states_it(desk: Desk) -> None:
    base = desk.remember("base").fact_id
    desk.remember(EUR, derived_from=(base,))
    desk.correct(base, "another base")
    assert EUR not in desk.section()
    desk.remember(EUR)
    assert EUR in desk.section()


def test_a_fact_whose_time_is_over_is_in_the_prompt_again_when_a_person_states_it(
    desk: Desk,
) -> None:
    desk.remember(EUR, valid_to="2026-11-01T00:00:00.000000Z")
    assert EUR not in desk.section()
    desk.remember(EUR)
    assert EUR in desk.section()


def test_two_kernels_that_state_the_same_at_once_make_one_fact(desk: Desk) -> None:
    desks = [desk, desk.beside()]
    desk.remember("something else")  # the database exists
    barrier = threading.Barrier(2)
    outcomes: list[str] = []

    def state(one: Desk) -> None:
        barrier.wait()
        outcomes.append(one.remember(EUR).outcome)

    threads = [threading.Thread(target=state, args=(one,)) for one in desks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    desks[1].close()
    assert sorted(outcomes) == ["already", "new"]
    assert desk.stores.facts.count() == 2


# --- correct -------------------------------------------------------------------------------------


def test_a_correction_adds_a_revision_with_evidence_of_its_own(desk: Desk) -> None:
    kept = desk.remember(EUR)
    corrected = desk.correct(kept.fact_id, SPLIT)
    assert (corrected.fact_id, corrected.revision) == (kept.fact_id, 2)
    first, second = fact(desk, kept.fact_id).revisions
    assert (first.text, second.text) == (EUR, SPLIT)
    assert first.sources[0].ref != second.sources[0].ref
    assert SPLIT in desk.section()
    assert EUR not in desk.section()


@pytest.mark.parametrize("revision", [0, 1, 3])
def test_a_correction_of_another_revision_than_the_present_changes_nothing(
    desk: Desk, revision: int
) -> None:
    kept = desk.remember("one")
    desk.correct(kept.fact_id, "two")
    with pytest.raises(RevisionChanged, match="at revision 2 now"):
        desk.correct(kept.fact_id, "three", revision)
    assert fact(desk, kept.fact_id).current.text == "two"


def test_of_two_corrections_at_once_one_wins(desk: Desk) -> None:
    fact_id = desk.remember("one").fact_id
    desks = [desk, desk.beside()]
    barrier = threading.Barrier(2)
    outcomes: list[str] = []

    def correct(number: int) -> None:
        barrier.wait()
        try:
            desks[number].correct(fact_id, f"text {number}")
        except RevisionChanged:
            outcomes.append("conflict")
        else:
            outcomes.append("corrected")

    threads = [threading.Thread(target=correct, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    desks[1].close()
    assert sorted(outcomes) == ["conflict", "corrected"]
    assert len(fact(desk, fact_id).revisions) == 2


def test_a_correction_that_says_the_same_is_refused(desk: Desk) -> None:
    kept = desk.remember(EUR)
    with pytest.raises(InvalidText, match="says that already"):
        desk.correct(kept.fact_id, EUR.lower())
    assert len(fact(desk, kept.fact_id).revisions) == 1


def test_a_correction_of_no_fact_leaves_nothing_behind(desk: Desk) -> None:
    desk.remember(EUR)
    before = desk.transcript()
    with pytest.raises(UnknownId):
        desk.correct("F-zzzzzz", SPLIT)
    assert desk.transcript() == before


def test_evidence_that_is_hidden_cannot_justify_a_correction(desk: Desk) -> None:
    forgotten = desk.remember(SPLIT)
    (source,) = fact(desk, forgotten.fact_id).current.sources
    kept = desk.remember(EUR)
    desk.forget(forgotten.fact_id)
    with pytest.raises(SourceNotValid) as caught:
        stating.correct(
            desk.memory,
            kept.fact_id,
            "In cents.",
            Said("In cents."),
            expected_revision=1,
            evidence=(source,),
        )
    assert caught.value.status == "hidden"
    assert len(fact(desk, kept.fact_id).revisions) == 1


def test_further_evidence_may_name_its_records_in_any_order(desk: Desk) -> None:
    desk.remember("one")
    desk.remember("two")
    ref = desk.memory.validator.source_ref(desk.session_id, [3, 2])
    kept = desk.remember(EUR, evidence=(Source(STORE_ID, ref),))
    assert desk.status(kept.fact_id) == "valid"


def test_further_evidence_of_no_session_is_refused(desk: Desk) -> None:
    ref = SourceRef("S-20261130-091005-7k2m9q", (2,), "0" * 64)
    with pytest.raises(SourceNotValid) as caught:
        desk.remember(EUR, evidence=(Source(STORE_ID, ref),))
    assert caught.value.status == "missing"
    assert not desk.stores.facts.count()


# --- what is derived -----------------------------------------------------------------------------


def family(desk: Desk) -> tuple[str, str, str, str]:
    """A fact, one derived from it, one derived from that, and one that stands alone."""
    base = desk.remember("base").fact_id
    child = desk.remember("child", derived_from=(base,)).fact_id
    grandchild = desk.remember("grandchild", derived_from=(child,)).fact_id
    return base, child, grandchild, desk.remember("alone").fact_id


def test_correcting_a_fact_takes_what_is_derived_from_it_out_of_the_prompt(desk: Desk) -> None:
    base, child, grandchild, _ = family(desk)
    desk.correct(base, "another base")
    section = desk.section()
    assert "- another base" in section
    assert "- alone" in section
    assert "child" not in section
    for held in (child, grandchild):
        (hold,) = fact(desk, held).holds
        assert (hold.reason, hold.because_id) == ("source_changed", base)


def test_forgetting_a_fact_takes_what_is_derived_from_it_out_of_the_prompt(desk: Desk) -> None:
    base, child, grandchild, alone = family(desk)
    forgot = desk.forget(base)
    assert sorted(forgot.flagged) == sorted([child, grandchild])
    assert desk.carried()[1] == (f"{alone}@1",)


def test_facts_derived_from_each_other_in_a_circle_are_flagged_once_each(desk: Desk) -> None:
    base, child, *_ = family(desk)
    claim = Claim("base of child", "statement", (), "person", derived_from=(child,))
    said = stating.record(desk.memory, claim.text, Said(claim.text))
    remembering.correct(
        desk.stores,
        desk.memory.validator,
        base,
        Claim(claim.text, "statement", (said,), "person", derived_from=(child,)),
        expected_revision=1,
    )
    forgot = desk.forget(child)
    assert base in forgot.flagged
    assert child not in forgot.flagged


def test_a_person_who_corrects_a_held_fact_brings_it_back(desk: Desk) -> None:
    base, child, *_ = family(desk)
    desk.correct(base, "another base")
    desk.correct(child, "another child")
    assert "- another child" in desk.section()


# --- the keyed digest ----------------------------------------------------------------------------


def recomputed(one: Fact) -> list[bytes]:
    return [
        hmac.digest(KEY, b"fact " + mac_payload(STORE_ID, one.kind, one.scope, revision), "sha256")
        for revision in one.revisions
    ]


def test_the_keyed_digest_of_every_revision_can_be_computed_again(desk: Desk) -> None:
    base, child, *_ = family(desk)
    desk.correct(base, "another base")
    for fact_id in (base, child):
        one = fact(desk, fact_id)
        assert [revision.mac for revision in one.revisions] == recomputed(one)


def test_the_keyed_digest_does_not_depend_on_the_order_of_origins(desk: Desk) -> None:
    bases = sorted(desk.remember(f"base {number}").fact_id for number in range(4))
    one = fact(desk, desk.remember("child", derived_from=tuple(reversed(bases))).fact_id)
    assert [revision.mac for revision in one.revisions] == recomputed(one)


def test_the_keyed_digest_of_another_key_differs(desk: Desk) -> None:
    one = fact(desk, desk.remember(EUR).fact_id)
    payload = mac_payload(STORE_ID, one.kind, one.scope, one.current)
    assert one.current.mac != hmac.digest(bytes(32), b"fact " + payload, "sha256")


# --- forget --------------------------------------------------------------------------------------


def test_forgetting_removes_the_fact_and_bars_its_evidence(desk: Desk) -> None:
    kept = desk.remember(EUR)
    (source,) = fact(desk, kept.fact_id).current.sources
    forgot = desk.forget(kept.fact_id)
    assert (forgot.first, forgot.generation, forgot.n_revisions) == (True, 1, 1)
    assert forgot.excluded == ((desk.session_id, source.ref.seqs[0]),)
    assert desk.stores.facts.count() == 0
    assert desk.stores.facts.exclusions(desk.session_id) == {source.ref.seqs[0]: 1}
    assert desk.section() == ""


def test_every_revision_is_barred_not_just_the_present_one(desk: Desk) -> None:
    kept = desk.remember("one")
    desk.correct(kept.fact_id, "two")
    assert len(desk.forget(kept.fact_id).excluded) == 2
    for text in ("one", "two"):
        with pytest.raises(Refused, match="forgotten"):
            desk.remember(text)


def test_forgetting_again_changes_nothing(desk: Desk) -> None:
    kept = desk.remember(EUR)
    desk.forget(kept.fact_id)
    again = desk.forget(kept.fact_id)
    assert (again.first, again.generation) == (False, 1)
    assert desk.stores.facts.generation() == 1


@pytest.mark.parametrize("fact_id", ["F-zzzzzz", "F-ZZZZZZ", "", "F-7k2m9", "*", "F-7k2m9q\n"])
def test_forgetting_what_never_was_is_an_error(desk: Desk, fact_id: str) -> None:
    desk.remember(EUR)
    with pytest.raises(UnknownId):
        desk.forget(fact_id)
    assert desk.stores.facts.generation() == 0


def test_other_facts_of_the_same_source_are_kept_and_fall_silent(desk: Desk) -> None:
    model = scripted(
        ("memory_remember", {"text": EUR}), ("memory_remember", {"text": SPLIT}), "Noted."
    )
    first, second = desk.ask(f"{EUR} {SPLIT}", model, mode="auto").remembered
    desk.forget(first.partition("@")[0])
    other = second.partition("@")[0]
    assert desk.status(other) == "hidden"
    assert fact(desk, other).current.text == SPLIT
    assert desk.section() == ""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(EUR, id="the same"),
        pytest.param(EUR.upper(), id="another case"),
        pytest.param(EUR.replace(" ", "  "), id="other blanks"),
    ],
)
def test_a_forgotten_text_is_refused_until_a_person_insists(desk: Desk, text: str) -> None:
    kept = desk.remember(EUR)
    desk.forget(kept.fact_id)
    with pytest.raises(Refused, match="2026-11-30"):
        desk.remember(text)
    assert desk.stores.facts.count() == 0
    again = desk.remember(text, again=True)
    assert again.outcome == "new"
    assert again.fact_id != kept.fact_id
    assert text.split()[-1] in desk.section()


def test_what_was_insisted_upon_can_be_forgotten_again(desk: Desk) -> None:
    desk.forget(desk.remember(EUR).fact_id)
    forgot = desk.forget(desk.remember(EUR, again=True).fact_id)
    assert (forgot.first, forgot.generation) == (True, 2)
    with pytest.raises(Refused):
        desk.remember(EUR)


def test_a_forgotten_text_that_is_refused_is_not_recorded_anew(desk: Desk) -> None:
    desk.forget(desk.remember(EUR).fact_id)
    before = desk.transcript()
    with pytest.raises(Refused):
        desk.remember(EUR)
    assert desk.transcript() == before


def test_a_fact_cannot_be_corrected_to_a_forgotten_text(desk: Desk) -> None:
    kept = desk.remember(SPLIT)
    desk.forget(desk.remember(EUR).fact_id)
    with pytest.raises(Refused):
        desk.correct(kept.fact_id, EUR)
    assert fact(desk, kept.fact_id).current.text == SPLIT


def test_a_forgotten_fact_is_unknown_and_says_since_when(desk: Desk) -> None:
    kept = desk.remember(EUR)
    desk.forget(kept.fact_id)
    with pytest.raises(UnknownId, match="forgotten on 2026-11-30"):
        desk.correct(kept.fact_id, SPLIT)


def test_forgotten_bytes_are_nowhere_in_the_files_of_the_database(desk: Desk) -> None:
    texts = [f"Convention {number} is about zebra-{number:04}." for number in range(40)]
    ids = [desk.remember(text).fact_id for text in texts]
    desk.correct(ids[0], "Convention 0 is about giraffe-0000.")
    desk.forget(ids[0])
    desk.forget(ids[7])
    desk.close()
    data = desk.database_bytes()
    for gone in (b"zebra-0000", b"giraffe-0000", b"zebra-0007", ids[0].encode() * 2):
        assert gone not in data
    assert b"zebra-0008" in data


def test_while_another_reads_the_bytes_are_pending_and_a_retry_removes_them(desk: Desk) -> None:
    kept = desk.remember(EUR)
    other = desk.beside()
    with other.stores.facts.snapshot():
        assert other.stores.facts.count() == 1
        forgetting.forget(desk.stores, kept.fact_id)
        assert not desk.stores.facts.scrub()
    assert desk.stores.facts.scrub()
    other.close()
    desk.close()
    assert EUR.encode() not in desk.database_bytes()


def test_after_a_forget_nothing_asked_before_it_is_kept(desk: Desk) -> None:
    kept = desk.remember(EUR)
    desk.forget(kept.fact_id)
    source = stating.record(desk.memory, SPLIT, Said(SPLIT))
    with pytest.raises(GenerationChanged):
        remembering.remember(
            desk.stores,
            desk.memory.validator,
            Claim(SPLIT, "quote", (source,), "agent"),
            expected_generation=0,
        )
    assert desk.stores.facts.count() == 0


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda desk, fact_id: desk.remember(SPLIT), id="remember"),
        pytest.param(lambda desk, fact_id: desk.correct(fact_id, SPLIT), id="correct"),
        pytest.param(lambda desk, fact_id: desk.forget(fact_id), id="forget"),
    ],
)
def test_a_change_that_waited_in_vain_names_who_writes_and_leaves_the_fact(
    desk: Desk, change: Callable[[Desk, str], object]
) -> None:
    kept = desk.remember(EUR)
    other = desk.beside("training.ipynb")
    desk.wait_ms = 50
    with (
        other.stores.facts.transaction(now=other.stores.now()),
        pytest.raises(StoreBusy, match=r"training\.ipynb \(pid \d+\)"),
    ):
        change(desk, kept.fact_id)
    other.close()
    assert desk.carried()[1] == (f"{kept.fact_id}@1",)
    assert desk.stores.facts.generation() == 0


def test_a_change_is_whole_or_not_at_all_when_the_disk_takes_no_more(
    tmp_path: Path, children: Children
) -> None:
    out = children.run(
        """
        import resource, signal, sys
        from pathlib import Path
        from memnb.errors import StoreError
        sys.path.insert(0, sys.argv[2])
        from memories import Desk

        def limit(n_bytes):
            resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, resource.RLIM_INFINITY))

        desk = Desk(Path(sys.argv[1]))
        acknowledged = [desk.remember("text 0").fact_id]
        log = desk.folder / "facts.sqlite3-wal"
        refused = 0
        for number in range(1, 9):
            limit(log.stat().st_size + number * 2000)
            try:
                acknowledged.append(desk.remember(f"text {number}").fact_id)
            except StoreError:
                refused += 1
            limit(resource.RLIM_INFINITY)
        desk.close()
        again = Desk(Path(sys.argv[1]))
        carried = [reference.partition("@")[0] for reference in again.carried()[1]]
        print(carried == acknowledged, again.stores.facts.count() == len(carried), refused > 0)
        """,
        tmp_path / "project",
        TESTS,
    )
    assert out.split() == ["True", "True", "True"]


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["remember", "correct", "forget", "undo", "again"]), max_size=8))
def test_whatever_happens_the_prompt_holds_valid_facts_only(
    tmp_path_factory: pytest.TempPathFactory, operations: list[str]
) -> None:
    desk = Desk(tmp_path_factory.mktemp("any") / "project")
    fact_id, revision = "F-zzzzzz", 0
    for number, operation in enumerate(operations):
        try:
            if operation == "remember":
                fact_id, revision = desk.remember(f"text {number % 3}").fact_id, 1
            elif operation == "again":
                fact_id, revision = desk.remember(f"text {number % 3}", again=True).fact_id, 1
            elif operation == "correct":
                revision = desk.correct(fact_id, f"text {number % 3}", revision).revision
            elif operation == "forget":
                desk.forget(fact_id)
            else:
                desk.memory.session.undo()
        except MemnbError:
            continue
    text, carried = desk.carried()
    for reference in carried:
        one = fact(desk, reference.partition("@")[0])
        assert desk.status(one.fact_id) == "valid"
        assert f"- {one.current.text} [{one.fact_id}]" in text
    desk.close()
