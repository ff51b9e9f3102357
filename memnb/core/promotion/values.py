"""What sentences choose among: the closed lists, and what looks technical enough to be a name.

1. A word that means something else in daily life (poetry, yarn, black, Java) stands in a list of
   its own: it needs a sentence that leaves no doubt.
2. Commands, paths and names without a list are kept as written: their case matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Final

__all__ = [
    "CODE_LANGUAGES",
    "COMMAND",
    "LANGUAGES",
    "NAME",
    "PACKAGE_MANAGERS",
    "PATH",
    "PLAIN_CODE_LANGUAGES",
    "PLAIN_MANAGERS",
    "STYLES",
    "TOOLS",
    "any_of",
    "command_of",
    "known_name",
    "words",
]


def words(text: str) -> tuple[str, ...]:
    """The words of a list that is written as one text."""
    return tuple(text.split())


def _by_name(names: Iterable[str]) -> dict[str, str]:
    return {name.casefold(): name for name in names}


def any_of(words: Iterable[str]) -> str:
    """A pattern for one of these words, the longest that fits."""
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) + ")"


_JAVASCRIPT: Final = ("npm", "pnpm", "yarn", "bun")
_PYTHON: Final = words("pip uv poetry pipenv pdm hatch rye pixi conda mamba micromamba")
_R: Final = ("renv", "pak", "packrat")
_SYSTEM: Final = ("apt", "dnf", "pacman", "Homebrew", "nix")

PACKAGE_MANAGERS: Final[Mapping[str, tuple[str, str]]] = {
    **{name.casefold(): ("javascript", name) for name in _JAVASCRIPT},
    **{name.casefold(): ("python", name) for name in _PYTHON},
    **{name.casefold(): ("r", name) for name in _R},
    **{name.casefold(): ("system", name) for name in _SYSTEM},
    "brew": ("system", "Homebrew"),
}
"""Name → for what it manages packages, how it is written."""

PLAIN_MANAGERS: Final = frozenset(
    {"npm", "pnpm", "pip", "pipenv", "uv", "pdm", "conda", "mamba"}
) | {
    "micromamba",
    "renv",
    "homebrew",
}
"""Those that mean nothing else."""

CODE_LANGUAGES: Final[Mapping[str, str]] = {
    **_by_name(
        words(
            "Python TypeScript JavaScript Kotlin Haskell SQL MATLAB PHP Bash Perl Scala"
            " Elixir Fortran Java Ruby Rust Swift Julia Go R C C++ C# Dart Lua Clojure"
            " Zig"
        )
    ),
    "golang": "Go",
    "csharp": "C#",
    "cpp": "C++",
}
PLAIN_CODE_LANGUAGES: Final = frozenset(
    words(
        "python typescript javascript kotlin haskell sql matlab php bash golang csharp cpp c++ c#"
    )
)

LANGUAGES: Final[Mapping[str, str]] = {
    **_by_name(
        words(
            "English Arabic German French Spanish Italian Portuguese Dutch Turkish"
            " Persian Russian Ukrainian Polish Czech Swedish Norwegian Danish Finnish"
            " Greek Hebrew Hindi Bengali Urdu Chinese Mandarin Japanese Korean"
            " Vietnamese Thai Indonesian Malay Romanian Hungarian Bulgarian Serbian"
            " Croatian Swahili Catalan"
        )
    ),
    "farsi": "Persian",
    "mandarin": "Chinese",
    "american english": "American English",
    "british english": "British English",
    "modern standard arabic": "Modern Standard Arabic",
}

TOOLS: Final[Mapping[str, str]] = {
    **_by_name(
        words(
            "NumPy pandas Polars matplotlib seaborn Plotly Altair SciPy scikit-learn"
            " XGBoost LightGBM CatBoost PyTorch TensorFlow Keras JAX statsmodels DuckDB"
            " SQLite PostgreSQL MySQL MariaDB MongoDB Redis BigQuery Snowflake"
            " ClickHouse Databricks PySpark Dask Kafka Airflow Prefect Dagster dbt"
            " MLflow Jupyter JupyterLab marimo Docker Kubernetes Terraform Ansible"
            " GitHub GitLab Django FastAPI Next.js Node.js Svelte SvelteKit Vue.js"
            " Tailwind Vite webpack ESLint Prettier mypy pyright pylint flake8 isort"
            " Ruff pytest tox nox pre-commit nbval papermill Pydantic dataclasses"
            " pathlib asyncio httpx aiohttp argparse Typer loguru os.path urllib"
            " unittest doctest Parquet CSV JSON YAML TOML Avro HDF5 Zarr NetCDF Arrow"
            " PyArrow GeoPandas ggplot2 tidyverse dplyr data.table Quarto LaTeX"
            " Markdown f-strings snake_case camelCase PascalCase kebab-case VSCode Vim"
            " Neovim Emacs PyCharm RStudio gRPC GraphQL OpenAPI Celery SQLAlchemy"
            " Alembic Optuna Hydra joblib numba Cython Streamlit Gradio spaCy NLTK"
            " LangChain vLLM Ollama llama.cpp WandB"
        )
    ),
    "postgres": "PostgreSQL",
    "sklearn": "scikit-learn",
    "k8s": "Kubernetes",
    "vs code": "VSCode",
    "git lfs": "Git LFS",
    "nextjs": "Next.js",
    "nodejs": "Node.js",
}
"""Names of tools, libraries and formats that mean nothing else in daily life."""

_USED: Final[Mapping[str, str]] = _by_name(
    words(
        "React Flask Spark Angular Dash Bokeh Black Ray Rich Click Requests Express Rails Laravel"
        " Spring Bootstrap Vue Electron Flutter Make Just Maven Gradle Cargo Poetry Yarn Bun pixi"
        " Hatch Go Rust Java Ruby Swift Julia R C C++ Scala Elixir Dart Lua Perl Fortran"
    )
)
"""What a project may use besides, though the word means something else in daily life."""

_INDENTS: Final = {
    "tabs": "tabs",
    "tab characters": "tabs",
    **{f"{n}{gap}spaces": f"{n} spaces" for n in (2, 3, 4, 8) for gap in (" ", "-")},
    "two spaces": "2 spaces",
    "four spaces": "4 spaces",
    "spaces": "spaces",
    "spaces instead of tabs": "spaces",
    "spaces over tabs": "spaces",
    "tabs instead of spaces": "tabs",
    "tabs over spaces": "tabs",
    "tabs, not spaces": "tabs",
    "spaces, not tabs": "spaces",
}
_FEATURES: Final = {
    "semicolons": "semicolons",
    "strict mode": "strict mode",
    "typescript strict mode": "strict mode",
    "type hints": "type hints",
    "type annotations": "type hints",
    "docstrings": "docstrings",
    "trailing commas": "trailing commas",
    "f-strings": "f-strings",
    "walrus operators": "walrus operators",
    "wildcard imports": "wildcard imports",
    "relative imports": "relative imports",
    "global variables": "global variables",
}
_QUOTES: Final = ("single quotes", "double quotes")
_NAMING: Final = ("snake_case", "camelCase", "PascalCase")
_DOCSTRINGS: Final = {"google": "Google", "numpy": "NumPy", "sphinx": "Sphinx"}

STYLES: Final[Mapping[str, tuple[str, str, str]]] = {
    **{name: ("indentation", value, "indent with") for name, value in _INDENTS.items()},
    **{name: (value, value, "use") for name, value in _FEATURES.items()},
    **{name: ("quotes", name, "use") for name in _QUOTES},
    **{name.casefold(): ("naming", name, "use") for name in _NAMING},
    **{
        f"{name}{style} docstrings": ("docstring-style", f"{shown}-style docstrings", "use")
        for name, shown in _DOCSTRINGS.items()
        for style in ("-style", " style", "")
    },
}
"""How code is written: name → of what it is a choice, how it is written, the verb."""

_OPTION: Final = r"--?[\w-]{1,30}(?:=[\w./:,-]{1,40})?"
_FILE: Final = r"[\w.-]{0,40}[/.][\w./:-]{1,60}"
_RUNNERS: Final = any_of(
    [
        *(f"{tool} run " for tool in words("uv poetry pdm hatch pipenv pixi conda")),
        *("npx ", "python -m ", "python3 -m ", "pnpm exec ", "bundle exec "),
    ]
)
_TEST_PROGRAMS: Final = any_of(
    [
        *words(
            "pytest py.test unittest nose2 tox nox jest vitest mocha cypress rspec phpunit ctest"
        ),
        *(f"{tool} test" for tool in words("npm pnpm yarn bun deno cargo go mvn gradle ./gradlew")),
        *(f"{tool} test" for tool in words("make just dotnet mix hatch rake playwright swift sbt")),
        *(f"{tool} run test" for tool in ("npm", "pnpm", "yarn", "bun")),
        *("make check", "make fast", "cargo nextest run", "python manage.py test"),
    ]
)

COMMAND: Final = (
    rf"(?:{_RUNNERS})?{_TEST_PROGRAMS}(?::[\w:-]{{1,30}})?"
    rf"(?: (?:-[a-z] (?:auto|\w{{1,20}}(?=\Z| -))|{_OPTION}|{_FILE})){{0,6}}"
)
"""A command that runs tests, with options and files."""

PATH: Final = (
    r"(?:(?:~|\.{1,2}|\$[A-Z_]{2,30}|(?:s3|gs|az|hdfs|file)://[\w.-]{1,60})?/[\w./@%+$-]{0,80}"
    r"|[\w.@-]{1,40}/[\w./@%+$-]{0,80}|[\w-]{1,40}\.(?:toml|json|ya?ml|csv|parquet|sqlite3?|duckdb"
    r"|db|ini|cfg|txt|env|feather|h5|zarr))"
)
"""A path, as it is written."""

NAME: Final = r"@?[a-z](?:[\w./+#-]{0,38}[\w+#])?(?: v?\d{1,4}(?:\.\d{1,4}){0,3})?"
"""What may be a name, with or without a version."""

_LOOKS_TECHNICAL: Final = re.compile(
    r"(?=.{3})(?:[\w.-]*_[\w.-]*"  # snake_case, ENV_NAME
    r"|[A-Z]*[a-z]+[A-Z][\w.]*|[A-Z][a-z]+[A-Z]\w*"  # camelCase, TypeScript
    r"|[A-Za-z][\w.]*-v?\d[\w.-]*"  # GPT-5, utf-8
    r"|[A-Za-z]{2,}\d{1,4}(?:\.\d+)*"  # Qt6, HDF5
    r"|[A-Za-z]{2,}\.[a-z]{2,}(?:\.[a-z]{2,})*"  # os.path
    r"|@[\w-]+/[\w.-]+"  # @scope/name
    r"|[A-Za-z]+(?:\+\+|#))\Z"
)
_VERSION: Final = re.compile(r"(?P<name>.+?) (?P<version>v?\d[\d.]*)\Z")


def command_of(text: str) -> str:
    """A command as it is written, except that its programs' names have no case."""
    parts = text.split(" ")
    plain = list(takewhile(str.isalpha, parts))
    return " ".join((*map(str.lower, plain), *parts[len(plain) :]))


def known_name(text: str, *, is_used: bool = False) -> str | None:
    """How a name is written, when it is one of a tool or language, or looks like nothing else.

    Args:
        text: the name.
        is_used: something is said to use it, so it is no word of daily life.
    """
    also = _USED if is_used else {}
    versioned = _VERSION.match(text)
    if versioned is not None:
        name = _listed(versioned["name"]) or also.get(versioned["name"].casefold())
        return None if name is None else f"{name} {versioned['version'].lower().removeprefix('v')}"
    listed = _listed(text) or also.get(text.casefold())
    return listed or (text if _LOOKS_TECHNICAL.match(text) else None)


def _listed(text: str) -> str | None:
    folded = text.casefold()
    if folded in PLAIN_CODE_LANGUAGES:
        return CODE_LANGUAGES[folded]
    if folded in PLAIN_MANAGERS:
        return PACKAGE_MANAGERS[folded][1]
    return TOOLS.get(folded)
