# SPDX-License-Identifier: BSD-3-Clause
"""Figure 7: mean latency of YCSB A by how much of the store is remote."""
from .. import fabric, plot, published, table
from ..cell import Cell
from ..stacks import title
from . import ycsb

KEY = '7'
TITLE = 'Figure 7: mean latency of YCSB A by local : remote'
ABOUT = ('A compute node and a memory node at 25 Gb/s, one request at a time, the objects in the given '
         'proportion in the DRAM of the compute node and of the memory node.')
SIZES = {'full': {'measured_us': 10000, 'seeds': 5}, 'quick': {'measured_us': 2000, 'seeds': 3},
         'tiny': {'measured_us': 100, 'seeds': 2}}
STACKS = ('edm', 'cxl', 'rocev2')


def share(name):
  """Of local objects."""
  local, remote = map(int, name.split(':'))
  return local / (local + remote)


def runs(stack, records, name, size):
  load = ycsb.workload('A', records, depth=1, local=share(name))
  return fabric.seeded(lambda seed: fabric.pair(stack, load, seed, ('0', f"{size['measured_us']}us")),
                       size['seeds'], 0.1)


def cells(size):
  size = SIZES[size]
  return [Cell(records, stack, name, 'ns', runs(stack, records, name, size),
               lambda result, _: ycsb.mean_ns(result), ns)
          for records in ycsb.RECORDS for name, stacks in published.FIGURE7.items()
          for stack, ns in stacks.items()]


def plots(study):
  drawn = []
  for records in ycsb.RECORDS:
    figure, area = plot.axes()
    plot.bars(area, study.of(records), list(published.FIGURE7))
    area.set_xlabel('local : remote')
    area.set_ylabel('mean latency, ns')
    plot.legend(area)
    drawn.append((f'Mean latency, {records}; lines across the bars: published', figure))
  return drawn


def tables(study):
  return [table.of_points(f'mean latency, ns, {records}', 'local : remote', study.of(records))
          for records in ycsb.RECORDS]


def why(study):
  said = [explained(study, stack, records) for stack in STACKS for records in ycsb.RECORDS]
  return [text for text in said if text] + ([WHY] if any(said) else [])


def explained(study, stack, records):
  """What a remote request takes, ours and, out of the published rows, theirs."""
  known = [p for p in study.of(records, stack) if p.value]
  if not known:
    return ''
  most = min(known, key=lambda p: share(p.cell.x))
  parts = [ycsb.latencies(result) for result in study.results(most)]
  local, read, write = (sum(part[name][0] for part in parts) / len(parts)
                        for name in ('local', 'read', 'write'))
  return (f'{title(stack)}, {records}: a local request takes {local:.0f} ns, a remote read {read:.0f} ns, a '
          f'remote write {write:.0f} ns until its effect, {(read + write) / 2:.0f} ns in the mean. The '
          f'published rows amount to {published_remote(stack, local):.0f} ns.')


def published_remote(stack, local):
  """Mean latency of a remote request that explains the published rows best, given that of a local one."""
  rows = [(1 - share(name), stacks[stack]) for name, stacks in published.FIGURE7.items()]
  return (sum(r * (ns - (1 - r) * local) for r, ns in rows)) / sum(r * r for r, _ in rows)


SERIALISED = ycsb.RECORD * 8 / 25  # ns, without any overhead
WHY = (f'A record of {ycsb.RECORD:,} octets takes {SERIALISED:.0f} ns on a link of 25 Gb/s before any '
       'overhead. The published rows leave no room for that beside the latency of Table 1, which is one of '
       '64 B: they look like that latency, mixed with the local one. Ours are those of the records.')
