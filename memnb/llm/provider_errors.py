"""What a provider's failure means, told without a word of the provider's.

The text of a provider error may hold keys, addresses with keys and parts of the request. It is
read to tell failures apart and is never shown: a message names the model, the error's class, its
HTTP status and what to do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from memnb.errors import (
    BadModelOutput,
    ContextTooLong,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    NoModel,
)

__all__ = ["Failure", "explain"]


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong: the error to raise, and in short `what` for a notice.

    A `transient` failure may pass when the request is sent again. `retry_after_seconds` is the
    pause that the provider asked for, None if it didn't.
    """

    error: ModelError
    what: str
    transient: bool = False
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class _Rule:
    """Matches an error by a class it is of, by status, or by words (lower case) in its text."""

    error: type[ModelError]
    says: str
    advice: str
    classes: frozenset[str] = frozenset()
    codes: frozenset[int] = frozenset()
    words: tuple[str, ...] = ()
    transient: bool = False

    def matches(self, classes: frozenset[str], code: int | None, text: str) -> bool:
        return (
            bool(self.classes & classes)
            or code in self.codes
            or any(word in text for word in self.words)
        )


# The first match decides, so the narrow ones come first. Classes are litellm's, openai's and
# httpx's names. Words are needed where litellm gives no class of its own: a missing key and a
# refused connection both arrive as InternalServerError 500, a used-up quota as RateLimitError.
_RULES = (
    _Rule(
        ContextTooLong,
        "cannot take a request this long",
        "Start a new session, or use a model with a larger window",
        classes=frozenset({"ContextWindowExceededError"}),
        codes=frozenset({413}),
        words=(
            "maximum context length",
            "context_length_exceeded",
            "exceed_context_size",
            "exceeds the available context size",
            "prompt is too long",
        ),
    ),
    _Rule(
        ModelRefused,
        "did not accept the key",
        "Check the provider's key in the environment",
        classes=frozenset({"AuthenticationError"}),
        codes=frozenset({401}),
        words=(
            "missing credentials",
            "api_key client option must be set",
            "api key not valid",
            "unable to locate credentials",
            "could not load credentials",
            "default credentials were not found",
        ),
    ),
    _Rule(
        ModelRefused,
        "has no budget left for this key",
        "Check the account's credit, or use another model",
        classes=frozenset({"BudgetExceededError", "PaymentRequiredError"}),
        codes=frozenset({402}),
        words=(
            "insufficient_quota",
            "exceeded your current quota",
            "credit balance is too low",
        ),
    ),
    _Rule(
        ModelRefused,
        "refused the content of the request",
        "Rephrase it, or use another model",
        classes=frozenset({"ContentPolicyViolationError", "GuardrailRaisedException"}),
        words=("content_policy", "content policy", "content management policy"),
    ),
    _Rule(
        ModelRefused,
        "is not allowed for this key",
        "Ask the account's owner, or use another model",
        classes=frozenset({"PermissionDeniedError"}),
        codes=frozenset({403}),
    ),
    _Rule(
        NoModel,
        "names no provider that is known",
        "Write it as provider/model, such as anthropic/claude-sonnet-4-5",
        classes=frozenset({"LiteLLMUnknownProvider"}),
        words=("llm provider not provided",),
    ),
    _Rule(
        NoModel,
        "needs a Python package that is not installed",
        "Install what litellm's page on this provider names",
        classes=frozenset({"ImportError"}),
        words=("no module named", "modulenotfounderror"),
    ),
    _Rule(
        ModelUnavailable,
        "was not found at the provider",
        "Check the model's name and the address",
        classes=frozenset({"NotFoundError"}),
        codes=frozenset({404}),
    ),
    _Rule(
        ModelUnavailable,
        "is limiting the rate of requests",
        "Wait a little and run it again",
        classes=frozenset({"RateLimitError"}),
        codes=frozenset({429}),
        transient=True,
    ),
    _Rule(
        ModelTimeout,
        "did not answer in time",
        "Run it again, or raise agent.timeout_seconds",
        classes=frozenset({"APITimeoutError", "TimeoutException", "TimeoutError"}),
        codes=frozenset({408, 504}),
        transient=True,
    ),
    _Rule(
        ModelUnavailable,
        "broke off its reply",
        "Run it again",
        classes=frozenset({"ReadError", "RemoteProtocolError", "ClientPayloadError"}),
        words=("stream ended before",),
        transient=True,
    ),
    _Rule(
        ModelUnavailable,
        "cannot be reached",
        "Check the network and the address",
        classes=frozenset({"TransportError", "ConnectionError", "ClientConnectionError"}),
        words=("connection error", "cannot connect to host", "connection refused"),
        transient=True,
    ),
    _Rule(
        BadModelOutput,
        "sent a reply that is not in the agreed form",
        "Run it again, or use another model",
        classes=frozenset({"APIResponseValidationError", "JSONDecodeError"}),
    ),
    _Rule(
        ModelUnavailable,
        "failed on the provider's side",
        "Run it again in a while",
        classes=frozenset({"InternalServerError", "ServiceUnavailableError", "BadGatewayError"}),
        codes=frozenset(range(500, 600)),
        transient=True,
    ),
    _Rule(
        ModelRefused,
        "did not accept the request",
        "Use another model, or report it with this line",
        classes=frozenset({"BadRequestError", "UnprocessableEntityError"}),
        codes=frozenset(range(400, 500)),
    ),
)

_ANYTHING_ELSE = _Rule(ModelUnavailable, "failed", "Use another model, or report it with this line")


def explain(exc: Exception, model_name: str) -> Failure:
    """What `exc` means and whether sending the request again may help."""
    origin = _origin(exc)
    classes = frozenset(cls.__name__ for one in _chain(origin) for cls in type(one).__mro__)
    code = _code(origin)
    text = " ".join(_words(origin)).lower()
    rule = next((rule for rule in _RULES if rule.matches(classes, code, text)), _ANYTHING_ELSE)
    status = f", {code}" if code else ""
    what = f"{model_name} {rule.says} ({type(origin).__name__}{status})"
    pause = _retry_after(origin)
    advice = f"Run it again in {math.ceil(pause)} s" if rule.transient and pause else rule.advice
    return Failure(
        rule.error(f"{what}. {advice}."),
        what,
        transient=rule.transient,
        retry_after_seconds=pause,
    )


def _origin(exc: BaseException) -> BaseException:
    # litellm wraps what fails in mid-stream, sometimes twice.
    for _ in range(3):
        inner = getattr(exc, "original_exception", None)
        if not isinstance(inner, BaseException):
            break
        exc = inner
    return exc


def _chain(exc: BaseException | None) -> Iterator[BaseException]:
    for _ in range(8):
        if exc is None:
            return
        yield exc
        exc = exc.__cause__ or exc.__context__


def _words(exc: BaseException) -> Iterator[str]:
    """The text of an error and the codes it was given, which litellm leaves out of its text."""
    yield str(exc)
    for one in _chain(exc):
        yield str(vars(one).get("code", ""))


def _code(exc: BaseException) -> int | None:
    code = getattr(exc, "status_code", None)
    return code if isinstance(code, int) and 100 <= code < 600 else None


def _retry_after(exc: BaseException) -> float | None:
    """The seconds of a Retry-After header; its other form, a date, is taken as none."""
    headers = getattr(getattr(exc, "response", None), "headers", None)
    try:
        seconds = float(headers["retry-after"])  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        return None
    return seconds if 0 <= seconds < float("inf") else None
