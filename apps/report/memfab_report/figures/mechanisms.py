# SPDX-License-Identifier: BSD-3-Clause
"""What keeps EDM from its unloaded latency at load 0.9, and what of it the time of the scheduler is."""
from .. import outcome, plot, run, table
from ..cell import Cell
from . import figure8a

KEY = 'mechanisms'
TITLE = 'What EDM waits for at load 0.9'
ABOUT = ('The runs of Figure 8a with EDM at the highest load, and the same with one thing changed at a '
         'time: how long a matching takes (3.1.2: 3 cycles an iteration at 3 GHz), how many iterations it '
         'may have, and whether a port is taken for a chunk\'s wire blocks or, as the paper has it, for its '
         'payload only.')
LOAD = 0.9
PANEL = f'load {LOAD}'
PAPER = 1.3  # 'within 1.3 times its unloaded latency'
SIZES = figure8a.SIZES
CHANGES = {
    'as in Figure 8a': {},
    'at 6 GHz': {'ghz': 6},
    'one iteration': {'iterations': 1},
    'takes no time': {'time': 'none'},
    'released by payload': {'release': 'paper'},
}
PLACES = {'reads, both roles': ('both', 'reads'), 'writes, both roles': ('both', 'writes'),
          'reads, half and half': ('half', 'reads'), 'writes, half and half': ('half', 'writes')}


def changed(base, change):
  """Runs with the scheduler told something else."""
  return tuple(run.make({**r.fabric, 'scheduler': {**r.fabric['scheduler'], **change}}, r.seconds)
               for r in base)


def cells(size):
  size = SIZES[size]
  made = []
  for place, (roles, kind) in PLACES.items():
    base = figure8a.runs('edm', roles, kind, LOAD, size)
    made += [Cell(PANEL, name, place, 'times alone', changed(base, change), outcome.normalised,
                  open_loop=True) for name, change in CHANGES.items()]
  return made


def plots(study):
  figure, area = plot.axes(plot.WIDE)
  plot.bars(area, study.points, list(PLACES))
  area.axhline(PAPER, color=plot.INK, linewidth=1, linestyle=':')
  area.set_ylim(bottom=1)
  area.set_ylabel('latency, times alone')
  plot.legend(area, columns=5)
  return [(f'Load {LOAD}; dotted: {PAPER}, which the paper says EDM stays within', figure)]


def tables(study):
  return [table.of_points(PANEL, 'operations', study.points)]


def why(study):
  return [said for place in PLACES for said in explained(study, place)]


def explained(study, place):
  """How much of what is above 1 goes with the scheduler's time, and what waits are left then."""
  base, free = (study.one(PANEL, name, place) for name in ('as in Figure 8a', 'takes no time'))
  if not base or not free or base.saturated or free.saturated:
    return
  waits = {name: sum(r['waits'][key] for r in study.results(free)) / len(free.cell.runs)
           for key, name in figure8a.WAITS.items()}
  verdict = 'within' if base.value.mean <= PAPER else 'above'
  yield (f'{place}: {base.value.mean:.3f} times alone, {verdict} the paper\'s {PAPER}; '
         f'{free.value.mean:.3f} if a matching took no time. What is left are waits: '
         + ', '.join(f'{name} {ns:.1f} ns' for name, ns in waits.items())
         + '. For a line waits what shares it with requests, /N/ and /G/, which are not scheduled; for the '
           'scheduler a chunk one of whose ports is taken.')
