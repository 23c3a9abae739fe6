"""Words of chat templates, which servers take for the end of a message wherever they stand."""

import re

_BEGINNING = re.compile(
    r"<(?=[|｜]|/?(s|bos|eos|pad|unk|start_of|end_of|think|tool)\w*>)"
    r"|\[(?=/?(INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_\w+|gMASK)\])"
)


def broken(text: str) -> str:
    """``text`` with a space after the bracket of each such word, so that none is left whole."""
    return _BEGINNING.sub(lambda found: f"{found[0]} ", text)
