# SPDX-License-Identifier: BSD-3-Clause
"""Figure 6: requests a second through a link of 25 Gb/s, EDM beside RDMA."""
from .. import fabric, outcome, plot, published, table
from ..cell import Cell
from . import ycsb

KEY = '6'
TITLE = 'Figure 6: requests a second, EDM beside RDMA'
ABOUT = ('A compute node and a memory node at 25 Gb/s, the whole key-value store remote, so many requests '
         'under way that the link is full: 64, and as many active notifications of EDM\'s (X). A read asks '
         'for a record, a write carries 100 B of it. From the simulation of blocks and frames: nothing is '
         'computed from headers. Records of 64 B, written as a whole, stand beside those of the paper.')
SIZES = {'full': {'warmup_us': 100, 'measured_us': 2000, 'seeds': 5},
         'quick': {'warmup_us': 50, 'measured_us': 500, 'seeds': 3},
         'tiny': {'warmup_us': 20, 'measured_us': 50, 'seeds': 2}}
STACKS = ('edm', 'rocev2')
KB, SMALL = ycsb.RECORDS
RATIO = 'EDM over RDMA'
DEPTH = 64


def runs(stack, records, name, size):
  load = ycsb.workload(name, records, depth=DEPTH)
  times = (f"{size['warmup_us']}us", f"{size['measured_us']}us")
  return fabric.seeded(lambda seed: fabric.pair(stack, load, seed, times, {'x': DEPTH}), size['seeds'], 0.1)


def ratio(result, reference):
  return outcome.requests_per_s(result) / outcome.requests_per_s(reference)


def cells(size):
  size, made = SIZES[size], []
  for records in ycsb.RECORDS:
    for name in published.FIGURE6_WRITES:
      made += [Cell(records, stack, name, 'requests/s', runs(stack, records, name, size),
                    lambda result, _: outcome.requests_per_s(result)) for stack in STACKS]
      made.append(Cell(records, RATIO, name, 'times', runs('edm', records, name, size), ratio,
                       published.FIGURE6_RATIO if records == KB else None,
                       runs('rocev2', records, name, size)[0]))
  return made


def plots(study):
  drawn = []
  for records in ycsb.RECORDS:
    figure, area = plot.axes()
    plot.bars(area, [p for p in study.of(records) if p.cell.series in STACKS], list(published.FIGURE6_WRITES))
    area.set_xlabel('YCSB workload')
    area.set_ylabel('requests a second')
    area.yaxis.set_major_formatter(plot.spoken)
    plot.legend(area)
    drawn.append((f'Requests a second, {records}', figure))
  return drawn


def tables(study):
  return [table.of_points(f'requests a second, {records}', 'YCSB', study.of(records))
          for records in ycsb.RECORDS]


def why(study):
  said = [compared(study, records, name) for records in ycsb.RECORDS for name in published.FIGURE6_WRITES]
  return [text for text in said if text] + ([WHY] if any(said) else [])


def compared(study, records, name):
  found = study.one(records, RATIO, name)
  edm, rdma = (study.one(records, stack, name) for stack in STACKS)
  if not found or not edm or not rdma:
    return ''
  blocks = [per_request(study, point) for point in (edm, rdma)]
  return (f'YCSB {name}, {records}: {edm.value.mean / 1e6:.2f} M requests a second with EDM, '
          f'{rdma.value.mean / 1e6:.2f} M with RDMA, {found.value.mean:.2f} times as many. The busiest link '
          f'direction is {busiest(study, edm) * 100:.0f} and {busiest(study, rdma) * 100:.0f} % in use; a '
          f'request costs {blocks[0]:.1f} and {blocks[1]:.1f} blocks of it. Two stacks that fill the link '
          f'cannot be further apart than these, {blocks[1] / blocks[0]:.2f} times.')


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


WHY = ('A read of 1 KB is mostly data, in frames as in blocks, so its headers make little difference; those '
       'of 64 B make more. A ratio beyond that of the blocks needs a stack that leaves the link idle, which '
       'one in hardware may do, but no format of the wire makes it do.')
