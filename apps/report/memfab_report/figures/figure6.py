# SPDX-License-Identifier: BSD-3-Clause
"""Figure 6: requests a second through a link of 25 Gb/s, EDM beside RDMA."""
from .. import fabric, outcome, plot, published, table
from ..cell import Cell
from . import ycsb

KEY = '6'
TITLE = 'Figure 6: requests a second, EDM beside RDMA'
ABOUT = ('A compute node and a memory node at 25 Gb/s, the whole key-value store remote, so many requests '
         'under way that the link is full. A read asks for 1 KB, a write carries 100 B. From the simulation '
         'of blocks and frames: nothing is computed from headers.')
SIZES = {'full': {'warmup_us': 100, 'measured_us': 2000, 'seeds': 5},
         'quick': {'warmup_us': 50, 'measured_us': 500, 'seeds': 3},
         'tiny': {'warmup_us': 20, 'measured_us': 50, 'seeds': 2}}
STACKS = ('edm', 'rocev2')
PANEL, RATIO = 'requests a second', 'EDM over RDMA'
DEPTH = 64


def runs(stack, name, size):
  return fabric.seeded(lambda seed: fabric.pair(stack, ycsb.workload(name, depth=DEPTH), seed,
                                                (f"{size['warmup_us']}us", f"{size['measured_us']}us")),
                       size['seeds'], 0.1)


def ratio(result, reference):
  return outcome.requests_per_s(result) / outcome.requests_per_s(reference)


def cells(size):
  size = SIZES[size]
  made = []
  for name in published.FIGURE6_WRITES:
    made += [Cell(PANEL, stack, name, 'requests/s', runs(stack, name, size),
                  lambda result, _: outcome.requests_per_s(result)) for stack in STACKS]
    made.append(Cell(RATIO, 'ratio', name, '', runs('edm', name, size), ratio, published.FIGURE6_RATIO,
                     runs('rocev2', name, size)[0]))
  return made


def plots(study):
  figure, area = plot.axes()
  plot.bars(area, study.of(PANEL), list(published.FIGURE6_WRITES))
  area.set_xlabel('YCSB workload')
  area.set_ylabel('requests a second')
  plot.legend(area)
  return [('Requests a second', figure)]


def tables(study):
  return [table.of_points(name, 'YCSB', study.of(name)) for name in (PANEL, RATIO)]


def why(study):
  said = []
  for name in published.FIGURE6_WRITES:
    found = study.one(RATIO, 'ratio', name)
    edm, rdma = (study.one(PANEL, stack, name) for stack in STACKS)
    if found and edm and rdma:
      blocks = [per_request(study, point) for point in (edm, rdma)]
      said.append(f'YCSB {name}: {edm.value.mean / 1e6:.2f} M requests a second with EDM, '
                  f'{rdma.value.mean / 1e6:.2f} M with RDMA, {found.value.mean:.2f} times as many. The '
                  f'busiest link direction is {busiest(study, edm) * 100:.0f} and '
                  f'{busiest(study, rdma) * 100:.0f} % in use; a request costs {blocks[0]:.1f} and '
                  f'{blocks[1]:.1f} blocks of it. Two stacks that fill the link cannot be further apart '
                  f'than these, {blocks[1] / blocks[0]:.2f} times.')
  return said + [WHY] if said else []


def busiest(study, point):
  """Share of the busiest link direction that was in use."""
  return max(link['utilisation_busiest']
             for result in study.results(point) for link in result['links'].values())


def per_request(study, point):
  """Blocks on the direction with most of them, a request."""
  blocks = requests = 0
  for result in study.results(point):
    blocks += max(sum(link[f'{kind}_blocks'] for kind in ('memory', 'frame', 'gap'))
                  for link in result['links'].values())
    requests += sum(kind['completed'] for kind in result['operations']['kinds'].values())
  return blocks / requests


WHY = ('A read of 1 KB is mostly data, in frames as in blocks, so its headers make little difference. Here '
       'both stacks are limited by the link alone; a ratio beyond that of the blocks needs a stack that '
       'leaves the link idle, which one in hardware may do, but no format of the wire makes it do.')
