"""Charts as files, by the names of these."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from pathlib import Path

from perbyte.errors import UsageError
from perbyte.report.files import Say, silent, written
from perbyte.report.pictures import SUFFIXES, Picture, save_chart


def check_chart(path: Path, names: Collection[str]) -> None:
    """Raise UsageError if `path`'s suffix is no chart's, or its name is none of `names`."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"'{path}': a chart's file ends in {', '.join(SUFFIXES)}",
            hint="e.g. --chart bars.svg; --chart help lists those there are",
        )
    if not names:
        raise UsageError("there is nothing to draw")
    if path.stem not in names:
        raise UsageError(f"no chart is called '{path.stem}'", hint=f"there are: {', '.join(names)}")


def write_chart(pictures: Mapping[str, Picture], path: Path, say: Say = silent) -> Path:
    """Write the chart that `path`'s name chooses, in the format that its suffix chooses.

    Raises UsageError for another suffix, an unknown name or where there are no charts, EnvironmentLacking when
    the file cannot be written.
    """
    check_chart(path, pictures)
    picture = pictures[path.stem]
    return written(path, lambda part: save_chart(picture.chart, part), say)


def write_charts(pictures: Mapping[str, Picture], directory: Path, say: Say = silent) -> list[Path]:
    """Write all charts as SVG into `directory`, which is made. Raises EnvironmentLacking."""
    with contextlib.suppress(OSError):  # what is wrong with it is told by the first chart
        directory.mkdir(parents=True, exist_ok=True)
    return [write_chart(pictures, directory / f"{name}.svg", say) for name in pictures]
