# SPDX-License-Identifier: BSD-3-Clause
"""A figure's points, and the records that they come from."""
from dataclasses import dataclass

from . import cell


@dataclass(frozen=True, eq=False)
class Study:
  figure: object
  size: str
  points: tuple
  records: dict

  @property
  def parameters(self):
    return self.figure.SIZES[self.size]

  def of(self, panel=None, series=None, x=None):
    """Points by what they are; None: any."""
    return [p for p in self.points if panel in (None, p.cell.panel) and series in (None, p.cell.series)
            and x in (None, p.cell.x)]

  def one(self, panel, series, x):
    """The point with a sound value, or None."""
    found = [p for p in self.of(panel, series, x) if p.value]
    return found[0] if found else None

  def results(self, point):
    return [self.records[run.id]['result'] for run in point.cell.runs]

  @property
  def missing(self):
    return [p for p in self.points if p.missing]


def study(figure, size, records):
  return Study(figure, size, tuple(cell.point(c, records) for c in figure.cells(size)), records)
