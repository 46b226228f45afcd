"""Shows runs to people: tables, charts, pages, JSON and CSV.

This package only reads values of `perbyte.model`, of `perbyte.stats` and of `perbyte.studies`; it never measures and
never judges. A doubt that travels with a figure is shown beside it in every form; a cell without a figure is shown
with its reason. Modules are imported one by one, so that a table on the terminal does not load what only charts need.

- `grid`: rows and columns of one run or of several, the same for terminal, pages and charts
- `document`: blocks and sections; `terminal`, `html`, `markdown`: the writers that draw them
- `export`: JSON and CSV; `beside`, `behaviour`: what stands beside figures
- `marks`: the signs before figures and the marks behind them; `printed`: all that commands print of runs
- `runview`: what is shown of a run, worked out once; `findings`, `studyview`: in words and rows
- `charts`, `theme`: how charts are drawn; `runcharts`, `costcharts`, `ratiocharts`, `versioncharts`, `history`: what
  each shows; `pictures`: which are drawn and saved
- `pages`, `sections`, `pivot`: what is on pages
- `facts`, `wording`: conditions in plain words; text of numbers, sizes and names
"""
