"""What can go wrong: one tree, split by who must act.

Every message is one line that says what was wrong and what to do next. It never repeats
rejected text, a secret, or what a provider sent.
"""

from __future__ import annotations

from typing import Literal

__all__ = [
    "ApprovalDenied",
    "BadModelOutput",
    "ConfigError",
    "Conflict",
    "ContextTooLong",
    "FileChanged",
    "GenerationChanged",
    "HiddenText",
    "IndexUnusable",
    "InputError",
    "InvalidName",
    "InvalidText",
    "KeyLost",
    "MemnbError",
    "ModelError",
    "ModelRefused",
    "ModelTimeout",
    "ModelUnavailable",
    "NoModel",
    "NotTheirWords",
    "ReadOnlyMode",
    "Refused",
    "RevisionChanged",
    "SecretFound",
    "SessionHeld",
    "SourceNotValid",
    "StoreAltered",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "StoreFull",
    "StoreMoved",
    "StoreReadOnly",
    "StoreRolledBack",
    "StoreTooNew",
    "UnknownId",
    "UnknownVerb",
    "UnsafeFileSystem",
]


class MemnbError(Exception):
    """Base of every error that memnb raises on purpose."""

    def __str__(self) -> str:
        """The message on one line; what doesn't print, such as in a path, is spelled out."""
        text = super().__str__()
        return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)

    def _render_traceback_(self) -> list[str]:
        """One line in place of a traceback: IPython calls this to show the error."""
        return [f"{type(self).__name__}: {self}"]


class InputError(MemnbError):
    """Fix what you typed."""


class UnknownVerb(InputError):
    """No such verb, option or tool."""


class UnknownId(InputError):
    """No fact, session, record, note or turn of that id."""


class InvalidText(InputError):
    """The text breaks a rule of length or form."""


class InvalidName(InputError):
    """The name of a note or path is not allowed."""


class ConfigError(InputError):
    """A setting that doesn't exist, or a value out of bounds."""


class Refused(MemnbError):
    """A rule said no; nothing was changed."""


class SecretFound(Refused):
    """The text holds what looks like a credential."""


class HiddenText(Refused):
    """The text holds invisible, bidirectional or look-alike characters, or NUL."""


SourceStatus = Literal["valid", "missing", "stale", "hidden", "unverified"]


class SourceNotValid(Refused):
    """The evidence does not hold; `status` says how."""

    def __init__(self, message: str, *, status: SourceStatus) -> None:
        super().__init__(message)
        self.status: SourceStatus = status


class ApprovalDenied(Refused):
    """A person said no, or there was nobody to ask."""


class ReadOnlyMode(Refused):
    """The mode or the store allows reading only."""


class NotTheirWords(Refused):
    """The text is not an exact span of what the person typed."""


class Conflict(MemnbError):
    """Someone else was faster; reload and try again."""


class RevisionChanged(Conflict):
    """The fact has a newer revision than the one named."""


class GenerationChanged(Conflict):
    """Something was forgotten since the request was built."""


class FileChanged(Conflict):
    """The file on disk is not the one that was loaded."""


class StoreBusy(Conflict):
    """Another process holds the store; `holder` says who."""

    def __init__(self, message: str, *, holder: str = "") -> None:
        super().__init__(message)
        self.holder = holder


class SessionHeld(Conflict):
    """Another process writes this session; `holder` says who."""

    def __init__(self, message: str, *, holder: str = "") -> None:
        super().__init__(message)
        self.holder = holder


class StoreError(MemnbError):
    """The owner of the machine must act."""


class StoreReadOnly(StoreError):
    """The folder or file cannot be written."""


class StoreFull(StoreError):
    """No space, or a size limit."""


class StoreDamaged(StoreError):
    """The bytes on disk are not what was written."""


class StoreAltered(StoreError):
    """Something else than memnb changed the facts."""


class StoreRolledBack(StoreError):
    """The store is older than the one that this machine saw last, or another copy of it."""


class KeyLost(StoreError):
    """The key that signed the facts isn't the one on this machine, or is gone."""


class IndexUnusable(StoreError):
    """The search index is missing, busy or broken; what searches goes on without it."""


class StoreTooNew(StoreError):
    """Written by a newer version of memnb."""


class StoreMoved(StoreError):
    """The file was replaced, renamed, or belongs to another project."""


class UnsafeFileSystem(StoreError):
    """A symlink, or a folder or file system on which memnb's files aren't safe."""


class ModelError(MemnbError):
    """The model or its provider."""


class NoModel(ModelError):
    """No model is configured or installed."""


class ModelUnavailable(ModelError):
    """The provider cannot be reached, or has no such model."""


class ModelRefused(ModelError):
    """The provider refused the request: key, permission, content or budget."""


class ModelTimeout(ModelError):
    """No answer in time."""


class ContextTooLong(ModelError):
    """The request does not fit the model's window."""


class BadModelOutput(ModelError):
    """The reply is empty or not in the agreed form."""
