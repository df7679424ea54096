# SPDX-License-Identifier: BSD-3-Clause
"""What a mean hides: percentiles, and messages by their size."""
from . import text
from .outcome import Missing, of_messages
from .stacks import title
from .table import Table

COLUMNS = ('mean', 'p50', 'p99', 'p99.9', 'max')


def messages(study, point):
  """Of each seed; none where there is no result."""
  try:
    return [] if point.missing else [of_messages(result) for result in study.results(point)]
  except Missing:
    return []


def mean(values):
  values = list(values)
  return sum(values) / len(values)


def percentiles(study, name, points):
  """A line a series: latency over that of the message alone, and in ns; each in the mean of the seeds."""
  lines = []
  for p in points:
    seeds = messages(study, p)
    if seeds:
      ratios = [text.number(mean(s['all']['normalised'][c] for s in seeds)) for c in COLUMNS]
      times = [text.nanoseconds(mean(s['all']['latency'][f'{c}_ns'] for s in seeds)) for c in COLUMNS]
      lines.append((title(p.cell.series), *ratios, *times))
  return [Table(name, ('stack', *COLUMNS, *(f'{c}, ns' for c in COLUMNS)), tuple(lines))] if lines else []


def by_size(study, name, points):
  """A line a class of sizes, a column a series: mean of the ratios of its messages."""
  columns, classes = [], {}
  for p in points:
    seeds = messages(study, p)
    if not seeds:
      continue
    columns.append(p.cell.series)
    for group in (g for s in seeds for g in s['sizes']):
      found = classes.setdefault(group['from_octets'], {}).setdefault(p.cell.series, [0, 0])
      found[0] += group['normalised']['mean'] * group['count']
      found[1] += group['count']
  lines = tuple((f'{octets:,} to {4 * octets - 1:,} B', *(
      ratio(found.get(series)) for series in columns)) for octets, found in sorted(classes.items()))
  return [Table(name, ('size', *map(title, columns)), lines)] if lines else []


def ratio(found):
  return f'{found[0] / found[1]:.2f} ({found[1]:,})' if found else ''
