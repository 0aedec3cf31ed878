"""Small plots as plain SVG geometry: a bar for each part of a period, and a mark above it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from cases.queries.numbers_shapes import Line, Number, Unit
from cases.vocabulary.numbers import duration_text

HEIGHT = 72
STEP = 20
BAR = 14
MARK = 3
LEAST = 2
"""A bar of nothing is still seen, beside parts in which nothing counts: those have none."""


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One part of the period: its bar from `y` down, and the top of its mark; None without one."""

    x: int
    y: int | None
    height: int
    mark_y: int | None
    title: str


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A plot of `width` by `height` units; `most` is what its upper edge stands for."""

    width: int
    height: int
    bar_width: int
    mark_height: int
    bars: Sequence[Bar]
    most: str
    first: str
    last: str


def plot_of(number: Number) -> Plot:
    """The plot of a number, scaled to its largest bar or mark."""
    values = [value for line in number.lines for value in (line.bar, line.mark) if value]
    most = max(values, default=0)
    return Plot(
        width=STEP * len(number.lines),
        height=HEIGHT,
        bar_width=BAR,
        mark_height=MARK,
        bars=tuple(
            _bar(place, line, most, number.columns) for place, line in enumerate(number.lines)
        ),
        most=_said(most, number.unit),
        first=number.lines[0].label,
        last=number.lines[-1].label,
    )


def _bar(place: int, line: Line, most: float, columns: Sequence[str]) -> Bar:
    height = 0 if line.bar is None else max(LEAST, _scaled(line.bar, most))
    cells = ", ".join(f"{name} {cell}" for name, cell in zip(columns, line.cells, strict=True))
    return Bar(
        x=STEP * place + (STEP - BAR) // 2,
        y=None if line.bar is None else HEIGHT - height,
        height=height,
        mark_y=None if line.mark is None else HEIGHT - max(MARK, _scaled(line.mark, most)),
        title=f"{line.label}: {cells}",
    )


def _scaled(value: float, most: float) -> int:
    return round(HEIGHT * value / most) if most else 0


def _said(value: float, unit: Unit) -> str:
    return f"{value:.0f}" if unit is Unit.COUNT else duration_text(timedelta(seconds=value))
