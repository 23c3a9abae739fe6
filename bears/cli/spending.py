"""Before and while a command spends money."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bears.errors import ConfigurationError
from bears.files.progress import Progress, reported
from bears.files.shown import complain


@contextmanager
def spending(texts: int, agreed: bool) -> Iterator[Any]:
    """Ask a person at a terminal who has not agreed yet, then show a bar.

    Args:
        texts: how many are going to be asked for.
        agreed: whether ``--yes`` was given.

    Raises:
        ConfigurationError: the person does not agree.
        KeyboardInterrupt: as it came; what `show` was last given is told before.
    """
    if sys.stdin.isatty() and not agreed:
        answer = input("Ask the model now? [y/N] ")
        if answer.strip().lower() not in ("y", "yes"):
            raise ConfigurationError("nothing was asked, nothing was spent")
    with reported("fill"), Progress(unit=" texts", total=texts) as shown:
        bar: Any = shown
        bar.shown = None
        try:
            yield bar
        except KeyboardInterrupt:
            if bar.shown:
                count, usd = bar.shown
                complain(f"{count} done; US$ {usd:.4f} spent, and at most what was in flight")
            raise


def show(bar: Any, texts: int, usd: float) -> None:
    """Move the bar of `spending`.

    Args:
        texts: that have come so far.
        usd: dollars spent so far.
    """
    bar.shown = texts, usd
    bar.set_postfix_str(f"${usd:.4f}", refresh=False)
    bar.update(texts - bar.n)
