# SPDX-License-Identifier: BSD-3-Clause
"""A cell of a figure: the runs that it is made of, and the point that they give."""
from dataclasses import dataclass
from typing import Callable

from . import outcome, stats
from .run import Run


@dataclass(frozen=True)
class Cell:
  """metric(result, result of the reference) is the value of a seed. open_loop: it can be saturated."""
  panel: str
  series: str
  x: object
  unit: str
  runs: tuple[Run, ...]
  metric: Callable
  published: float | None = None
  reference: Run | None = None
  open_loop: bool = False

  def needs(self):
    return self.runs + ((self.reference,) if self.reference else ())


@dataclass(frozen=True)
class Point:
  """value and achieved are Estimates; missing: the reason why there is none."""
  cell: Cell
  value: stats.Estimate | None = None
  absolute: stats.Estimate | None = None
  achieved: stats.Estimate | None = None
  counts: outcome.Counts | None = None
  missing: str | None = None

  @property
  def saturated(self):
    return self.achieved is not None and self.achieved.mean < outcome.KEPT_UP

  @property
  def difference(self):
    if self.value is None or self.saturated:
      return None
    return stats.difference(self.value.mean, self.cell.published)


def point(cell, records):
  """records: {id: record}, see store.py."""
  for needed in cell.needs():
    record = records.get(needed.id)
    if record is None or record.get('error'):
      return Point(cell, missing=record['error'] if record else 'was not run')
  results = [records[run.id]['result'] for run in cell.runs]
  reference = records[cell.reference.id]['result'] if cell.reference else None
  try:
    return Point(cell,
                 value=stats.estimate(cell.metric(r, reference) for r in results),
                 absolute=stats.estimate(map(outcome.mean_ns, results)),
                 achieved=stats.estimate(map(outcome.achieved, results)) if cell.open_loop else None,
                 counts=add(map(outcome.counts, results)))
  except outcome.Missing as why:
    return Point(cell, missing=str(why))
  except KeyError as key:
    return Point(cell, missing=f'the result has no {key}')


def add(counts):
  counts = list(counts)
  return outcome.Counts(sum(c.offered for c in counts), sum(c.completed for c in counts),
                        sum(c.failed for c in counts))
