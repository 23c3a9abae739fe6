"""What a page of a sheet asks, and what it saves, without a browser."""

import json
from pathlib import Path
from typing import Any

from bears.config.ledger.sheet import SHOWN, WHOLE


def on_page(page: Path) -> list[dict[str, Any]]:
    """Return the items of a page as its script reads them, with the whole texts."""
    text = page.read_text("utf-8").split('id="data">', 1)[1].split("</script>", 1)[0]
    data = json.loads(text)
    found = []
    for shown, cells, within in data["items"]:
        row = {name: data["kept"][at] for name, at in zip(data["columns"], cells, strict=True)}
        if within:
            whole, start, length, cut = within
            units = data["kept"][whole].encode("utf-16-le")[2 * start : 2 * (start + length)]
            row[data["document"]] = units.decode("utf-16-le") + "…" * cut
            row[WHOLE] = data["kept"][whole]
        found.append({**row, SHOWN: shown})
    return found


def saved(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write what a page saves."""
    rows = [{name: text for name, text in row.items() if name != WHOLE} for row in rows]
    path.write_text(json.dumps({"sheet": "bears", "rows": rows}, ensure_ascii=False), "utf-8")
    return path
