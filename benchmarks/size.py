"""Print the lines of code per package, and fail above the cap.

    python -m benchmarks.size

Blank lines, comments and docstrings do not count.
"""

from __future__ import annotations

import sys
import token
import tokenize
from collections import Counter
from pathlib import Path

CAP = 28_000
"""For the whole project, with room for a first contribution; less is better."""
LAYOUT = {
    *(token.NEWLINE, token.INDENT, token.DEDENT, token.ENDMARKER),
    *(tokenize.NL, tokenize.COMMENT, tokenize.ENCODING),
}


def main() -> int:
    """Print the lines of each room and return 1 if there are more than the cap."""
    rooms: Counter[str] = Counter()
    for folder in ("bears", "stages"):
        for path in Path(folder).rglob("*.py"):
            rooms["/".join(path.parts[:-1][:2])] += lines_of(path)
    for room, lines in rooms.most_common():
        print(f"{lines:7,} {room}")
    total = rooms.total()
    print(f"{total:7,} in all, of at most {CAP:,}")
    return int(total > CAP)


def lines_of(path: Path) -> int:
    """Return the number of lines of a file that hold code."""
    with path.open("rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    lines: set[int] = set()
    # The first token is the encoding, and the last the end.
    for before, each, after in zip(tokens, tokens[1:-1], tokens[2:], strict=False):
        docstring = (
            each.type == token.STRING
            and before.type in LAYOUT
            and after.type in (token.NEWLINE, tokenize.NL, token.ENDMARKER)
        )
        if each.type not in LAYOUT and not docstring:
            lines.update(range(each.start[0], each.end[0] + 1))
    return len(lines)


if __name__ == "__main__":
    sys.exit(main())
