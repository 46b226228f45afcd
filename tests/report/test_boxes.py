"""Pages measured in a browser, at the width of a telephone and of a small screen: nothing cut without a cue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browsing import Opened
from test_print import of_a_study, of_history, of_many_columns, of_runs

BOXES = """() => {
  const bad = [];
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) bad.push('page scrolls sideways');
  for (const draw of document.querySelectorAll('.draw')) {
    const box = draw.getBoundingClientRect();
    if (!box.width) continue;
    const cue = getComputedStyle(draw, '::before').content;
    const more = draw.scrollWidth > draw.clientWidth + 4;
    if (more !== (cue !== 'none' && cue !== 'normal')) bad.push('cue: ' + cue + ' of ' + draw.scrollWidth);
    const edge = Math.min(box.right + 2, draw.querySelector('svg').getBoundingClientRect().right - 1);
    const texts = [...draw.querySelectorAll('svg text')]
      .filter(text => text.getAttribute('opacity') !== '0')
      .map(text => [text.textContent, text.getBoundingClientRect()])
      .filter(([said, at]) => said.trim() && at.width);
    for (const [said, at] of texts)
      if (at.left < box.left - 2 || (!more && at.right > edge)) bad.push('cut: ' + said);
    texts.forEach(([said, a], index) => texts.slice(index + 1).forEach(([other, b]) => {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 2 && down > 3) bad.push('overprinted: ' + said + ' | ' + other);
    }));
  }
  return bad;
}"""


@pytest.mark.parametrize(
    ("write", "width"),
    [
        (of_many_columns, 390),
        (of_many_columns, 1200),
        (of_runs, 1200),
        (of_runs, 390),
        (of_a_study, 390),
        (of_a_study, 1200),
        (of_history, 390),
    ],
)
def test_nothing_is_cut_without_a_cue_nor_overprinted(
    browser: Any, tmp_path: Path, write: Callable[[Path], Path], width: int
) -> None:
    page = Opened(browser, write(tmp_path / "report.html"), viewport={"width": width, "height": 900})
    assert page.page.evaluate(BOXES) == []
    page.clean()
