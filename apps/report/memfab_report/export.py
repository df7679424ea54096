# SPDX-License-Identifier: BSD-3-Clause
"""Points and runs as CSV and JSON."""
import csv
from dataclasses import asdict, fields

from . import outcome, output, published

FLOW = tuple(field.name for field in fields(outcome.Flow))
POINTS = ('figure', 'panel', 'series', 'x', 'unit', 'mean', 'half_95', 'seeds', 'published', 'published_to',
          'difference_percent', 'absolute_mean_ns', 'absolute_half_95_ns', 'saturated', 'achieved_share',
          'wire_load', 'payload_load', *FLOW, 'missing')
PERCENTILES = ('count', 'mean_ns', 'min_ns', 'p50_ns', 'p90_ns', 'p99_ns', 'p99.9_ns', 'p99.99_ns', 'max_ns')
RUNS = ('id', 'name', 'stack', 'seed', 'kind', *PERCENTILES, *FLOW, 'error')


def point(study, p):
  """As a JSON object, with the columns of the CSV as its keys."""
  value, absolute = p.value, p.absolute
  load = p.loads[0] if p.loads else None
  flow = asdict(p.flow) if p.flow else dict.fromkeys(FLOW)
  return {
      'figure': study.figure.KEY, 'panel': p.cell.panel, 'series': p.cell.series, 'x': p.cell.x,
      'unit': p.cell.unit,
      'mean': value and value.mean, 'half_95': value and value.half, 'seeds': len(p.cell.runs),
      'published': p.cell.published, 'published_to': p.cell.published_to,
      'difference_percent': p.difference,
      'absolute_mean_ns': absolute and absolute.mean, 'absolute_half_95_ns': absolute and absolute.half,
      'saturated': p.saturated, 'achieved_share': p.achieved, 'wire_load': load and load.wire,
      'payload_load': load and load.payload, **flow, 'missing': p.missing,
  }


def figure(study):
  """All of a figure but the plots."""
  return {
      'key': study.figure.KEY, 'title': study.figure.TITLE, 'about': study.figure.ABOUT,
      'source': published.SOURCES.get(study.figure.KEY),
      'points': [{**point(study, p), 'runs': [r.id for r in p.cell.runs],
                  'reference': reference(p.cell)} for p in study.points],
      'why': list(study.figure.why(study)),
  }


def reference(cell):
  """Id of the run, or of that of each seed."""
  if isinstance(cell.reference, tuple):
    return [run.id for run in cell.reference]
  return cell.reference and cell.reference.id


def run_lines(record):
  """A line a kind of operations; one line of a run that failed."""
  fabric = record['fabric']
  line = {'id': record['id'], 'name': fabric.get('name'), 'stack': fabric.get('stack', 'edm'),
          'seed': fabric.get('seed'), 'error': record.get('error')}
  if 'result' not in record:
    return [line]
  try:
    line.update(asdict(outcome.flow(record['result'])))
    found = outcome.latencies(record['result'])
  except (KeyError, outcome.Missing) as why:
    return [{**line, 'error': f'not in the result: {why}'}]
  return [{**line, 'kind': kind, **{key: latency.get(key) for key in PERCENTILES}}
          for kind, latency in found.items()]


def write_csv(path, columns, lines):
  with output.whole(path) as file:
    writer = csv.DictWriter(file, columns, lineterminator='\n')
    writer.writeheader()
    writer.writerows(lines)
