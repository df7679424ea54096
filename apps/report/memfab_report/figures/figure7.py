# SPDX-License-Identifier: BSD-3-Clause
"""Figure 7: mean latency of YCSB A by how much of the store is remote."""
from .. import fabric, outcome, plot, published, table
from ..cell import Cell
from . import ycsb

KEY = '7'
TITLE = 'Figure 7: mean latency of YCSB A by local : remote'
ABOUT = ('A compute node and a memory node at 25 Gb/s, one request at a time, the objects in the given '
         'proportion in the DRAM of the compute node and of the memory node.')
SIZES = {'full': {'measured_us': 10000, 'seeds': 5}, 'quick': {'measured_us': 2000, 'seeds': 3},
         'tiny': {'measured_us': 100, 'seeds': 2}}
STACKS = ('edm', 'cxl', 'rocev2')
PANEL = 'mean latency, ns'


def share(name):
  """Of local objects."""
  local, remote = map(int, name.split(':'))
  return local / (local + remote)


def runs(stack, name, size):
  return fabric.seeded(lambda seed: fabric.pair(stack, ycsb.workload('A', depth=1, local=share(name)), seed,
                                                ('0', f"{size['measured_us']}us")), size['seeds'], 0.1)


def cells(size):
  size = SIZES[size]
  return [Cell(PANEL, stack, name, 'ns', runs(stack, name, size),
               lambda result, _: outcome.mean_ns(result), ns)
          for name, stacks in published.FIGURE7.items() for stack, ns in stacks.items()]


def plots(study):
  figure, area = plot.axes()
  plot.bars(area, study.points, list(published.FIGURE7))
  area.set_xlabel('local : remote')
  area.set_ylabel('mean latency, ns')
  plot.legend(area)
  return [('Mean latency; lines across the bars: published', figure)]


def tables(study):
  return [table.of_points('Mean latency, ns', 'local : remote', study.points)]


def why(study):
  said = []
  names = list(published.FIGURE7)
  for stack in STACKS:
    most, least = study.one(PANEL, stack, names[-1]), study.one(PANEL, stack, names[0])
    if most and least:
      said.append(f'{stack}: {least.value.mean:.0f} ns at {names[0]}, {most.value.mean:.0f} ns at '
                  f'{names[-1]}.')
  return said
