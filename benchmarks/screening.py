"""How many secrets the screen finds, what it flags without cause, and what a kilobyte costs.

Labelled data lie in the folder that MEMNB_DATA names (default: `data` in the project);
absent sets are skipped with a message. The rules were tuned on one half of the labelled strings, by
checksum; the other half is `held out`, though it holds other strings of the same formats. The
baseline is the short list of patterns that most projects start with. Speed is processor time.
Other scanners have a table of their own beside ours, on the same texts, when they are installed
(secret_oracles.py); slow ones see a sample of the harmless texts.

    python benchmarks/screening.py [--compare] [--json FILE]

--compare makes that table only.
"""

from __future__ import annotations

import hashlib
import html
import json
import lzma
import os
import re
import sys
import sysconfig
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import report
from memnb.core.hidden_text import hidden_spans, stacked_marks
from memnb.core.injection_hints import injection_hints
from memnb.core.lookalikes import lookalikes
from memnb.core.screening import screen
from memnb.core.secret_search import secret_spans
from secret_oracles import Found, oracles

PROJECT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("MEMNB_DATA", PROJECT / "data"))

NAIVE = re.compile(
    r"AKIA[0-9A-Z]{16}|ghp_\w{36}|xox[baprs]-[\w-]{10,}|sk-\w{20,}|AIza[\w-]{35}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY|eyJ[\w-]+\.eyJ[\w-]+|://[^/\s:]+:[^/\s@]+@"
    r"|(?i:(?:password|passwd|secret|token|api_?key)[\"']?\s*[:=]\s*[\"']?[^\s\"']{8,})"
)
NAIVE_INJECTION = re.compile(r"(?i)ignore (all )?(previous|prior|above) instructions")
NAIVE_HIDDEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)

Items = list[dict[str, Any]]


def found(text: str) -> bool:
    return bool(secret_spans(text))


def naive(text: str) -> bool:
    return NAIVE.search(text) is not None


def hidden(text: str) -> bool:
    return any(True for find in (hidden_spans, stacked_marks, lookalikes) for _ in find(text))


def records(name: str) -> Iterator[dict[str, Any]]:
    path = DATA / name
    if not path.exists():
        print(f"skipped {name}: not in {DATA} (set MEMNB_DATA)")
        return
    with lzma.open(path, "rt") as lines:
        yield from map(json.loads, lines)


def held_out(text: str) -> bool:
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) % 2 == 1


def item(group: str, text: str, label: object, flagged: bool) -> dict[str, Any]:
    """One result without the text."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return {"group": group, "id": digest, "label": label, "flagged": flagged}


def share(hits: Iterable[bool]) -> float:
    hits = list(hits)
    return sum(hits) / len(hits) if hits else 0.0


def near_misses() -> set[str]:
    """gitleaks' strings that no rule of it takes for a secret, whichever they were written for."""
    labels = defaultdict[str, set[int]](set)
    for record in records("secrets/gitleaks_dev.jsonl.xz"):
        labels[record["text"]].add(int(record["label"]))
    return {text for text, found_by in labels.items() if found_by == {0}}


def formats(rows: list[report.Row], items: Items) -> None:
    """gitleaks' labelled strings: a format counts as found if most of its strings are."""
    harmless_ones = near_misses()
    for half, wanted in (("tuned on", False), ("held out", True)):
        ours, theirs = defaultdict[str, list[bool]](list), defaultdict[str, list[bool]](list)
        benign: list[tuple[bool, bool]] = []
        for record in records("secrets/gitleaks_dev.jsonl.xz"):
            text = record["text"]
            if held_out(text) != wanted:
                continue
            flagged = found(text)
            items.append(item(f"gitleaks {record['rule']} {half}", text, record["label"], flagged))
            if int(record["label"]):
                ours[record["rule"]].append(flagged)
                theirs[record["rule"]].append(naive(text))
            elif text in harmless_ones:
                benign.append((flagged, naive(text)))
        if not ours:
            return
        for name, count, target in (
            ("formats found", lambda hits: [share(h) > 0.5 for h in hits.values()], 0.95),
            ("strings found", lambda hits: [hit for h in hits.values() for hit in h], None),
        ):
            figure, base = share(count(ours)), share(count(theirs))
            met = None if target is None else figure >= target
            aim = "" if target is None else f">= {target}"
            rows.append(report.Row(f"{name}, {half}", figure, base, "share", aim, met))
        figure, base = share(a for a, _ in benign), share(b for _, b in benign)
        rows.append(report.Row(f"near misses flagged, {half}", figure, base, "share"))


def other_labels(rows: list[report.Row], items: Items) -> None:
    """detect-secrets' cases and CredSweeper's files, held-out half."""
    for name, path in (
        ("detect-secrets cases", "secrets/detect_secrets_dev.jsonl.xz"),
        ("CredSweeper files", "secrets/credsweeper_dev.jsonl.xz"),
    ):
        hits: list[tuple[bool, bool]] = []
        for record in records(path):
            text = record["text"]
            label = record["label"] if "label" in record else bool(record["expected_ml"])
            if text is None or label is None or record.get("plugin") == "ip_public":
                continue
            flagged = found(text)
            items.append(item(name, text, label, flagged))
            if int(label) and held_out(text):
                hits.append((flagged, naive(text)))
        if hits:
            figure, base = share(a for a, _ in hits), share(b for _, b in hits)
            rows.append(report.Row(f"{name} found, held out", figure, base, "share"))


def turns(role: str) -> Iterator[str]:
    for part in range(3):
        for session in records(f"longmemeval/sessions_dev_{part}.jsonl.xz"):
            yield from (turn["content"] for turn in session["turns"] if turn["role"] == role)


def files(folder: Path, pattern: str) -> Iterator[str]:
    for path in sorted(folder.rglob(pattern)):
        if "site-packages" not in path.parts:
            yield path.read_text(errors="replace")


def rule_files() -> Iterator[str]:
    yield from (record["text"] for record in records("rules/cursor_rules_dev.jsonl.xz"))


def false_alarms(rows: list[report.Row], items: Items) -> None:
    corpora: dict[str, Iterator[str]] = {
        "LongMemEval user turns": turns("user"),
        "rule files of coding assistants": rule_files(),
        "standard library sources": files(Path(sysconfig.get_paths()["stdlib"]), "*.py"),
        "design documents": files(DATA.parent / "design", "*.md"),
        "notebooks of the project": files(PROJECT / "notebooks", "*.ipynb"),
    }
    for name, texts in corpora.items():
        n = ours = theirs = n_hidden = base_hidden = 0
        for text in texts:
            n += 1
            flagged, odd = found(text), hidden(text)
            ours, theirs = ours + flagged, theirs + naive(text)
            n_hidden, base_hidden = n_hidden + odd, base_hidden + bool(NAIVE_HIDDEN.search(text))
            if flagged or odd:
                items.append(item(f"{name}: {'secret' if flagged else 'hidden'}", text, 0, True))
        if n:
            title = f"{name} ({n})"
            rows.append(report.Row(f"{title}: secrets", ours, theirs, "texts", "0", ours == 0))
            rows.append(report.Row(f"{title}: hidden", n_hidden, base_hidden, "texts"))


def injections(rows: list[report.Row], items: Items) -> None:
    hits: dict[int, list[tuple[bool, bool]]] = {0: [], 1: []}
    for record in records("injection/deepset_dev.jsonl.xz"):
        if held_out(record["text"]):
            flagged = any(True for _ in injection_hints(record["text"]))
            items.append(item("deepset", record["text"], record["label"], flagged))
            plain = NAIVE_INJECTION.search(record["text"]) is not None
            hits[int(record["label"])].append((flagged, plain))
    for label, name in ((1, "injections labelled"), (0, "benign prompts labelled")):
        if hits[label]:
            figure, base = share(a for a, _ in hits[label]), share(b for _, b in hits[label])
            rows.append(report.Row(f"{name}, held out", figure, base, "share"))


def seconds(work: Callable[[str], object], texts: list[str]) -> float:
    """Of this process: other work on the machine doesn't count."""
    start = time.process_time()
    for text in texts:
        work(text)
    return time.process_time() - start


def speed(rows: list[report.Row]) -> None:
    prose = [text for i, text in enumerate(turns("user")) if i % 20 == 0]
    code = list(files(Path(sysconfig.get_paths()["stdlib"]), "[a-d]*.py"))
    for name, texts in (("prose", prose), ("code", code)):
        if not texts:
            continue
        n_kilobytes = sum(len(text.encode("utf-8", "replace")) for text in texts) / 1024
        ours = min(seconds(screen, texts) for _ in range(3)) * 1e3 / n_kilobytes
        base = min(seconds(html.escape, texts) for _ in range(3)) * 1e3 / n_kilobytes
        rows.append(report.Row(f"screen {name} beside html.escape", ours, base, "ms/KB", "<= 0.3",
                               ours <= 0.3))  # fmt: skip
        base = min(seconds(NAIVE.search, texts) for _ in range(3)) * 1e3 / n_kilobytes
        rows.append(report.Row(f"screen {name} beside the naive list", ours, base, "ms/KB"))


def growth(rows: list[report.Row]) -> None:
    """Worst cases: 16 times the text may take 16 times as long, and noise."""
    units = ["token=aB3", "AccountKey=", "curl -u a:b ", "password: ", "://a:bcdefg@", "eyJ.eyJ",
             "-----BEGIN PRIVATE KEY-----", "sk-a1-", "A1", "\u200b", "p\u0430", "\u0301", "\r",
             "kind: Secret\ndata:\n a: YWJj\n", "ignore all ", "YWJjZGVm" * 4 + " "]  # fmt: skip
    worst, slowest = 0.0, 0.0
    for unit in units:
        small, large = ([unit * (size // len(unit))] for size in (1 << 16, 1 << 20))
        base, figure = min(seconds(screen, small) for _ in range(3)), seconds(screen, large)
        worst, slowest = max(worst, figure / max(base, 1e-3)), max(slowest, figure)
    rows.append(report.Row("worst case, 1 MiB beside 64 KiB", worst, 16.0, "times", "<= 32",
                           worst <= 32))  # fmt: skip
    rows.append(report.Row("slowest MiB", slowest, None, "s"))


SAMPLE_BYTES = 1_000_000
"""Of each corpus of harmless texts, for the comparison: one scanner takes 15 ms a kilobyte."""


def labelled() -> Iterator[tuple[str, str, str]]:
    """Strings and files that hold a secret: set, format, text. Held-out halves."""
    sets = (
        ("gitleaks' strings", "secrets/gitleaks_dev.jsonl.xz", "rule"),
        ("detect-secrets' cases", "secrets/detect_secrets_dev.jsonl.xz", "plugin"),
        ("CredSweeper's files", "secrets/credsweeper_dev.jsonl.xz", "path"),
    )
    for name, path, key in sets:
        for record in records(path):
            text, label = record["text"], record.get("label", bool(record.get("expected_ml")))
            if text and label and record.get("plugin") != "ip_public" and held_out(text):
                yield name, str(record[key]), text
    for name, secret, context in own_formats():
        yield "own formats", name, context.format(secret)


def own_formats() -> Iterator[tuple[str, str, str]]:
    """The formats and contexts of the tests: name, secret, context."""
    sys.path.insert(0, str(PROJECT / "tests" / "core"))
    try:
        from test_secret_formats import CONTEXTS, FORMATS
    except ImportError as error:
        print(f"skipped own formats: {error}")
        return
    for name, secret in FORMATS.items():
        yield from ((name, secret, context) for context in CONTEXTS.values())


def harmless() -> Iterator[tuple[str, str]]:
    """Texts without a secret: corpus, text; a sample of each, the same in every run."""
    corpora: dict[str, Iterator[str]] = {
        "LongMemEval user turns": turns("user"),
        "rule files of coding assistants": rule_files(),
        "standard library sources": files(Path(sysconfig.get_paths()["stdlib"]), "*.py"),
        "design documents": files(DATA.parent / "design", "*.md"),
        "notebooks of the project": files(PROJECT / "notebooks", "*.ipynb"),
        "gitleaks' near misses": filter(held_out, near_misses()),
    }
    for name, texts in corpora.items():
        n_bytes = 0
        for text in sorted(texts, key=lambda text: zlib.crc32(text.encode(errors="replace"))):
            n_bytes += len(text.encode(errors="replace"))
            if n_bytes > SAMPLE_BYTES:
                break
            yield name, text


def compared(rows: list[report.Row], items: Items) -> None:
    """Ours, the short list and every installed scanner on the same texts, as a table."""
    with oracles() as others:
        screens: dict[str, Found] = {"memnb": found, "short list": naive, **others}
        recall, alarms, spent = _judged(screens, items)
    table = [["", *screens]]
    for name, hits in recall.items():
        table.append([f"{name} ({len(hits['memnb'])})"])
        table[-1] += [f"{share(hits[screen]):.1%}" for screen in screens]
        rows += _beside(f"{name} found", {s: share(h) for s, h in hits.items()}, "share")
    for name, flags in alarms.items():
        table.append([f"{name} ({len(flags['memnb'])}) flagged"])
        table[-1] += [str(sum(flags[screen])) for screen in screens]
        rows += _beside(f"{name} flagged", {s: float(sum(f)) for s, f in flags.items()}, "texts")
    table.append(["ms a kilobyte", *(f"{spent[screen]:.3f}" for screen in screens)])
    rows += _beside("screening a kilobyte", spent, "ms/KB")
    print("\n" + "\n".join(f"| {' | '.join(row)} |" for row in (table[0], ["---"] * len(table[0]))))
    print("\n".join(f"| {' | '.join(row)} |" for row in table[1:]))


Votes = dict[str, dict[str, list[bool]]]


def _judged(screens: dict[str, Found], items: Items) -> tuple[Votes, Votes, dict[str, float]]:
    recall: Votes = defaultdict(lambda: defaultdict(list))
    alarms: Votes = defaultdict(lambda: defaultdict(list))
    seconds_of, n_bytes = dict.fromkeys(screens, 0.0), 0
    texts = [(name, kind, text, 1) for name, kind, text in labelled()]
    texts += [(name, "", text, 0) for name, text in harmless()]
    for name, kind, text, label in texts:
        n_bytes += len(text.encode(errors="replace"))
        votes = {}
        for screen_name, judge in screens.items():
            start = time.process_time()
            votes[screen_name] = judge(text)
            seconds_of[screen_name] += time.process_time() - start
            (recall if label else alarms)[name][screen_name].append(votes[screen_name])
        flagged = votes["memnb"]
        items.append({**item(f"compared: {name}", text, label, flagged), "kind": kind, **votes})
    spent = {screen: s * 1e3 / (n_bytes / 1024) for screen, s in seconds_of.items()}
    return recall, alarms, spent


def _beside(name: str, figures: dict[str, float], unit: str) -> list[report.Row]:
    """Each scanner's figure with ours as the baseline."""
    ours = figures["memnb"]
    others = ((screen, f) for screen, f in figures.items() if screen not in ("memnb", "short list"))
    return [report.Row(f"{name}: {screen}", figure, ours, unit) for screen, figure in others]


def main() -> None:
    rows: list[report.Row] = []
    items: Items = []
    if "--compare" in sys.argv:
        compared(rows, items)
        report.show("screening, beside other scanners", rows, items=items)
        return
    formats(rows, items)
    other_labels(rows, items)
    false_alarms(rows, items)
    injections(rows, items)
    speed(rows)
    growth(rows)
    compared(rows, items)
    report.show("screening", rows, items=items)


if __name__ == "__main__":
    main()
