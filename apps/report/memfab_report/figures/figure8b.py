# SPDX-License-Identifier: BSD-3-Clause
"""Figure 8b: mean normalised completion time of messages of five applications."""
from .. import fabric, outcome, plot, published, table, tails
from ..cell import Cell
from ..stacks import title

KEY = '8b'
TITLE = 'Figure 8b: completion time of messages of five applications'
ABOUT = ('Half reads, half writes, sizes heavy-tailed up to 1.8 MB, load 0.4 at 100 Gb/s, random arrivals '
         'in an open loop, every node both compute and memory node, every message run to its end. Each '
         'message\'s time is divided by that of the same message alone in the same fabric with the same '
         'stack. EDM as in the paper: first come, first served, chunk of 256 B, X = 3.')
SIZES = {
    'full': {'nodes': 144, 'warmup_us': 300, 'measured_us': 450, 'seeds': 4},
    'quick': {'nodes': 36, 'warmup_us': 100, 'measured_us': 150, 'seeds': 5},
    'tiny': {'nodes': 6, 'warmup_us': 0, 'measured_us': 100, 'seeds': 2},
}
LOAD = 0.4
PANEL = 'load 0.4'
OCTETS_PER_US = 12500
SPAN = 2 << 20  # room for the longest message


def memory(nodes):
  """A power of two in which each node has its span."""
  size = SPAN
  while size < SPAN * nodes:
    size *= 2
  return size


def runs(stack, name, size, scheduler=None):
  nodes, times = size['nodes'], (size['warmup_us'], size['measured_us'])
  workload = {'mix': {'read': 1, 'write': 1}, 'size': {'dist': 'app', 'name': name}, 'pattern': 'uniform',
              'span': SPAN, 'loop': 'open', 'load': LOAD}
  seconds = 0.05 + nodes * LOAD * OCTETS_PER_US * sum(times) * (4e-9 if stack == 'edm' else 8e-9)
  placed, spoken, room = fabric.both_roles(nodes), tuple(f'{t}us' for t in times), memory(nodes)
  return fabric.seeded(lambda seed: fabric.rack(stack, placed, workload, seed, room, spoken, scheduler),
                       size['seeds'], seconds)


def cell(panel, series, x, stack, name, size, scheduler=None, paper=None):
  return Cell(panel, series, x, 'times alone', runs(stack, name, size, scheduler), outcome.normalised, paper,
              open_loop=True)


def cells(size):
  size = SIZES[size]
  return [cell(PANEL, stack, name, stack, name, size, paper=published.FIGURE8B[name][stack])
          for name in published.FIGURE8B for stack in published.STACKS]


def plots(study):
  figure, area = plot.axes(plot.WIDE)
  plot.bars(area, study.points, list(published.FIGURE8B))
  plot.logarithmic(area)
  area.set_ylabel('completion time, times alone')
  plot.legend(area, columns=7)
  return [('Load 0.4; lines across the bars: published', figure)]


def tables(study):
  made = [table.of_points('Load 0.4', 'application', study.points)]
  for name in published.FIGURE8B:
    points = study.of(x=name)
    made += tails.percentiles(study, f'Percentiles, {name}', points)
    made += tails.by_size(study, f'Mean by size of message, times alone (messages), {name}', points)
  return made


def why(study):
  return [text for text in (completed(study), *orders(study), WHY) if text]


def completed(study):
  known = [p for p in study.points if p.flow]
  if not known:
    return ''
  offered, done, failed = (sum(getattr(p.flow, name) for p in known)
                           for name in ('offered', 'completed', 'failed'))
  return (f'Of {offered:,} messages {done:,} completed and {failed:,} failed. The published simulator stops '
          'when the last message has begun; under a third of the octets have come by then, and of a long '
          'message it counts nothing.')


def orders(study):
  for name in published.FIGURE8B:
    points = [p for p in study.of(x=name) if p.value and not p.saturated]
    if len(points) < 2:
      continue
    ours = [title(p.cell.series) for p in sorted(points, key=lambda p: p.value.mean)]
    theirs = [title(p.cell.series) for p in sorted(points, key=lambda p: p.cell.published)]
    if ours != theirs:
      yield f'Order, {name}: here {", ".join(ours)}; published {", ".join(theirs)}.'


WHY = ('In a sum over messages the short ones are most: six of ten have 5.8 kB. First come, first served '
       'lets such a message wait for whole long ones at its ports; the published scheduler is one that '
       'favours what has least left. The plot of the sensitivity below shows what policy, chunk and X do.')
