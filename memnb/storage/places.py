"""Where memnb keeps things for this user: its home, and apart from it keys and anchors.

1. The key lies outside home: whoever can copy or restore the stores can't sign facts.
2. Nothing is created here until something is kept.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memnb.errors import ConfigError

__all__ = ["Places", "UserFolders", "find_places"]


@dataclass(frozen=True, slots=True)
class UserFolders:
    """What the operating system reserves for memnb, and the user's home folder."""

    data: Path
    state: Path
    config: Path
    home: Path


@dataclass(frozen=True, slots=True)
class Places:
    """The folders and files of one user. `user_home` is the person's, `home` is memnb's.

    `home_is_chosen` tells that MEMNB_HOME named it: then it may lie inside a repository.
    """

    home: Path
    state: Path
    config_file: Path
    models: Path
    key_file: Path
    user_home: Path
    home_is_chosen: bool = False

    @property
    def projects(self) -> Path:
        """The folder that holds one folder for each project."""
        return self.home / "projects"


def find_places(environ: Mapping[str, str], folders: UserFolders | None = None) -> Places:
    """The places that MEMNB_HOME, MEMNB_STATE and MEMNB_MODELS name, else the user's folders.

    Args:
        environ: the environment's variables.
        folders: the defaults; asked of platformdirs when None.

    Raises:
        ConfigError: a variable names no absolute path, the person's home folder or one that
            holds it, or the state lies inside home.
    """
    defaults = folders or _user_folders()
    home = _chosen(environ, "MEMNB_HOME", defaults.home)
    state = _chosen(environ, "MEMNB_STATE", defaults.home)
    models = _chosen(environ, "MEMNB_MODELS", defaults.home)
    at = home or defaults.data.resolve()
    if state is not None and state.is_relative_to(at):
        raise ConfigError(
            "MEMNB_STATE lies inside memnb's home, where it protects nothing; name another folder."
        )
    apart = state or _apart(defaults.state, at)
    config = defaults.config.resolve()
    # macOS and Windows reserve one folder for all purposes: then the key goes with the state.
    keys = apart if state is not None or config.is_relative_to(at) else config
    return Places(
        home=at,
        state=apart,
        config_file=at / "config.toml",
        models=models or at / "models",
        key_file=keys / "key",
        user_home=defaults.home.resolve(),
        home_is_chosen=home is not None,
    )


def _user_folders() -> UserFolders:
    import platformdirs  # noqa: PLC0415 - only when memory is opened, not at load

    return UserFolders(
        data=platformdirs.user_data_path("memnb", appauthor=False),
        state=platformdirs.user_state_path("memnb", appauthor=False),
        config=platformdirs.user_config_path("memnb", appauthor=False),
        home=Path(os.path.expanduser("~")),  # noqa: PTH111 - Path.home() raises without a home
    )


def _chosen(environ: Mapping[str, str], name: str, user_home: Path) -> Path | None:
    text = environ.get(name, "")
    if not text:
        return None
    rest = text.removeprefix("~")
    path = user_home / rest.lstrip("/") if text == "~" or text.startswith("~/") else Path(text)
    if not path.is_absolute():
        raise ConfigError(f"{name} must be an absolute path, such as /data/memnb.")
    folder = path.resolve()
    if user_home.resolve().is_relative_to(folder):
        raise ConfigError(
            f"{name} names your home folder or one that holds it; name a folder of its own."
        )
    return folder


def _apart(state: Path, home: Path) -> Path:
    folder = state.resolve()
    if folder.is_relative_to(home) or home.is_relative_to(folder):
        return home.with_name(f"{home.name}-state")
    return folder
