# SPDX-License-Identifier: BSD-3-Clause
"""A single switch with 512 nodes at 100 Gb/s, which the paper says its scheduler is good for."""
from .. import outcome, plot, table
from ..cell import Cell
from . import figure8a

KEY = '512'
TITLE = '512 nodes at 100 Gb/s'
ABOUT = ('Figure 8a for EDM with half reads, half writes of 64 B, every node both compute and memory node, '
         'beside the rack of 144 nodes. The scheduler has the same time for a matching, which takes more '
         'iterations.')
SIZES = {
    'full': {**figure8a.SIZES['full'], 'racks': (144, 512), 'loads': (0.1, 0.3, 0.5, 0.7, 0.8, 0.9),
             'warmup_us': 5, 'measured_us': 5, 'seeds': 3},
    'quick': {**figure8a.SIZES['quick'], 'racks': (144, 512), 'loads': (0.4, 0.8), 'warmup_us': 3,
              'measured_us': 3},
    'tiny': {**figure8a.SIZES['tiny'], 'racks': (8, 16), 'loads': (0.4, 0.8)},
}
KIND = 'mix50'
PANEL = f'{figure8a.NAMES[KIND]}, {figure8a.ROLES["both"]}'


def cells(size):
  size = SIZES[size]
  return [Cell(PANEL, f'{nodes} nodes', load, 'times alone',
               figure8a.runs('edm', 'both', KIND, load, {**size, 'nodes': nodes}), outcome.normalised,
               open_loop=True)
          for load in size['loads'] for nodes in size['racks']]


def plots(study):
  figure, area = plot.axes()
  plot.curves(area, study.points)
  area.set_ylim(bottom=1)
  area.set_xlabel('load')
  area.set_ylabel('latency, times alone')
  plot.legend(area)
  return [(PANEL, figure)]


def tables(study):
  return [table.of_points(PANEL, 'load', study.points)]


def why(study):
  small, large = (f'{nodes} nodes' for nodes in study.parameters['racks'])
  load = study.parameters['loads'][-1]
  few, many = study.one(PANEL, small, load), study.one(PANEL, large, load)
  if not few or not many or few.saturated or many.saturated:
    return []
  grants = [sum(r['scheduler']['grants_per_matching'] for r in study.results(p)) / len(p.cell.runs)
            for p in (few, many)]
  iterations = [max(r['scheduler']['iterations_max'] for r in study.results(p)) for p in (few, many)]
  return [f'At load {load} an operation takes {many.value.mean:.3f} times its latency alone with {large}, '
          f'{few.value.mean:.3f} times with {small}. A matching gives {grants[1]:.1f} grants there, here '
          f'{grants[0]:.1f}, in at most {iterations[1]} and {iterations[0]} iterations. The paper has no '
          'figure of it.']
