# SPDX-License-Identifier: BSD-3-Clause
"""Table 1: where the time of the first block goes, in an idle fabric, for four stacks."""
from dataclasses import replace

from .. import fabric, plot, published, table
from ..cell import Cell
from ..outcome import Missing
from ..stacks import title

KEY = 'table1'
TITLE = 'Table 1: fabric latency of a remote read and write of 64 B'
ABOUT = ('One operation at a time on an idle fabric of a compute node, a switch and a memory node at 25 '
         'Gb/s. Each part is the sum of the stages that the run stamped, none is written down as a total; '
         'nanoseconds.')
SIZES = {size: {} for size in ('quick', 'full', 'tiny')}
WHAT = ('read', 'write')
NETWORK = ('node stack', 'MAC', 'PCS', 'layer 2')


def run(stack, seconds=0.1):
  """examples/table1.json"""
  workload = {'mix': {'read': 1, 'write': 1}, 'size': 64, 'loop': 'open', 'rate': 100000,
              'arrival': 'constant', 'depth': 1}
  return fabric.seeded(lambda seed: fabric.pair(stack, workload, seed, ('0', '2ms'), timing='testbed25',
                                                report={'stages': True}) if stack == 'edm' else
                       fabric.pair(stack, workload, seed, ('0', '2ms'), report={'stages': True}), 1, seconds)


def sums(stack, index):
  """What the paper's own parts come to."""
  parts = published.TABLE1_PARTS[stack]
  return {'network stack': sum(ns[index] for part, ns in parts.items() if part.endswith(NETWORK)),
          'fabric latency': sum(ns[index] for ns in parts.values())}


def rows(stack, index):
  """{part: ns of the paper}, in the order of the paper, the sums of its parts with them."""
  parts = {part: ns[index] for part, ns in published.TABLE1_PARTS[stack].items()}
  total = sums(stack, index)
  ordered = {part: ns for part, ns in parts.items() if part.endswith(NETWORK)}
  ordered['network stack'] = total['network stack']
  ordered.update((part, ns) for part, ns in parts.items() if part not in ordered)
  ordered['fabric latency'] = total['fabric latency']
  return {part: round(ns, 6) for part, ns in ordered.items()}


def part_of(what, part):
  """The metric of a line. The network stack is the sum of its parts, for every stack."""
  def metric(result, _):
    lines = result.get('stages', {}).get(what, {}).get('table', ())
    named = {line['part'].replace(': ', ' '): line['ns'] for line in lines}
    if part == 'network stack' and named:
      return sum(ns for name, ns in named.items() if name.endswith(NETWORK))
    if part not in named:
      raise Missing(f'the stages of a {what} have no "{part}"')
    return named[part]
  return metric


def cells(_):
  every = rows('tcp', 0)
  return [Cell(what, stack, part, 'ns', run(stack), part_of(what, part), rows(stack, index)[part])
          for index, what in enumerate(WHAT) for part in every for stack in published.TABLE1_STACKS
          if part in rows(stack, index)]


def plots(study):
  figure, area = plot.axes()
  points = [p for p in study.points if p.cell.x == 'fabric latency']
  plot.bars(area, [by_what(p) for p in points], list(WHAT))
  area.set_ylabel('fabric latency, ns')
  plot.legend(area)
  return [('Fabric latency; lines across the bars: the sums of the paper\'s parts', figure)]


def by_what(point):
  """The same point with read or write as its x."""
  return replace(point, cell=replace(point.cell, x=point.cell.panel))


def tables(study):
  return [table.of_points(f'{what}, ns', 'part', study.of(what)) for what in WHAT]


def why(study):
  said = []
  off = [p for p in study.points if p.value and abs(p.value.mean - p.cell.published) > 0.01]
  if off:
    said.append('Not equal to 0.01 ns: ' + '; '.join(
        f'{title(p.cell.series)}, {p.cell.panel}, {p.cell.x}: {p.value.mean:.2f} ns beside '
        f'{p.cell.published:.2f} ns' for p in off) + '.')
  elif any(p.value for p in study.points):
    said.append('Every part that was measured equals the paper\'s to 0.01 ns. What a table of the first '
                'block leaves out (serialisation, the wait for a check, DRAM) is in Figure 5.')
  for stack, printed in published.TABLE1_TOTALS.items():
    for index, what in enumerate(WHAT):
      own = sums(stack, index)['fabric latency']
      if abs(own - printed[index]) > 0.01:
        said.append(f'{title(stack)}, {what}: the paper prints {printed[index]:,.0f} ns, but its own parts '
                    f'add up to {own:,.2f} ns ({printed[index] - own:+.2f} ns): compare with the sum.')
  return said
