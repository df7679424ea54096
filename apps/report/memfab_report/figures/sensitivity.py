# SPDX-License-Identifier: BSD-3-Clause
"""What policy, chunk size and X do to the completion times of Figure 8b: EDM alone."""
from .. import plot, published, table, text
from . import figure8b

KEY = 'sensitivity'
TITLE = 'Sensitivity of EDM: priority, slots, chunk and X'
ABOUT = ('The runs of Figure 8b with EDM, one parameter after the other: first come, first served; shortest '
         'remaining first, by what is left of the piece of 64 KiB that a notification stands for, or of the '
         'whole transfer it was cut from; that with slots, so that chunks of long messages end together.')
POLICIES = {
    'FCFS': {},
    'SRPT by piece': {'priority': 'srpt', 'srpt': 'message'},
    'SRPT by transfer': figure8b.SRPT,
    'SRPT by transfer, slots': figure8b.SCHEDULER['edm'],
}
CHUNK, X = 256, 3  # the paper's
CHUNKS = (64, 128, 256, 512, 1024)
XS = (1, 2, 3, 4, 8)
APPLICATION = 'hadoop'
SIZES = {
    'full': {**figure8b.SIZES['full'], 'chunks': CHUNKS, 'xs': XS},
    'quick': {**figure8b.SIZES['quick'], 'chunks': (64, 256, 1024), 'xs': (1, 3, 8)},
    'tiny': {**figure8b.SIZES['tiny'], 'chunks': (64, 256), 'xs': (1, 3)},
}
PANELS = {'chunk': f'by chunk in octets, X = {X}, {APPLICATION}', 'x': f'by X, chunk of {CHUNK} B, '
                                                                       f'{APPLICATION}',
          'application': f'by application, chunk of {CHUNK} B, X = {X}'}


def setting(policy, chunk=CHUNK, x=X):
  """Only what is not the default: a run that Figure 8b has, too, is made once."""
  made = dict(POLICIES[policy])
  if chunk != CHUNK:
    made['chunk'] = {'virtual': chunk}
  if x != X:
    made['x'] = x
  return made


def cells(size):
  size = SIZES[size]

  def one(panel, policy, at, name=APPLICATION, **parameter):
    return figure8b.cell(PANELS[panel], policy, at, 'edm', name, size, setting(policy, **parameter))
  return ([one('chunk', policy, chunk, chunk=chunk) for chunk in size['chunks'] for policy in POLICIES]
          + [one('x', policy, x, x=x) for x in size['xs'] for policy in POLICIES]
          + [one('application', policy, name, name) for name in published.FIGURE8B for policy in POLICIES])


def plots(study):
  drawn = []
  for key, label in (('chunk', 'chunk, octets'), ('x', 'X')):
    figure, area = plot.axes()
    plot.curves(area, study.of(PANELS[key]))
    if key == 'chunk':
      area.set_xscale('log', base=2)
    ticks = study.parameters[key + 's']
    area.set_xticks(ticks, map(str, ticks))
    area.minorticks_off()
    area.set_ylim(bottom=1)
    area.set_xlabel(label)
    area.set_ylabel('completion time, times alone')
    plot.legend(area, columns=3)
    drawn.append((text.sentence(PANELS[key]), figure))
  figure, area = plot.axes(plot.WIDE)
  plot.bars(area, study.of(PANELS['application']), list(published.FIGURE8B))
  area.set_ylim(bottom=0)
  area.set_ylabel('completion time, times alone')
  plot.legend(area, columns=3)
  return drawn + [(text.sentence(PANELS['application']), figure)]


def tables(study):
  return [table.of_points(name, key, study.of(name)) for key, name in PANELS.items()]


def why(study):
  said = []
  good = [p for p in study.points if p.value and not p.saturated and p.cell.panel != PANELS['application']]
  if good:
    best, worst = (f(good, key=lambda p: p.value.mean) for f in (min, max))
    said.append(f'Best of all settings, {APPLICATION}: {described(best)}, {best.value.mean:.2f} times '
                f'alone; worst: {described(worst)}, {worst.value.mean:.2f}.')
  for name in published.FIGURE8B:
    points = [p for p in study.of(PANELS['application'], x=name) if p.value]
    if points:
      best = min(points, key=lambda p: p.value.mean)
      said.append(f'{name}: {best.cell.series} is best, {best.value.mean:.2f} times alone (published for '
                  f'EDM: {published.FIGURE8B[name]["edm"]:.2f}).')
  return said


def described(point):
  key = next(key for key, name in PANELS.items() if name == point.cell.panel)
  return f'{point.cell.series}, {"X" if key == "x" else "chunk"} {point.cell.x}'
