"""Draw the pictures of docs/: `make docs-pictures`.

It runs three retrievers on `mini` in a clone of the last commit, and takes pictures of what
`bears compare` and `bears report` say, of the recall curves, and of a page on which people decide.
It needs Chromium and, for Chinese, a CJK font (`apt-get install chromium fonts-noto-cjk`).
"""

from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import wrap

import pandas as pd
import vl_convert

PICTURES = Path("docs/pictures").resolve()
RETRIEVERS = ("bm25", "hybrid", "wordllama")
"""The first is the one of the last commit."""
WIDTH = 126
"""Characters of a line in the picture of a terminal."""
LARGEST = 200_000
"""Bytes of a picture."""
DARK = "--blink-settings=preferredColorScheme=0"
LIGHT = "--blink-settings=preferredColorScheme=1"
TERMINAL = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0;background:#1e2127">
<pre style="color:#dcdfe4;font:15px/1.45 'DejaVu Sans Mono',monospace;padding:18px">{}</pre>"""


def main() -> None:
    """Draw all pictures, and fail if one is too large."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "bears"
        subprocess.run(["git", "clone", "--quiet", str(Path.cwd()), str(clone)], check=True)
        curves = [_run(clone, retriever) for retriever in RETRIEVERS]
        _curves(pd.concat(curves))
        command = ["compare", "HEAD", "workspace", "--measure", "ndcg@10", "--by", "type"]
        # Without the questions that moved, which would make it twice as high.
        printed = _bears(clone, *command).partition("\n\nndcg@10, questions on which")[0]
        page = Path(folder) / "compare.html"
        text = "$ bears " + " ".join(command) + "\n" + printed
        lines = [part for line in text.splitlines() for part in _fitted(line)]
        page.write_text(TERMINAL.format(html.escape("\n".join(lines))), encoding="utf-8")
        _screenshot(page, "compare", WIDTH * 9 + 50, len(lines) * 22 + 60)
        report = clone / "report.html"
        _bears(clone, "report")
        for name, words in (
            ("light", [LIGHT]),
            ("dark", [DARK]),
            ("zh", [LIGHT, "--accept-lang=zh-TW"]),
        ):
            _screenshot(report, f"report-{name}", 1100, 900, *words)
        _screenshot(report, "report-narrow", 420, 1200, LIGHT)
        _bears(clone, "judgements", "pool", "pool.html", "--depth", "3")
        _screenshot(clone / "pool.html", "deciding", 1000, 600, LIGHT)
    for path in PICTURES.glob("*.png"):
        if path.stat().st_size > LARGEST:
            sys.exit(f"{path} has {path.stat().st_size} bytes; expected at most {LARGEST}")


def _run(clone: Path, retriever: str) -> pd.DataFrame:
    """Run the pipeline with a retriever, and return its recall curve."""
    experiment = ["dvc", "exp", "run", "--quiet", "-S", f"retriever={retriever}"]
    subprocess.run(
        ["dvc", "repro", "--quiet"] if retriever == RETRIEVERS[0] else experiment,
        cwd=clone,
        env={**os.environ, "DVC_NO_ANALYTICS": "1"},
        check=True,
    )
    return pd.read_csv(clone / "metrics/recall_at_k.csv").assign(retriever=retriever)


def _bears(clone: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "bears", *words], cwd=clone, check=True, capture_output=True
    )
    return done.stdout.decode()


def _fitted(line: str) -> list[str]:
    """Return a line as it is if it fits, else wrapped."""
    return [line] if len(line) <= WIDTH else wrap(line, WIDTH)


def _curves(curves: pd.DataFrame) -> None:
    """Draw the mean recall at each cutoff, one line per retriever."""
    chart = {
        "width": 480,
        "height": 280,
        "data": {"values": curves.to_dict("records")},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "k", "type": "quantitative", "scale": {"type": "log"}, "title": "k"},
            "y": {"field": "recall", "type": "quantitative", "title": "recall@k on mini"},
            "color": {"field": "retriever", "type": "nominal", "sort": list(RETRIEVERS)},
        },
    }
    picture = vl_convert.vegalite_to_png(json.dumps(chart), scale=1.5)
    (PICTURES / "recall.png").write_bytes(picture)


def _screenshot(page: Path, name: str, width: int, height: int, *words: str) -> None:
    """Take a picture of the top of a page as Chromium shows it."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        sys.exit("there is no Chromium here: apt-get install chromium fonts-noto-cjk")
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                *(browser, "--headless", "--disable-gpu", "--no-sandbox", "--hide-scrollbars"),
                *("--disable-dev-shm-usage", f"--user-data-dir={profile}", *words),
                *(f"--window-size={width},{height}", f"--screenshot={PICTURES / name}.png"),
                page.resolve().as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )


if __name__ == "__main__":
    main()
