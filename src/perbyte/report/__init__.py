"""Shows a run to people: tables, figures, the HTML report, JSON and CSV.

This room only reads values of `perbyte.model`, of `perbyte.stats` and of `perbyte.studies`; it never measures
and never judges. A doubt that travels with a figure is shown beside it in every form; a cell without a figure
is shown with its reason. Modules are imported one by one, so that a table on the terminal does not load what
only the figures need.

- `units`: what a figure is given in, and how many digits its interval supports
- `views`: rows, columns and marks, the same for the terminal and the HTML file
- `export`: JSON and CSV
- `terminal`, `verdicts`: text for a terminal of any width
- `charts`, `theme`, `savefig`: one Altair specification per figure, saved as SVG, PNG, PDF or HTML
- `html`: one self-contained file
"""
