"""How many secrets the screen finds, what it flags without cause, and what a kilobyte costs.

Labelled data lie in the folder that MEMNB_DATA names (default: `data` in the project);
absent sets are skipped with a message. The rules were tuned on one half of the labelled strings, by
checksum; the other half is `held out`, though it holds other strings of the same formats. The
baseline is the short list of patterns that most projects start with. Speed is processor time.

    python benchmarks/screening.py [--json FILE]
"""

from __future__ import annotations

import hashlib
import html
import json
import lzma
import os
import re
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


def formats(rows: list[report.Row], items: Items) -> None:
    """gitleaks' labelled strings: a format counts as found if most of its strings are."""
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
            else:
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


def main() -> None:
    rows: list[report.Row] = []
    items: Items = []
    formats(rows, items)
    other_labels(rows, items)
    false_alarms(rows, items)
    injections(rows, items)
    speed(rows)
    growth(rows)
    report.show("screening", rows, items=items)


if __name__ == "__main__":
    main()
