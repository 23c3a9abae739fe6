"""The language of a benchmark's texts, which need not be the one that is translated into."""

from collections.abc import Mapping
from typing import Any


def written_in(tag: str, profile: Mapping[str, Any]) -> dict[str, Any]:
    """What prompts say of the language ``tag``.

    Args:
        profile: of its conf/language/<tag>.yaml; empty where there is none, as of English.
    """
    prompt = profile.get("prompt")
    title = profile.get("title", "English" if tag == "en" else tag)
    return {
        "name": tag,
        "title": title,
        "native_name": profile.get("native_name", title),
        "variant": prompt.get("variant", "") if isinstance(prompt, Mapping) else "",
        "unanswerable": profile.get("unanswerable", "Unanswerable"),
    }
