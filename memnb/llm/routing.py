"""The first step of a small model's turn: does the person's message need one of four tools?

1. The prompt is constant for a set of tools, so the model reads it once and keeps it.
2. Only what the person typed in the latest message is routed: no remembered text, inserted data,
   file or tool output can call a tool.
3. What must be exact is selected, not written: a fact's text is one of the person's own sentences,
   a fact id is one that stands in the message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from memnb.core.messages import Call, JsonValue, Request, ToolSpec

__all__ = ["Route", "route", "says_nothing", "typed_words"]

JsonObject: TypeAlias = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class _Choice:
    """A tool as the router knows it.

    `word` differs from every other in its first token: a model that wants a tool it isn't offered
    must not slide into the one that starts alike (it did: `memory_recall` became
    `memory_remember`, six false saves in 57 requests instead of two).
    """

    word: str
    when: str
    arguments: tuple[str, ...]
    shot: tuple[str, JsonObject]


_CHOICES: Mapping[str, _Choice] = MappingProxyType(
    {
        "memory_remember": _Choice(
            "remember",
            "the user asks to remember, note or keep something for later, "
            "or states a rule that holds from now on",
            ("text", "kind"),
            (
                "Remember that dates are ISO 8601.",
                {"text": "Remember that dates are ISO 8601.", "kind": "convention"},
            ),
        ),
        "memory_recall": _Choice(
            "source",
            "the user asks for the source of a fact by its id (F-...)",
            ("fact_id",),
            ("Where does F-000000 come from?", {"fact_id": "F-000000"}),
        ),
        "read_file": _Choice(
            "read",
            "the user asks about a file of the project, named by its path",
            ("path", "start", "end"),
            (
                "Open README.md and summarise it.",
                {"path": "README.md", "start": 1, "end": 200},
            ),
        ),
        "run_python": _Choice(
            "run",
            "the user says run, execute or compute, so that code must run in the kernel",
            ("code",),
            ("How many rows does df have? Execute it.", {"code": "len(df)"}),
        ),
    }
)

_ANSWER = "answer"
_ANSWER_SHOTS = ("Write code that sorts a list.", "Do you remember which date format we use?")
_SYSTEM = """\
You choose the next step of a notebook agent. Reply with one JSON object.
{"tool": "answer"} is right for questions, explanations, small talk and whenever the user wants \
to see code.
Use another tool only for these:
"""

_FACT_ID = re.compile(r"\bF-[0-9a-z]{6,}\b")
# Names that look like a path: a slash, an extension, or one of the files that have none.
_PATH = re.compile(
    r"[\w-]*[./][A-Za-z][\w-]*|\b(?:makefile|dockerfile|readme|licen[cs]e|changelog)\b", re.I
)

# In "Keep in mind for the future: prices are net." a small model was seen to pick the first half.
_EMPTY_WORD = re.compile(
    r"and|can|could|don|for|forget|from|future|hello|hi|in|it|keep|later|me|memori[sz]e|mind|next"
    r"|note|now|ok|okay|on|please|remember|save|sessions?|so|store|t|thanks?|that|the|this|time|to"
    r"|you"
)

# Inserted data, and what was recalled, follow the typed words in blocks between random fences.
_BLOCKS = re.compile(r"\n\n<([^\s<>]+) [^\n]*>\n.*\n</\1>\Z", re.DOTALL)

_OUTPUT_TOKENS = 384
_HEAD_CHARS, _TAIL_CHARS = 1400, 600
_SENTENCE_BYTES = 512  # the longest text a fact may have
_N_SENTENCES = 40


@dataclass(frozen=True, slots=True)
class Route:
    """The routing step of one request: what to ask the model, and how to read its reply."""

    body: JsonObject
    sentences: tuple[str, ...]
    call_id: str

    def chosen(self, written: str) -> Call | None:
        """The tool that the model chose; None when it chose to answer, or wrote no choice."""
        try:
            reply = json.loads(written)
            word, arguments = reply["tool"], reply.get("arguments")
        except (ValueError, TypeError, KeyError, AttributeError):
            return None
        names = [name for name, choice in _CHOICES.items() if choice.word == word]
        if not names or not isinstance(arguments, dict):
            return None
        if names[0] == "memory_remember" and arguments.get("text") not in self.sentences:
            return None
        return Call(self.call_id, names[0], json.dumps(arguments, ensure_ascii=False))


def route(request: Request) -> Route | None:
    """The routing step of a request.

    None when there is nothing to route: no tool that the router knows is offered or could be
    meant, or the last word is a tool's, which the answer step puts into a reply.
    """
    known = [tool for tool in request.tools if tool.name in _CHOICES]
    if not known or not request.messages or request.messages[-1].role != "user":
        return None
    text = typed_words(request.messages[-1].text)
    sentences = _sentences(request)
    meant = [schema for tool in known if (schema := _schema(tool, text, sentences)) is not None]
    if not meant:
        return None
    body: JsonObject = {
        "messages": [*_prompt(known), _message("user", _shortened(text))],
        "max_tokens": _OUTPUT_TOKENS,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "step", "schema": {"anyOf": [_answer_schema(), *meant]}},
        },
    }
    n_calls = sum(len(message.calls) for message in request.messages)
    return Route(body, sentences, f"c{n_calls + 1}")


def typed_words(text: str) -> str:
    """A message without the blocks of data and of what was recalled that follow its words."""
    return _BLOCKS.sub("", text)


def says_nothing(sentence: str) -> bool:
    """Whether a sentence holds nothing that could be kept or answered, such as "Remember this:".

    Only English; in another language such a sentence is offered to the model like any other.
    """
    words = re.findall(r"\w+", sentence.lower())
    return sentence.rstrip().endswith(":") or all(map(_EMPTY_WORD.fullmatch, words))


def _sentences(request: Request) -> tuple[str, ...]:
    """The sentences a fact can be made of."""
    usable = [
        sentence
        for sentence in request.sentences
        if len(sentence.encode()) <= _SENTENCE_BYTES and not says_nothing(sentence)
    ]
    return tuple(dict.fromkeys(usable))[:_N_SENTENCES]


def _shortened(text: str) -> str:
    """The message, or head and tail of a long one: its middle is pasted matter, not the request."""
    if len(text) <= _HEAD_CHARS + _TAIL_CHARS:
        return text
    return f"{text[:_HEAD_CHARS]}\n…\n{text[-_TAIL_CHARS:]}"


def _prompt(tools: Sequence[ToolSpec]) -> list[JsonValue]:
    """System text and examples for these tools, always in the same order."""
    offered = {tool.name for tool in tools}
    choices = [choice for name, choice in _CHOICES.items() if name in offered]
    lines = "\n".join(f"- {choice.word}: {choice.when}" for choice in choices)
    messages: list[JsonValue] = [_message("system", _SYSTEM + lines)]
    answers = iter(_ANSWER_SHOTS)
    for choice in choices:
        asked, arguments = choice.shot
        messages += _shot(asked, {"tool": choice.word, "arguments": arguments})
        if (question := next(answers, None)) is not None:
            messages += _shot(question, {"tool": _ANSWER})
    return messages


def _shot(asked: str, reply: JsonObject) -> list[JsonValue]:
    return [_message("user", asked), _message("assistant", json.dumps(reply))]


def _message(role: str, text: str) -> JsonObject:
    return {"role": role, "content": text}


def _answer_schema() -> JsonObject:
    return _closed({"tool": {"const": _ANSWER}})


def _schema(tool: ToolSpec, text: str, sentences: Sequence[str]) -> JsonObject | None:
    """What a call of this tool looks like here; None when the message can't mean it."""
    choice = _CHOICES[tool.name]
    properties = tool.parameters.get("properties")
    if not isinstance(properties, dict):
        return None
    arguments = {name: properties[name] for name in choice.arguments if name in properties}
    if tool.name == "memory_remember":
        if not sentences:
            return None
        arguments["text"] = {"enum": list(sentences)}
    elif tool.name == "memory_recall":
        fact_ids = list(dict.fromkeys(_FACT_ID.findall(text)))
        if not fact_ids:
            return None
        arguments["fact_id"] = {"enum": list(fact_ids)}
    elif tool.name == "read_file" and not _PATH.search(text):
        return None
    return _closed({"tool": {"const": choice.word}, "arguments": _closed(arguments)})


def _closed(properties: JsonObject) -> JsonObject:
    """The schema of an object that has all of these and nothing else."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
