"""What litellm knows about a model from the lists it carries, without asking anyone.

litellm raises a plain Exception, or a class that changes by version, for a model it doesn't know:
whatever it raises here means "unknown".
"""

from __future__ import annotations

from typing import Any

from memnb.llm.litellm_loading import Litellm, quiet_context

__all__ = ["cost_nusd", "missing_keys", "model_info"]

_ASKS_ITS_SERVER = ("ollama", "ollama_chat", "lemonade", "github_copilot", "chatgpt")
"""Providers about which litellm's look-ups go over the network; what they tell is unknown here."""

_KEY_ELSEWHERE = (*_ASKS_ITS_SERVER, "azure", "bedrock", "sagemaker", "vertex_ai")
"""Providers that need no key or find it outside the environment: a missing name says nothing."""


def model_info(litellm: Litellm, name: str) -> dict[str, Any]:
    """Window, prices and abilities of the model `name`; empty when unknown."""
    if _provider(litellm, name) in _ASKS_ITS_SERVER:
        return {}
    try:
        return dict(quiet_context().run(litellm.get_model_info, name))
    except Exception:
        return {}


def missing_keys(litellm: Litellm, name: str) -> str:
    """The names of the environment variables that must be set first, "" for none."""
    provider = _provider(litellm, name)
    is_set_in_code = any(
        getattr(litellm, attribute, None) for attribute in ("api_key", f"{provider}_key")
    )
    if provider in _KEY_ELSEWHERE or is_set_in_code:
        return ""
    found = quiet_context().run(litellm.validate_environment, model=name)
    # Gemini is the one provider with two names for one key.
    return (" or " if provider == "gemini" else ", ").join(found["missing_keys"])


def cost_nusd(litellm: Litellm, name: str, usage: object) -> int | None:
    """What `usage`, as litellm reports it, costs at list price; None when the price is unknown."""
    if _provider(litellm, name) in _ASKS_ITS_SERVER:
        return None
    try:
        response = litellm.ModelResponse(model=name, usage=usage)
        usd = float(quiet_context().run(litellm.completion_cost, response, model=name))
        return round(usd * 1_000_000_000)
    except Exception:
        return None


def _provider(litellm: Litellm, name: str) -> str:
    prefix = name.partition("/")[0]
    if prefix in litellm.provider_list:
        return prefix
    try:
        return str(quiet_context().run(litellm.get_llm_provider, name)[1])
    except Exception:
        return ""
