"""List avoided words and forms with their counts; `make lint` runs it.

    python -m benchmarks.prose [FILE ...]

It reads the docstrings, comments and messages of the code, the comments of the configuration and
the pages of the docs. CONTRIBUTING.md has the rules.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

AVOIDED = {
    "is none": r"\b(?:is|are|was|were) (?-i:none)\b",
    "is no …": r"(?<!there )\b(?:is|are) no (?!longer\b|more than\b|better\b|worse\b|such\b)[a-z]",
    "stand": r"\b(?:stands?|stood)\b(?! for\b)",
    "mend": r"\bmend(?:s|ed|ing)?\b",
    "tell": r"(?<!cannot )\b(?:tells?|telling|told)\b",
    "others than": r"\bothers? than\b|\banother (?:one )?than\b",
    "knows of none": r"\bknows? (?:of )?(?:none|nothing)\b",
    "nobody": r"\bnobody\b|\bwhoever\b",
    "the memory": r"\b(?:the|a|its|this|that|published) memory\b(?!-| (?:of|limit|holds))",
    "python -m bears": r"\bpython -m bears\b",
    "is said": r"\b(?:is|are|was) (?:said|asked about)\b",
    "lies": r"\b(?:lies|lie|lying) (?:in|at|under|beside|there)\b",
    "likewise": r"\b(?:likewise|thereof|whereby|wherein|whence|hitherto)\b",
    "passed over": r"\bpass(?:ed|es)? over\b",
    "a thing per": r"\b(?:documents|questions|lines|requests|texts) an? (?:question|text|second)\b",
}
"""What is avoided: its name to a pattern. A page may quote a word in `code`."""

EXEMPT = ("benchmarks/prose.py", "docs/commands.md", "docs/settings.md")
"""This file quotes what it forbids; the pages are generated from what is checked already."""

VERBS = frozenset(
    """
    Abort Accept Add Advance Align Answer Append Apply Ask Assert Assign Attach Attest Average
    Begin Bind Block Bound Build Buy Cache Calculate Call Cancel Canonicalize Cap Catch Change
    Charge Check Chunk Claim Clean Clear Close Collapse Collect Combine Commit Compare Complain
    Complete Compose Compress Compute Connect Convert Copy Correct Count Create Cut Decide
    Declare Decode Decrypt Define Delete Derive Describe Detect Determine Digest Discard Display
    Divide Download Draw Drop Embed Encode End Ensure Enter Escape Estimate Evaluate Exclude Execute
    Exit Expand Explain Export Express Extend Extract Fail Fetch Fill Filter Find Finish Fix
    Flag Flatten Flush Follow Forget Format Forward Free Freeze Fuse Gather Generate Get Give
    Group Guess Handle Hash Highlight Hold Identify Ignore Import Include Index Insert Inspect
    Install Intersect Invert Iterate Join Judge Keep Kill Label Limit Link List Load Locate Lock
    Log Look Lower Make Map Mark Mask Match Measure Merge Migrate Move Name Normalize Number
    Omit Open Order Pack Pair Parse Pass Pick Place Plan Plot Pool Prepare Price Print Process
    Propose Protect Prove Publish Put Raise Rank Read Rebuild Recompute Record Redact Reduce
    Refresh Refund Refuse Register Reject Release Reload Remember Remove Rename Render Reopen
    Repeat Replace Replay Report Request Require Rerank Reserve Reset Resolve Restart Restore
    Retrieve Retry Return Reverse Rewrite Rotate Round Run Sample Save Say Scan Schedule Score
    Seal Search See Select Send Serve Set Settle Share Show Shuffle Shut Simulate Skip Sleep
    Solve Sort Split Start Stem Stop Store Stream Strip Submit Subtract Suggest Sum Summarize
    Suppress Swap Switch Take Test Time Tokenize Train Transform Translate Treat Trim Truncate
    Try Turn Uncount Undo Unlock Unpack Update Use Validate Verify Visit Wait Walk Warn Weigh
    Wrap Write Yield
    """.split()  # noqa: SIM905
)
"""What the docstring of a function begins with. Add a verb that is missing."""


def main(arguments: list[str]) -> int:
    """Print each avoided form with its place, then the counts; return 1 if there is any."""
    counts: Counter[str] = Counter()
    for path in map(Path, arguments or _tracked()):
        for line, name, excerpt in found_in(path):
            counts[name] += 1
            print(f"{path}:{line}: {name}: {excerpt}")
    for name, count in counts.most_common():
        print(f"{count:6} {name}")
    return int(bool(counts))


def found_in(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the name and an excerpt of each avoided form in a file."""
    text = path.read_text()
    prose = _python(path, text) if path.suffix == ".py" else _plain(path, text)
    # The words of a prompt are those of kept replies, and stay.
    prompts = {n for n, line in enumerate(text.splitlines(), 1) if line.endswith("# prompt")}
    for line, part in prose:
        if line in prompts:
            continue
        for name, pattern in AVOIDED.items():
            for match in re.finditer(pattern, part, re.IGNORECASE):
                at = line + part.count("\n", 0, match.start())
                around = part[max(0, match.start() - 30) : match.end() + 30]
                yield at, name, " ".join(around.split())
    if path.suffix == ".py" and path.parts[0] in ("bears", "stages"):
        yield from _docstrings(text)


def _tracked() -> list[str]:
    patterns = ["*.py", "*.md", "conf/**/*.yaml", "dvc.yaml", "params.yaml"]
    listed = subprocess.run(["git", "ls-files", *patterns], capture_output=True, check=True)
    return [name for name in listed.stdout.decode().split() if name not in EXEMPT]


def _python(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each comment, docstring and message."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        docstring = token.type == tokenize.STRING and '"""' in token.string
        message = token.type == tokenize.STRING and " " in token.string
        if token.type == tokenize.COMMENT or docstring or (message and path.parts[0] != "tests"):
            yield token.start[0], token.string


def _plain(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each line of a page, and of each comment of a YAML file."""
    for number, line in enumerate(text.splitlines(), 1):
        if path.suffix == ".md":
            yield number, re.sub(r"`[^`]*`", "", line)
        elif "#" in line:
            yield number, line[line.index("#") :]


def _docstrings(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the place of each docstring of a function that does not begin with a verb."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (ast.get_docstring(node) or "").splitlines()
            if lines and re.split(r"\W", lines[0])[0] not in VERBS:
                yield node.lineno, "no verb", lines[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
