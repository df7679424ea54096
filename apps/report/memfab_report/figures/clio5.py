# SPDX-License-Identifier: BSD-3-Clause
"""Clio's Figure 5: latency by the number of entries of the page table that are in use."""
from .. import plot, published, table
from ..cell import Cell
from . import clio

KEY = 'clio-5'
TITLE = 'Clio, Figure 5: latency by number of page table entries'
ABOUT = ('Pages of 4 KiB in up to 16 address spaces. Each page is accessed once, then 4 B are read and '
         'written in all pages in turn, one request at a time. ' + clio.MODEL)
SIZES = {
    'full': {'powers': tuple(range(23)), 'us': 1000},
    'quick': {'powers': (0, 2, 3, 4, 5, 6, 8, 12, 16, 20, 22), 'us': 500},
    'tiny': {'powers': (0, 4, 5), 'us': 50},
}
LATENCY, STEP = 'latency', 'step'
BY_NS, BY_ACCESSES = 'miss over hit, ns', 'miss over hit, accesses to DRAM'


def runs(power, size):
  spaces = min(clio.SPACES, 1 << power)
  return (clio.accesses('entries', 4, spaces, (1 << power) // spaces, size['us'], populate=True),)


def step(kind):
  def metric(result, reference):
    return clio.latency(kind)(result) - clio.latency(kind)(reference)
  return metric


def accesses(kind):
  def metric(result, reference):
    return step(kind)(result, reference) / clio.dram(result)
  return metric


def cells(size):
  size, made = SIZES[size], []
  hit, miss = (runs(power, size) for power in (4, size['powers'][-1]))
  for kind, (low, (least, most)) in published.CLIO5.items():
    for power in size['powers']:
      small = 1 << power <= clio.TLB
      made.append(Cell(LATENCY, kind, 1 << power, 'ns', runs(power, size), clio.latency(kind),
                       low if small else least, published_to=None if small else most))
    made.append(Cell(STEP, kind, BY_NS, 'ns', miss, step(kind), least - low, hit[0],
                     published_to=most - low))
    made.append(Cell(STEP, kind, BY_ACCESSES, 'accesses', miss, accesses(kind),
                     published.CLIO_MISS_ACCESSES, hit[0]))
  return made


def plots(study):
  figure, area = plot.axes()
  plot.curves(area, study.of(LATENCY))
  area.set_xscale('log', base=2)
  area.set_ylim(bottom=0)
  area.axvline(clio.TLB, color=plot.INK, linewidth=1, linestyle=':')
  area.set_xlabel('entries')
  area.set_ylabel('latency, ns')
  plot.legend(area)
  return [('Latency of 4 B; dotted: entries of the TLB; hollow: published', figure)]


def tables(study):
  return [table.of_points('latency, ns', 'entries', study.of(LATENCY)),
          table.of_points('what a miss adds', '', study.of(STEP))]


def why(study):
  said = [levels(study, kind) for kind in published.CLIO5]
  said = [text for text in said if text]
  return said + [WHY] if said else []


def levels(study, kind):
  known = [p for p in study.of(LATENCY, kind) if p.value]
  few, many = ([p for p in known if (p.cell.x <= clio.TLB) is few] for few in (True, False))
  if not few or not many:
    return ''
  hit, miss = clio.spread(study, few), clio.spread(study, many)
  two = hit[0] == hit[1] and miss[0] == miss[1]
  entries = many[-1].cell.x
  return (f'A {kind}: {"two latencies and no third" if two else "more than two latencies"}, {clio.each(hit)} '
          f'up to {clio.TLB} entries and {clio.each(miss)} up to {entries:,}. So many pages of 4 MiB are '
          f'{entries * clio.OCTETS[clio.HUGE] / 2 ** 40:.4g} TiB.')


WHY = ('The step is where the published one is, and a miss is one access to memory in both. How long that '
       'is, is a parameter of ours (dram, of EDM\'s testbed). The published step is 70 to 100 ns of a '
       'write and 130 to 150 ns of a read; the board reaches its DRAM through a slow controller (section '
       '7.1). Why it is not the same for both is not in the paper. The published levels are higher for the '
       'reasons of Figure 4.')
