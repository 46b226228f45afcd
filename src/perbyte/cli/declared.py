"""Options declared once: the fields of an `Options` are the options of the command that is called with it.

A field made by `option` or `argument` is what click's decorator of that name would add; its annotation says the type: a
`Path`, a plain type, or a plain type with a parameter type of click, as `Time` of `perbyte.cli.options`. A field
made by `group` is a value of options that several commands share. Nothing is converted or checked here: click does the
one, `__post_init__` of a value the other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import (
    Any,
    ClassVar,
    Literal,
    TypeVar,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import click

T = TypeVar("T")
_PARAMETER, _GROUP = "parameter", "group"
OTHERS = "Options"  # the title of the options that no section names


def option(*names: str, **attributes: Any) -> Any:
    """Declare a field as an option: `names` and `attributes` as for `click.option`, the field's name and type apart."""
    return dataclasses.field(metadata={_PARAMETER: (click.option, names, attributes)})


def flag(*names: str, **attributes: Any) -> Any:
    """Declare a field as an option without a value."""
    return option(*names, is_flag=True, **attributes)


def argument(**attributes: Any) -> Any:
    """Declare a field as an argument: `attributes` as for `click.argument`, the type apart."""
    return dataclasses.field(metadata={_PARAMETER: (click.argument, (), attributes)})


def group(kind: type[T]) -> T:
    """Declare a field as a value of options that are declared elsewhere."""
    return cast(T, dataclasses.field(metadata={_GROUP: kind}))


def takes(
    name: str, kind: type[T], within: click.Group | None = None, **attributes: Any
) -> Callable[[Callable[[T], int]], click.Command]:
    """Make a function a command that is called with a value of `kind`; help lists its options in their order.

    `within`: the group of the command; `attributes` as for `click.command`.
    """

    def decorate(function: Callable[[T], int]) -> click.Command:
        def called(**given: Any) -> int:
            return function(_made(kind, given))

        called.__name__, called.__doc__ = function.__name__, function.__doc__
        for decorator in reversed(list(_declared(kind))):
            decorator(called)
        whole = {"short_help": " ".join((called.__doc__ or "").partition("\n\n")[0].split())}  # no cut words
        return (within.command if within else click.command)(name, **(whole | attributes))(called)

    return decorate


@dataclass_transform(frozen_default=True)
class Options:
    """What options are declared in: each subclass is a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls) -> None:
        dataclasses.dataclass(frozen=True)(cls)


def _declared(kind: type[Any]) -> Iterator[Callable[[Callable[..., int]], object]]:
    hints = get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        if within := field.metadata.get(_GROUP):
            yield from _declared(within)
            continue
        decorator, names, attributes = field.metadata[_PARAMETER]
        present = _present(hints[field.name])
        repeated = {"multiple": True} if names and get_origin(present) is tuple else {}
        yield decorator(*names, field.name, **{"type": _type(present), **repeated, **attributes})


def _present(hint: Any) -> Any:
    if NoneType not in get_args(hint):
        return hint
    return next(part for part in get_args(hint) if part is not NoneType)


def _type(kind: Any) -> Any:
    if annotated := getattr(kind, "__metadata__", ()):
        return annotated[0]
    if get_origin(kind) is tuple:
        return _type(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    return click.Path(path_type=Path) if kind is Path else kind


def _made(kind: type[T], given: Mapping[str, Any]) -> T:
    values = {
        field.name: _made(within, given) if (within := field.metadata.get(_GROUP)) else given[field.name]
        for field in dataclasses.fields(cast(Any, kind))
    }
    return kind(**values)


class SectionedCommand(click.Command):
    """A command whose help lists options under titles; those that no section names come last, under `OTHERS`.

    `sections`: fields of the command's options by title, with blanks between.
    """

    def __init__(self, *args: Any, sections: Mapping[str, str], **more: Any) -> None:
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
