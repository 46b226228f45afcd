"""Colours, shapes and type of all figures, light and dark.

Series colours are those of Okabe and Ito (Color Universal Design, 2008), which people with any of the
common colour deficiencies tell apart; the yellow is left out (invisible on white). No series is told
by colour alone: points differ in shape, lines in dash, bars in position and label, so that a grey print says
the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"

INK, QUIET, GRID, PAPER = "#1b1f24", "#57606a", "#d9dee3", "#ffffff"
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#e69f00", "#009e73", "#cc79a7"
VERMILION, SKY, BROWN, GREY = "#d55e00", "#56b4e9", "#8c564b", "#6e7781"
MUTED = "#aab4be"

SERIES = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY, BROWN, GREY)
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "stroke")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [1, 3], [10, 3], [3, 6])

# Sizes are ordered, so they go from pale to dark in one hue: the order survives a grey print.
SEQUENCE = ("#c6dbef", "#85b8dc", "#3f87bf", "#0b4a86", "#06264a")

# each light colour and what it becomes on a dark ground, in figures too
ON_DARK = {
    INK: "#e6edf3",
    QUIET: "#9aa4af",
    GRID: "#30373f",
    PAPER: "#0f1419",
    BLUE: "#4aa8e0",
    ORANGE: "#f0b429",
    GREEN: "#2fc596",
    PURPLE: "#e29ac2",
    VERMILION: "#f0803c",
    SKY: "#8fd0f7",
    BROWN: "#c39a8f",
    GREY: "#a5afba",
    MUTED: "#59636e",
    **dict(zip(SEQUENCE, ("#234a6b", "#2f6f9f", "#4f9fd4", "#93c9ee", "#d7edfb"), strict=True)),
}


def config() -> dict[str, Any]:
    """Give the Vega-Lite configuration that all figures share (light)."""
    text = {"labelColor": INK, "titleColor": QUIET, "labelFontSize": 11, "titleFontSize": 11}
    return {
        "background": PAPER,
        "font": FONT,
        "padding": 12,
        "title": {
            "anchor": "start",
            "frame": "bounds",
            "color": INK,
            "fontSize": 15,
            "fontWeight": 600,
            "lineHeight": 19,
            "subtitleColor": QUIET,
            "subtitleFontSize": 11,
            "subtitleLineHeight": 15,
            "subtitlePadding": 4,
            "offset": 14,
        },
        "axis": {
            **text,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "domainColor": QUIET,
            "tickColor": QUIET,
            "gridColor": GRID,
            "labelLimit": 190,
            "labelPadding": 4,
        },
        "axisX": {"labelFlush": False},
        "header": {**text, "titleFontWeight": "normal", "labelFontWeight": 600, "labelLimit": 200},
        "legend": {
            **text,
            "titleFontWeight": "normal",
            "symbolSize": 80,
            "orient": "top",
            "direction": "horizontal",
            "labelLimit": 190,
            "columnPadding": 24,
            "offset": 10,
        },
        "view": {"stroke": None},
        "facet": {"spacing": 14},
        "text": {"color": INK, "fontSize": 11},
        "rule": {"color": INK},
        "bar": {"color": BLUE},
        "point": {"filled": True, "size": 60, "opacity": 1},
    }


def series(names: Sequence[str]) -> dict[str, tuple[str, str, list[int]]]:
    """Give each name its colour, shape and dash, in order; after eight, colours recur with other shapes."""
    return {
        name: (
            SERIES[index % len(SERIES)],
            SHAPES[(index + index // len(SERIES)) % len(SHAPES)],
            list(DASHES[(index + index // len(SERIES)) % len(DASHES)]),
        )
        for index, name in enumerate(names)
    }
