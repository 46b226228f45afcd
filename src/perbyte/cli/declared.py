"""Options declared once: the fields of a frozen value are the options of the command that is called with it.

A field made by `option` or `argument` is what click's decorator of that name would add; one made by `group` is a value
of options that several commands share. Nothing is converted or checked here: click does the one, `__post_init__` of a
value the other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

import click

T = TypeVar("T")
_DECORATOR, _GROUP = "decorator", "group"


def option(*names: str, **attributes: Any) -> Any:
    """Declare a field as an option: `names` and `attributes` as for `click.option`, the field's name apart."""
    return dataclasses.field(metadata={_DECORATOR: lambda name: click.option(*names, name, **attributes)})


def flag(*names: str, **attributes: Any) -> Any:
    """Declare a field as an option without a value."""
    return option(*names, is_flag=True, **attributes)


def argument(**attributes: Any) -> Any:
    """Declare a field as an argument: `attributes` as for `click.argument`."""
    return dataclasses.field(metadata={_DECORATOR: lambda name: click.argument(name, **attributes)})


def group(kind: type[T]) -> T:
    """Declare a field as a value of options that are declared elsewhere."""
    return cast(T, dataclasses.field(metadata={_GROUP: kind}))


def takes(kind: type[T]) -> Callable[[Callable[[T], int]], Callable[..., int]]:
    """Add the options of `kind` to a function, which is called with a value of it; help lists them in their order."""

    def decorate(function: Callable[[T], int]) -> Callable[..., int]:
        def called(**given: Any) -> int:
            return function(_made(kind, given))

        called.__name__, called.__doc__ = function.__name__, function.__doc__
        for name, decorator in reversed(list(_declared(kind))):
            decorator(name)(called)
        return called

    return decorate


def _declared(kind: type[Any]) -> Iterator[tuple[str, Callable[[str], Callable[..., Any]]]]:
    """The names of all fields and what makes their decorators, those of groups in the groups' places."""
    for field in dataclasses.fields(kind):
        if within := field.metadata.get(_GROUP):
            yield from _declared(within)
        else:
            yield field.name, field.metadata[_DECORATOR]


def _made(kind: type[T], given: Mapping[str, Any]) -> T:
    values = {
        field.name: _made(within, given) if (within := field.metadata.get(_GROUP)) else given[field.name]
        for field in dataclasses.fields(cast(Any, kind))
    }
    return kind(**values)
