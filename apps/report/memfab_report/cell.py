# SPDX-License-Identifier: BSD-3-Clause
"""A cell of a figure: the runs that it is made of, and the point that they give."""
from dataclasses import astuple, dataclass
from typing import Callable

from . import outcome, stats
from .run import Run


@dataclass(frozen=True)
class Cell:
  """metric(result, result of the reference) is the value of a seed. reference: of all seeds, or one each.

  published, published_to: what was published; with the second one from the first to it. open_loop: it can be
  saturated.
  """
  panel: str
  series: str
  x: object
  unit: str
  runs: tuple[Run, ...]
  metric: Callable
  published: float | None = None
  reference: Run | tuple[Run, ...] | None = None
  open_loop: bool = False
  published_to: float | None = None

  @property
  def references(self):
    """One a seed."""
    return self.reference if isinstance(self.reference, tuple) else (self.reference,) * len(self.runs)

  def needs(self):
    return self.runs + tuple(filter(None, self.references))


@dataclass(frozen=True)
class Point:
  """loads: one a seed, of an open loop. missing: the reason why there is no value."""
  cell: Cell
  value: stats.Estimate | None = None
  absolute: stats.Estimate | None = None
  loads: tuple = ()
  flow: outcome.Flow | None = None
  missing: str | None = None

  @property
  def saturated(self):
    """With most seeds."""
    return 2 * sum(load.saturated for load in self.loads) > len(self.loads)

  @property
  def achieved(self):
    """Of what was offered, in the mean; None of a closed loop."""
    return sum(load.achieved for load in self.loads) / len(self.loads) if self.loads else None

  @property
  def difference(self):
    if self.value is None or self.saturated:
      return None
    return stats.difference(self.value.mean, self.cell.published, self.cell.published_to)


def point(cell, records):
  """records: {id: record}, see store.py."""
  for needed in cell.needs():
    record = records.get(needed.id)
    if record is None or record.get('error'):
      return Point(cell, missing=record['error'] if record else 'was not run')
  results = [records[run.id]['result'] for run in cell.runs]
  references = [run and records[run.id]['result'] for run in cell.references]
  try:
    return Point(cell,
                 value=stats.estimate(map(cell.metric, results, references)),
                 absolute=stats.estimate(map(outcome.mean_ns, results)),
                 loads=tuple(map(outcome.load, results)) if cell.open_loop else (),
                 flow=total(map(outcome.flow, results)))
  except outcome.Missing as why:
    return Point(cell, missing=str(why))
  except KeyError as key:
    return Point(cell, missing=f'the result has no {key}')


def total(flows):
  """Of all seeds."""
  return outcome.Flow(*map(sum, zip(*map(astuple, flows))))
