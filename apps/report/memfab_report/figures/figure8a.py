# SPDX-License-Identifier: BSD-3-Clause
"""Figure 8a: mean normalised latency of 64 B operations in a rack, by load."""
from dataclasses import replace

from .. import fabric, outcome, plot, published, table, tails, text
from ..cell import Cell
from ..stacks import title

KEY = '8a'
TITLE = 'Figure 8a: latency of 64 B operations in a rack, by load'
ABOUT = ('All to all at 100 Gb/s, random arrivals in an open loop; latency from the intended start, of a '
         'write to its effect in the memory, over that of the same operation alone in the same fabric with '
         'the same stack. A load is the offered wire blocks of all kinds on the busiest link direction over '
         'its block rate. EDM: chunk of 256 B, X = 3, scheduler time of an ASIC.')
FIVE = (0.2, 0.4, 0.6, 0.8, 0.9)
NINE = tuple(i / 10 for i in range(1, 10))
SIZES = {
    'full': {'nodes': 144, 'warmup_us': 15, 'measured_us': 10, 'seeds': 5, 'loads': {
        ('both', 'reads'): NINE, ('both', 'writes'): NINE, ('half', 'reads'): NINE, ('half', 'writes'): NINE,
        **{(roles, mix): FIVE for roles in ('both', 'half') for mix in ('mix20', 'mix50', 'mix80')}}},
    'quick': {'nodes': 72, 'warmup_us': 8, 'measured_us': 8, 'seeds': 3, 'loads': {
        ('both', 'reads'): FIVE, ('both', 'writes'): FIVE,
        ('half', 'reads'): (0.8,), ('half', 'writes'): (0.8,),
        **{('both', mix): (0.8,) for mix in ('mix20', 'mix50', 'mix80')}}},
    'tiny': {'nodes': 8, 'warmup_us': 3, 'measured_us': 9, 'seeds': 2, 'loads': {
        ('both', 'reads'): (0.2, 0.8), ('both', 'writes'): (0.2, 0.8), ('both', 'mix50'): (0.8,)}},
}
MIXES = {'reads': {'read': 1}, 'writes': {'write': 1}, 'mix20': {'read': 4, 'write': 1},
         'mix50': {'read': 1, 'write': 1}, 'mix80': {'read': 1, 'write': 4}}
NAMES = {'reads': 'reads', 'writes': 'writes',
         'mix20': '20 % writes', 'mix50': '50 % writes', 'mix80': '80 % writes'}
ROLES = {'both': 'every node both compute and memory node', 'half': 'half compute, half memory nodes'}
BLOCKS_PER_US = 1562.5  # of a direction at 100 Gb/s


def panel(roles, kind):
  return f'{NAMES[kind]}, {ROLES[roles]}'


def seconds(stack, nodes, load, microseconds):
  """About what a core needs: 12 blocks an operation."""
  operations = nodes * load * BLOCKS_PER_US * microseconds / 12
  return 0.05 + operations * (4e-6 if stack == 'edm' else 8e-6)


def runs(stack, roles, kind, load, size):
  warmup, measured, nodes = size['warmup_us'], size['measured_us'], size['nodes']
  workload = {'mix': MIXES[kind], 'size': 64, 'pattern': 'all-to-all', 'span': '4KiB',
              'loop': 'open', 'load': load}
  placed = fabric.both_roles(nodes) if roles == 'both' else fabric.half_and_half(nodes)
  memory = '1MiB' if nodes <= 256 else '4MiB'
  return fabric.seeded(lambda seed: fabric.rack(stack, placed, workload, seed, memory,
                                                (f'{warmup}us', f'{measured}us')),
                       size['seeds'], seconds(stack, nodes, load, warmup + measured))


def cell(stack, roles, kind, load, size, paper):
  return Cell(panel(roles, kind), stack, load, 'times alone', runs(stack, roles, kind, load, size),
              outcome.normalised, paper, open_loop=True)


def cells(size):
  size = SIZES[size]
  return [cell(stack, roles, kind, load, size, published.FIGURE8A[kind].get(load, {}).get(stack))
          for (roles, kind), loads in size['loads'].items() for load in loads for stack in published.STACKS]


def panels(study):
  return list(dict.fromkeys(p.cell.panel for p in study.points))


def plots(study):
  """A curve over load where there are several; the panels with one load are bars, side by side."""
  drawn, single = [], {}
  for name in panels(study):
    points = study.of(name)
    if len({p.cell.x for p in points}) == 1:
      kind, roles = name.split(', ', 1)
      single.setdefault((roles, points[0].cell.x), []).extend(by_kind(p, kind) for p in points)
      continue
    figure, area = plot.axes()
    plot.curves(area, points)
    area.set_xlabel('load')
    drawn.append((f'{text.sentence(name)}; hollow: published', finished(figure, area)))
  return drawn + [bars(*key, points) for key, points in single.items()]


def by_kind(point, kind):
  """The same point with the kind of operations as its x."""
  return replace(point, cell=replace(point.cell, x=kind))


def bars(roles, load, points):
  kinds = list(dict.fromkeys(p.cell.x for p in points))
  figure, area = plot.axes(plot.WIDTH if len(kinds) < 3 else plot.WIDE)
  plot.bars(area, points, kinds)
  return f'Load {load}, {roles}; lines across the bars: published', finished(figure, area)


def finished(figure, area):
  plot.logarithmic(area)
  area.set_ylabel('latency, times alone')
  plot.legend(area)
  return figure


def tables(study):
  made = [table.of_points(name, 'load', study.of(name)) for name in panels(study)]
  for name in panels(study)[:2]:
    load = max(p.cell.x for p in study.of(name))
    made += tails.percentiles(study, f'Percentiles, {name}, load {load}', study.of(name, x=load))
  return made


def ranking(points, value):
  """Names of the stacks, best first; those that are saturated last."""
  return [title(p.cell.series) for p in sorted(points, key=value)]


def why(study):
  return [text for text in (edm(study), *absolute(study), *saturation(study), *ranks(study),
                           *WHY) if text]


def edm(study):
  """How far EDM is above alone, and what it waits for."""
  points = [p for p in study.of(series='edm') if p.value and not p.saturated]
  if not points:
    return ''
  worst = max(points, key=lambda p: p.value.mean)
  waits = {name: sum(r['waits'][name] for r in study.results(worst)) / len(worst.cell.runs) for name in WAITS}
  return (f'EDM is at most {worst.value.mean:.3f} times its latency alone ({worst.cell.panel}, load '
          f'{worst.cell.x}; {worst.absolute.mean:.0f} ns). Where an operation waits there, in the mean of '
          'the whole run: '
          + ', '.join(f'{WAITS[name]} {ns:.1f} ns' for name, ns in waits.items())
          + '. The lines are shared with requests, /N/ and /G/, which nobody schedules, and which the '
            'published simulator has not got; the scheduler\'s part is that both ports of a chunk must be '
            'free, and that a matching takes time.')


WAITS = {'message_queue_ns': 'in the message queue', 'line_to_switch_ns': 'for the line to the switch',
         'scheduler_ns': 'for the scheduler', 'line_from_switch_ns': 'for the line to the node'}


def absolute(study):
  """What the ratios hide."""
  for name in panels(study)[:2]:
    load = max((p.cell.x for p in study.of(name) if p.value and not p.saturated), default=None)
    points = [p for p in study.of(name, x=load) if p.value and not p.saturated] if load else []
    if len(points) > 1:
      points.sort(key=lambda p: p.absolute.mean)
      yield (f'In nanoseconds, {name}, load {load}: '
             + ', '.join(f'{title(p.cell.series)} {p.absolute.mean:,.0f}' for p in points)
             + '. A ratio to the own latency alone hides how long that is: the same wait is less of a long '
               'latency than of a short one.')


def saturation(study):
  for name in panels(study):
    first = {}
    for p in study.of(name):
      if p.saturated:
        first.setdefault(p.cell.series, p)
    if first:
      yield (f'Saturated, {name}: ' + ', '.join(
          f'{title(s)} from load {p.cell.x} on (carries {p.achieved * 100:.0f} % of it)'
          for s, p in first.items())
             + '. A saturated fabric has no mean latency: it grows for as long as the run lasts. The '
               'published runs are bursts of 2,000 messages, so theirs have one.')


def ranks(study):
  """Ours beside the published order, where both have all the stacks."""
  for name in panels(study):
    for load in dict.fromkeys(p.cell.x for p in study.of(name)):
      points = [p for p in study.of(name, x=load) if p.value and p.cell.published is not None]
      if load < 0.8 or len(points) < 2:
        continue
      ours = ranking(points, lambda p: (p.saturated, p.value.mean))
      theirs = ranking(points, lambda p: p.cell.published)
      if ours != theirs:
        yield (f'Order at load {load}, {name}: here {", ".join(ours)}; published {", ".join(theirs)}.')


WHY = (
    'What the published simulator leaves out, and is in here: a trace of it is 2,000 messages, a burst, not '
    'a steady state; each algorithm is divided by a formula of its own and never less than 1; a read counts '
    'as two flows, the response from its grant on; there are no blocks, headers, frames\' least sizes, '
    'requests or acknowledgements that take room on a link; its scheduler takes no time, and frees a '
    'receiver one slot after a grant.',
)
