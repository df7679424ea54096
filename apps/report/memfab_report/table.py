# SPDX-License-Identifier: BSD-3-Clause
"""A table of points: a line an x, a column a series."""
from dataclasses import dataclass

from . import text
from .stacks import title


@dataclass(frozen=True)
class Table:
  """lines: each a head and then text or Point. notes: what stands below."""
  title: str
  head: tuple
  lines: tuple
  notes: tuple = ()


def of_points(name, first, points):
  """first: what x is. Below: why what is missing is."""
  series = list(dict.fromkeys(p.cell.series for p in points))
  by_place = {(p.cell.x, p.cell.series): p for p in points}
  lines = tuple((f'{x:,}' if isinstance(x, int) else str(x), *(by_place.get((x, s), '') for s in series))
                for x in dict.fromkeys(p.cell.x for p in points))
  return Table(text.sentence(name), (first, *map(title, series)), lines, tuple(reasons(points)))


def reasons(points):
  groups = {}
  for p in points:
    if p.missing:
      groups.setdefault(p.missing, []).append(title(p.cell.series))
  for why, series in groups.items():
    yield f'missing: {", ".join(dict.fromkeys(series))}: {why}'
