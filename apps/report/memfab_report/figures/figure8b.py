# SPDX-License-Identifier: BSD-3-Clause
"""Figure 8b: mean normalised completion time of messages of five applications."""
from .. import fabric, outcome, plot, published, table, tails
from ..cell import Cell
from ..stacks import title

KEY = '8b'
TITLE = 'Figure 8b: completion time of messages of five applications'
ABOUT = ('Half reads, half writes, sizes heavy-tailed from 5.8 kB to 1.8 MB, load 0.4 at 100 Gb/s, random '
         'arrivals in an open loop, every node both compute and memory node, every message run to its end. '
         'Each message\'s time is divided by that of the same message alone in the same fabric with the '
         'same stack. EDM as the paper has it for heavy-tailed workloads (3.1.1): shortest remaining first, '
         'of the whole message; chunk of 256 B, X = 3; chunks of long messages end together '
         '(`scheduler.slots`). Beside it the steps of 3.1.1 to the letter, without that; and first come, '
         'first served.')
SIZES = {
    'full': {'nodes': 144, 'warmup_us': 300, 'measured_us': 450, 'seeds': 5},
    'quick': {'nodes': 144, 'warmup_us': 100, 'measured_us': 100, 'seeds': 3},
    'tiny': {'nodes': 6, 'warmup_us': 0, 'measured_us': 100, 'seeds': 2},
}
LOAD = 0.4
LONG = 1 << 14  # octets: the first points of the distributions are below, all others above
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


LETTER, FCFS = 'edm, letter', 'edm, fcfs'
SRPT = {'priority': 'srpt', 'srpt': 'transfer'}
SCHEDULER = {'edm': {**SRPT, 'slots': True}, LETTER: SRPT, FCFS: None}


def cells(size):
  size, made = SIZES[size], []
  for name, values in published.FIGURE8B.items():
    made += [cell(PANEL, stack, name, stack, name, size, SCHEDULER.get(stack), values[stack])
             for stack in published.STACKS]
    made += [cell(PANEL, series, name, 'edm', name, size, SCHEDULER[series]) for series in (LETTER, FCFS)]
  return made


def plots(study):
  figure, area = plot.axes(plot.WIDE)
  plot.bars(area, study.points, list(published.FIGURE8B))
  plot.logarithmic(area)
  area.set_ylabel('completion time, times alone')
  plot.legend(area, columns=4)
  return [('Load 0.4; lines across the bars: published', figure)]


def tables(study):
  made = [table.of_points('Load 0.4', 'application', study.points)]
  for name in published.FIGURE8B:
    points = study.of(x=name)
    made += tails.percentiles(study, f'Percentiles, {name}', points)
    made += tails.by_size(study, f'Mean by size of message, times alone (messages), {name}', points)
  return made


def why(study):
  said = (completed(study), *orders(study), *sizes(study), letter(study), policy(study))
  return [text for text in said if text]


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
    points = [p for p in study.of(x=name)
              if p.value and p.cell.published is not None and not p.saturated]
    if len(points) < 2:
      continue
    ours = [title(p.cell.series) for p in sorted(points, key=lambda p: p.value.mean)]
    theirs = [title(p.cell.series) for p in sorted(points, key=lambda p: p.cell.published)]
    if ours != theirs:
      yield f'Order, {name}: here {", ".join(ours)}; published {", ".join(theirs)}.'


def sizes(study):
  """Which messages make EDM's mean what it is."""
  for name in published.FIGURE8B:
    point = study.one(PANEL, 'edm', name)
    groups = [g for s in tails.messages(study, point) for g in s['sizes']] if point else []
    if not groups:
      continue
    count = sum(g['count'] for g in groups)
    whole = sum(g['count'] * g['normalised']['mean'] for g in groups)
    short = [g for g in groups if g['to_octets'] < LONG]
    if not short:
      continue
    few, part = sum(g['count'] for g in short), sum(g['count'] * g['normalised']['mean'] for g in short)
    rest = (whole - part) / (count - few) if count > few else 0
    half = tails.mean(s['sizes'][0]['normalised']['p50'] for s in tails.messages(study, point))
    yield (f'EDM, {name}: {few / count * 100:.0f} % of the messages have less than {LONG:,} octets; they '
           f'take {part / few:.2f} times as long as alone, half of the shortest at most {half:.2f} times; '
           f'the longer ones take {rest:.2f} times.')


def beside(study, series):
  """EDM with something else beside EDM: for each application that has both, and the first of these."""
  both = [(name, study.one(PANEL, 'edm', name), study.one(PANEL, series, name))
          for name in published.FIGURE8B]
  both = [(name, edm, other) for name, edm, other in both if edm and other]
  return both, ', '.join(f'{name} {other.value.mean:.2f} instead of {edm.value.mean:.2f}'
                         for name, edm, other in both)


def letter(study):
  """Ports that are busy in turn."""
  both, said = beside(study, LETTER)
  if not both:
    return ''
  return ('To the letter of 3.1.1 a message is granted when both its ports are free at one instant. Between '
          'two long messages whose chunks end at different times there is none, and the shortest message '
          f'waits for the end of one of them: {said}. With slots a chunk ends at a multiple of a chunk\'s '
          'time, as all do in the published simulator, so priority decides. What is left is order in a pair '
          '(3.1.1, property 5): some in a thousand messages find a long one of their own pair before them, '
          'and take dozens of times as long (docs/evaluation.md).')


def policy(study):
  """First come, first served beside the shortest first."""
  both, said = beside(study, FCFS)
  if not both:
    return ''
  shortest = tails.messages(study, both[0][1])[0]['sizes'][0]
  return ('First come, first served lets a short message wait for whole long ones at both its ports: '
          f'{said}. A mean of ratios is one of the short messages: one of the shortest takes '
          f'{shortest["alone_mean_ns"]:,.0f} ns alone, and to wait as long doubles its ratio. The plot of '
          'the sensitivity below shows what priority, chunk and X do.')
