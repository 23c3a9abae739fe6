"""Draw charts as SVG with Vega-Lite, which needs no network.

Colors are the page's own variables, so that one picture serves light mode, dark mode and print.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from bears.files.intake.yaml_text import table_of

_TABLE = table_of(__file__)
CONFIG, SHARE = _TABLE["config"], _TABLE["share"]
COLOR, SHAPE = _TABLE["color"], _TABLE["shape"]
"""The rows hold colors and shapes as they are drawn."""
Row = Mapping[str, Any]
Spec = dict[str, Any]


def _svg(**spec: Any) -> str:
    # The import takes a second, and no other command needs it.
    from vl_convert import vegalite_to_svg

    drawn: str = vegalite_to_svg({**spec, "config": CONFIG})
    # The page describes each chart in words, so nothing within it has a role of its own.
    drawn = re.sub(r' (?:role|aria-\w+|class)="[^"]*"', "", drawn)
    drawn = re.sub(r'<path[^>]*d="M0,0h0v0h0Z"[^>]*/>|<path[^>]*display="none"/>', "", drawn)
    return drawn.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)


def _layer(mark: str, encoding: Spec, **style: Any) -> Spec:
    return {"mark": {"type": mark, **style}, "encoding": encoding}


def _points(encoding: Spec, size: int) -> Spec:
    encoding = {**encoding, "color": COLOR, "shape": SHAPE}
    return _layer("point", encoding, filled=True, size=size, opacity=1)


def curve(shown: str, rows: Sequence[Row]) -> str:
    """Draw the recall curve of one system with its band, and those of the others behind it.

    Args:
        rows: ``name, k, recall, low, high, color, shape`` of every system.
    """
    depths = [k for k in (1, 2, 5, 10, 20, 50, 100) if k <= max(row["k"] for row in rows)]
    x = {"field": "k", "type": "quantitative", "scale": {"type": "log", "nice": False}}
    x["axis"] = {"values": depths, "grid": False}
    line = {"x": x, "y": {**SHARE, "field": "recall"}}
    band = {"x": x, "y": {**SHARE, "field": "low"}, "y2": {"field": "high"}, "color": COLOR}
    own = {"values": [row for row in rows if row["name"] == shown]}
    others = {"values": [row for row in rows if row["name"] != shown]}
    apart = {**line, "detail": {"field": "name"}}
    behind = _layer("line", apart, color="var(--soft)", opacity=0.45, strokeWidth=1)
    layers = [
        _layer("area", band, opacity=0.2),
        _layer("line", {**line, "color": COLOR}, strokeWidth=2.5),
        _points(line, 45),
    ]
    layers = [{**layer, "data": own} for layer in layers]
    if others["values"]:
        layers.insert(0, {**behind, "data": others})
    return _svg(width=240, height=150, layer=layers)


def against(rows: Sequence[Row], cost: str) -> str:
    """Draw quality against a cost; the page names the marks below.

    Args:
        rows: ``name, mean, low, high, color, shape`` each, and the cost, 0 or more.
        cost: its name in the rows; its axis is logarithmic unless a cost is 0.
    """
    costs = [row[cost] for row in rows]
    log = {"type": "log", "domain": [min(costs) / 3, max(costs) * 3]}
    scale = log if min(costs) > 0 else {"domainMax": max(costs) * 1.4}
    x = {"field": cost, "type": "quantitative", "scale": scale}
    x["axis"] = {"tickCount": 4, "format": "~r", "grid": False}
    y = {"type": "quantitative", "scale": {"zero": False, "padding": 12}, "axis": {"tickCount": 5}}
    bar = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": COLOR}
    mean = {"x": x, "y": {**y, "field": "mean"}}
    return _svg(
        width=640,
        height=230,
        data={"values": list(rows)},
        layer=[
            _layer("rule", bar, strokeWidth=2, opacity=0.4),
            _points(mean, 110),
        ],
    )


def interval_rows(rows: Sequence[Row], low: float = 0.0, high: float = 1.0) -> Markup:
    """Draw a line from low to high and a mark at the mean, one row per system, as HTML.

    The lines take the width that the page gives them, and no text is scaled.

    Args:
        rows: ``name, mean, low, high, color, glyph`` each.
        low, high: the ends of the axis; where it passes 0, that is marked.
    """

    def at(value: float) -> str:
        return f"{100 * (value - low) / (high - low):.2f}%"

    line = '<line x1="{}" x2="{}" y1="{}" y2="{}" stroke="{}" stroke-width="{}" opacity="{}"/>'
    text = '<text x="{}" y="12" text-anchor="{}" dominant-baseline="central" fill="{}">{}</text>'
    svg = Markup('<svg width="100%" height="24" aria-hidden="true">{}</svg>')
    ticks = sorted({low, high, 0.0} if low < 0 else {low, (low + high) / 2, high})
    grid = [Markup(line).format(at(t), at(t), 0, 24, "var(--line)", 1, 1) for t in ticks]
    shown = []
    for row in rows:
        place = at(row["low"]), at(row["high"]), 12, 12, row["color"], 5, 0.45
        mark = Markup(text).format(at(row["mean"]), "middle", row["color"], row["glyph"])
        drawn = svg.format(Markup().join([*grid, Markup(line).format(*place), mark]))
        shown.append(Markup('<bdi title="{0}">{0}</bdi>{1}').format(row["name"], drawn))
    anchors = {low: "start", high: "end"}
    labels = [
        Markup(text).format(at(t), anchors.get(t, "middle"), "var(--soft)", f"{t:.3g}")
        for t in ticks
        # An end too near to 0 would be written over it.
        if t == 0 or not low <= 0 <= high or abs(t) > 0.15 * (high - low)
    ]
    axis = Markup("<span></span>{}").format(svg.format(Markup().join(labels)))
    return Markup('<div class="rows">{}</div>').format(Markup().join([*shown, axis]))
