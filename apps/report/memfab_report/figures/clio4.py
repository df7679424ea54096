# SPDX-License-Identifier: BSD-3-Clause
"""Clio's Figure 4: latency by the number of processes."""
from .. import plot, published, table
from ..cell import Cell
from . import clio

KEY = 'clio-4'
TITLE = 'Clio, Figure 4: latency by number of processes'
ABOUT = ('Each process has an address space and a page of its own, and they read and write 16 B in turn, one '
         'request at a time. ' + clio.MODEL)
SIZES = {
    'full': {'processes': (1, 4, 16, 17, 64, 256, 1000, 4000, 10000), 'us': 2000},
    'quick': {'processes': (1, 4, 16, 17, 64, 256, 1000), 'us': 1000},
    'tiny': {'processes': (1, 16, 17), 'us': 50},
}
OF_NODE = 5000  # processes at a compute node; more are at several, which take turns
APART = '3us'  # from one to the next of a node; with it those of two nodes never meet
LATENCY, STATE = 'latency', 'state'
FAST_PATH = 'fast path'


def runs(processes, size):
  nodes = -(-processes // OF_NODE)
  turns = {'delay': APART} if nodes > 1 else {}
  return (clio.accesses('processes', 16, processes // nodes, 1, size['us'], nodes, populate=True,
                        **turns),)


def cells(size):
  size, made = SIZES[size], []
  for processes in size['processes']:
    for kind, (least, most) in published.CLIO4.items():
      inside = processes <= published.CLIO4_MOST
      made.append(Cell(LATENCY, kind, processes, 'ns', runs(processes, size), clio.latency(kind),
                       least if inside else None, published_to=most if inside else None))
  return made + [Cell(STATE, FAST_PATH, processes, 'octets', runs(processes, size),
                      lambda result, _: clio.memory(result)['state_octets'], published.CLIO_STATE)
                 for processes in size['processes']]


def plots(study):
  figure, area = plot.axes()
  plot.curves(area, study.of(LATENCY))
  area.set_xscale('log')
  plot.plain(area.xaxis)
  area.set_ylim(bottom=0)
  area.set_xlabel('processes')
  area.set_ylabel('latency, ns')
  plot.legend(area)
  return [('Latency of 16 B; hollow: least and greatest that were published', figure)]


def tables(study):
  return [table.of_points('latency, ns', 'processes', study.of(LATENCY)),
          table.of_points('state of the fast path, octets', 'processes', study.of(STATE))]


def why(study):
  said = [levels(study, kind) for kind in published.CLIO4] + [sums(study), state(study)]
  said = [text for text in said if text]
  return said + [WHY] if said else []


def levels(study, kind):
  known = [p for p in study.of(LATENCY, kind) if p.value]
  few, many = ([p for p in known if (p.cell.x <= clio.TLB) is few] for few in (True, False))
  if not few or not many:
    return ''
  hit, miss = clio.spread(study, few), clio.spread(study, many)
  least, most = published.CLIO4[kind]
  return (f'A {kind}, up to {clio.TLB} processes, as many as the TLB has entries: each takes '
          f'{clio.each(hit)}. Beyond, up to {many[-1].cell.x:,} processes: {clio.each(miss)}. The difference '
          f'is one access to DRAM ({clio.dram(study.results(few[0])[0]):g} ns, a parameter). Published are '
          f'{clio.microseconds(least)} to {clio.microseconds(most)}, {most - least:.0f} ns apart, and called '
          f'flat. Ours is {least - hit[1]:,.0f} ns below the least of these.')


def state(study):
  known = [p.value.mean for p in study.of(STATE) if p.value]
  if not known:
    return ''
  octets = f'{min(known):,.0f}' + (f' to {max(known):,.0f}' if min(known) < max(known) else '')
  return (f'State of the fast path: {octets} octets, from {study.parameters["processes"][0]} to '
          f'{study.parameters["processes"][-1]:,} processes. Published: '
          f'{published.CLIO_STATE / 1e6:g} MB on the chip in all.')


def sums(study):
  """What a read is made of."""
  first = study.one(LATENCY, 'read', 1)
  if not first:
    return ''
  result = study.results(first)[0]
  cycles, known, block = clio.known_ns(result)
  rest = (first.value.mean - known) / block
  return (f'A read that hits is {cycles} cycles of {clio.cycle(result):g} ns in EDM\'s stages, a link 4 '
          f'times, one access to DRAM, 1 ns of the memory\'s bandwidth and '
          f'{clio.client(result):g} ns of the client: {known:.2f} ns. The rest, '
          f'{first.value.mean - known:.2f} ns, is {rest:.2f} blocks of {block:g} ns at 10 Gb/s.')


WHY = ('Published times have the NIC and the PCIe bus of a server, an Ethernet switch of 40 Gb/s, and the '
       'MAC, checksum and acknowledgement of Clio\'s own transport. Ours have EDM\'s blocks in the PHY, '
       'scheduled by the switch. With EDM a write is slower than a read, since its data waits for a grant. '
       'Published writes are faster than reads: their data comes with the request.')
