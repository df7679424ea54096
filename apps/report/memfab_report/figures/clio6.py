# SPDX-License-Identifier: BSD-3-Clause
"""Clio's Figure 6: a hit, a miss and a first access."""
from .. import plot, published, table
from ..cell import Cell
from ..outcome import Missing
from . import clio

KEY = 'clio-6'
TITLE = 'Clio, Figure 6: TLB hit, TLB miss and first access of a page'
ABOUT = ('16 B are read and written in one page; in more pages than the TLB has entries; in pages that were '
         'never accessed before, each of which has to be taken from the ring. ' + clio.MODEL)
SIZES = {'full': {'us': 2000, 'pages': 1 << 14}, 'quick': {'us': 1000, 'pages': 1 << 13},
         'tiny': {'us': 50, 'pages': 1 << 11}}
HIT, MISS, FIRST = 'hit', 'miss', 'first access'
LATENCY, MORE = 'latency', 'more'
ACCESSES, CYCLES = 'miss over hit, accesses to DRAM', 'first access over miss, cycles'
TIMES = 'first access, times a hit'


def runs(what, size):
  us = size['us']
  if what == FIRST:
    return (clio.accesses('first-access', 16, 1, size['pages'], us),)
  return (clio.accesses(what, 16, 1, 1 if what == HIT else 4 * clio.TLB, us, populate=True),)


def latency(what, kind):
  """All that was measured has to be what it is called."""
  def metric(result, _=None):
    found = clio.memory(result)
    if what == FIRST and (found['hits'] or found['misses'] != found['faults'] or found['dry']):
      raise Missing(f'{found["hits"]} hits, {found["misses"] - found["faults"]} misses and '
                         f'{found["dry"]} accesses that found no page are among the first accesses')
    return clio.latency(kind)(result)
  return metric


def accesses(kind):
  def metric(result, reference):
    return (latency(MISS, kind)(result) - latency(HIT, kind)(reference)) / clio.dram(result)
  return metric


def cycles(kind):
  def metric(result, reference):
    return (latency(FIRST, kind)(result) - latency(MISS, kind)(reference)) / clio.cycle(result)
  return metric


def times(kind):
  def metric(result, reference):
    return latency(FIRST, kind)(result) / latency(HIT, kind)(reference)
  return metric


def cells(size):
  size, made = SIZES[size], []
  hit, miss, first = (runs(what, size) for what in (HIT, MISS, FIRST))
  for kind in clio.KINDS:
    made += [Cell(LATENCY, kind, what, 'ns', runs(what, size), latency(what, kind))
             for what in (HIT, MISS, FIRST)]
    made += [Cell(MORE, kind, ACCESSES, 'accesses', miss, accesses(kind), published.CLIO_MISS_ACCESSES,
                  hit[0]),
             Cell(MORE, kind, CYCLES, 'cycles', first, cycles(kind), published.CLIO_FAULT_CYCLES, miss[0]),
             Cell(MORE, kind, TIMES, 'times', first, times(kind), None, hit[0])]
  return made


def plots(study):
  figure, area = plot.axes()
  plot.bars(area, study.of(LATENCY), [HIT, MISS, FIRST])
  area.set_ylabel('latency, ns')
  plot.legend(area)
  return [('Latency of 16 B', figure)]


def tables(study):
  return [table.of_points('latency, ns', '', study.of(LATENCY)),
          table.of_points('one beside the other', '', study.of(MORE))]


def why(study):
  said = [compared(study, kind) for kind in clio.KINDS]
  said = [text for text in said if text]
  return said + [WHY] if said else []


def compared(study, kind):
  hit, miss, first = (study.one(LATENCY, kind, what) for what in (HIT, MISS, FIRST))
  ratio = study.one(MORE, kind, TIMES)
  if not (hit and miss and first and ratio):
    return ''
  faults = clio.memory(study.results(first)[0])['faults']
  ends = clio.spread(study, [first])
  return (f'A {kind}: hit {hit.value.mean:.2f} ns, miss {miss.value.mean - hit.value.mean:.2f} ns more, '
          f'first access {first.value.mean - miss.value.mean:.2f} ns more than a miss. {faults:,} pages were '
          f'accessed for the first time; each that was measured took {clio.each(ends)}. A first '
          f'access is {ratio.value.mean:.3f} times a hit. Published of RDMA: '
          f'{published.CLIO_RDMA_FAULT_NS / 1e6:g} ms, {published.CLIO_RDMA_FAULT_TIMES:,} times.')


WHY = ('That a first access takes 3 cycles (fault, 12 ns) and an access to DRAM 82 ns (dram) is written in '
       'the file. What is computed is how many of them there are: one more for a miss, and nothing else for '
       'a first access, because the ring had a page each time. No number of the published figure is in the '
       'text but these; Figures 4 and 5 have its levels.')
