"""Commands whose help lists their options under titles: what a newcomer needs first, and what is rarely needed last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

OTHERS = "Options"  # the title of the options that no section names

Sections = Mapping[str, str]  # title: fields of the command's options, with blanks between


class SectionedCommand(click.Command):
    """A command with sections of options; an option that no section names is listed under `OTHERS`, the last one."""

    def __init__(self, *args: Any, sections: Sections, **more: Any) -> None:
        """Raises ValueError where a section names what is no option of the command, or what another one names."""
        super().__init__(*args, **more)
        self.sections = {title: names.split() for title, names in sections.items()}
        named = [name for names in self.sections.values() for name in names]
        options = {param.name for param in self.params if isinstance(param, click.Option)}
        if len(named) != len(set(named)) or not options.issuperset(named):
            raise ValueError(f"sections of {self.name}: {sorted(set(named) - options)}, or a name twice")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of each section under its title."""
        records = {
            param.name: param.get_help_record(ctx)
            for param in self.get_params(ctx)
            if isinstance(param, click.Option)
        }
        left = [name for name in records if not any(name in names for names in self.sections.values())]
        for title, names in {**self.sections, OTHERS: left}.items():
            if rows := [record for name in names if (record := records.get(name))]:
                with formatter.section(title):
                    formatter.write_dl(rows)
