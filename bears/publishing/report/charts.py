"""Charts as SVG, drawn by Vega-Lite without a network.

Colours are the page's own variables, so that one picture serves light, dark and print.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

FONT = "system-ui, sans-serif"
AXIS = {
    **{"title": None, "labelFont": FONT, "labelFontSize": 12, "labelColor": "var(--soft)"},
    **{"gridColor": "var(--line)", "domain": False, "ticks": False, "labelPadding": 6},
}
CONFIG = {"background": None, "aria": False, "view": {"stroke": None}, "axis": AXIS}
TICKS = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2~f"}
Row = Mapping[str, Any]


def _svg(spec: Mapping[str, Any]) -> str:
    # It takes a second, which no other command should wait for.
    from vl_convert import vegalite_to_svg

    drawn: str = vegalite_to_svg({**spec, "config": CONFIG})
    # The page says what a chart shows, so within it nothing has a role of its own.
    drawn = re.sub(r' (?:role|aria-\w+|class)="[^"]*"', "", drawn)
    drawn = re.sub(r'<path[^>]*d="M0,0h0v0h0Z"[^>]*/>|<path[^>]*display="none"/>', "", drawn)
    return drawn.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)


def _as_it_stands(name: str) -> dict[str, Any]:
    return {"field": name, "type": "nominal", "scale": None, "legend": None}


def intervals(rows: Sequence[Row], width: int = 300) -> str:
    """A line from low to high and a mark at the mean, a row for each system.

    Args:
        rows: ``name, mean, low, high, colour, shape`` each; shares from 0 to 1.
        width: pixels from 0 to 1.
    """
    labels = {"labelLimit": 150, "labelColor": "var(--ink)", "labelFontSize": 13}
    names = {"field": "name", "type": "nominal", "sort": None, "axis": labels}
    share = {
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": TICKS,
    }
    base = {"y": names, "color": _as_it_stands("colour")}
    return _svg(
        {
            **{"width": width, "height": {"step": 26}, "data": {"values": list(rows)}},
            "layer": [
                {
                    "mark": {
                        "type": "rule",
                        "strokeWidth": 5,
                        "opacity": 0.4,
                        "strokeCap": "round",
                    },
                    "encoding": {**base, "x": {**share, "field": "low"}, "x2": {"field": "high"}},
                },
                {
                    "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
                    "encoding": {
                        **base,
                        "x": {**share, "field": "mean"},
                        "shape": _as_it_stands("shape"),
                    },
                },
            ],
        }
    )


def curve(shown: str, rows: Sequence[Row]) -> str:
    """The recall curve of one system with its band, the others' behind it.

    Args:
        rows: ``name, k, recall, low, high, colour, shape`` of every system.
    """
    depths = [k for k in (1, 2, 5, 10, 20, 50, 100) if k <= max(row["k"] for row in rows)]
    x = {"field": "k", "type": "quantitative", "scale": {"type": "log", "nice": False}}
    x["axis"] = {"values": depths, "grid": False}
    y = {
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": TICKS,
    }
    line = {"x": x, "y": {**y, "field": "recall"}}
    own = {"values": [row for row in rows if row["name"] == shown]}
    others = {"values": [row for row in rows if row["name"] != shown]}
    coloured = {**line, "color": _as_it_stands("colour")}
    behind = {"type": "line", "color": "var(--soft)", "opacity": 0.45, "strokeWidth": 1}
    band = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    layers = [
        {"data": others, "mark": behind, "encoding": {**line, "detail": {"field": "name"}}},
        {
            "data": own,
            "mark": {"type": "area", "opacity": 0.2},
            "encoding": {**band, "color": _as_it_stands("colour")},
        },
        {"data": own, "mark": {"type": "line", "strokeWidth": 2.5}, "encoding": coloured},
        {
            "data": own,
            "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
            "encoding": {**coloured, "shape": _as_it_stands("shape")},
        },
    ]
    return _svg({"width": 240, "height": 150, "layer": layers if others["values"] else layers[1:]})


def against(rows: Sequence[Row], cost: str) -> str:
    """Quality against a cost, each on its axis, with the names beside the marks.

    Args:
        rows: ``name, mean, low, high, colour, shape`` each, and the cost, 0 or more.
        cost: its name in the rows; its axis is logarithmic where none is 0.
    """
    costs = [row[cost] for row in rows]
    log = {"type": "log", "domain": [min(costs) / 3, max(costs) * 3]}
    x = {
        "field": cost,
        "type": "quantitative",
        "scale": log if min(costs) > 0 else {"domainMax": max(costs) * 1.4},
        "axis": {"tickCount": 4, "format": "~r", "grid": False},
    }
    y = {"type": "quantitative", "scale": {"zero": False, "padding": 12}, "axis": {"tickCount": 5}}
    base = {"x": x, "color": _as_it_stands("colour")}
    mean = {**base, "y": {**y, "field": "mean"}}
    layers = [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.4},
            "encoding": {**base, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
            "encoding": {**mean, "shape": _as_it_stands("shape")},
        },
        {
            "mark": {
                **{"type": "text", "align": "left", "dx": 9, "dy": -8, "fontSize": 13},
                **{"font": FONT, "limit": 150},
            },
            "encoding": {"x": x, "y": mean["y"], "text": {"field": "name"}}
            | {"color": {"value": "var(--ink)"}},
        },
    ]
    return _svg({"width": 420, "height": 240, "data": {"values": list(rows)}, "layer": layers})
