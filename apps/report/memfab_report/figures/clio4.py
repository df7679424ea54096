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
    'full': {'processes': (1, 4, 16, 17, 64, 256, 1000, 4000, 10000), 'measured_us': 2000},
    'quick': {'processes': (1, 4, 16, 17, 64, 256, 1000), 'measured_us': 1000},
    'tiny': {'processes': (1, 16, 17), 'measured_us': 50},
}
OF_NODE = 5000  # processes at a compute node; more are at several, which take turns
APART = '4us'
LATENCY, STATE = 'latency', 'state'
FAST_PATH = 'fast path'


def runs(processes, size):
  nodes = -(-processes // OF_NODE)
  turns = {'delay': APART} if nodes > 1 else {}
  return (clio.accesses('processes', 16, processes // nodes, 1, size['measured_us'], nodes, populate=True,
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
  said = [levels(study, kind) for kind in published.CLIO4] + [state(study)]
  said = [text for text in said if text]
  return said + [WHY] if said else []


def levels(study, kind):
  known = [p for p in study.of(LATENCY, kind) if p.value]
  few, many = ([p for p in known if (p.cell.x <= clio.TLB) is few] for few in (True, False))
  if not few or not many:
    return ''
  hit, miss = clio.spread(study, few), clio.spread(study, many)
  least, most = published.CLIO4[kind]
  return (f'A {kind}, up to {clio.TLB} processes, which is the size of the TLB: each single one takes '
          f'{hit[0]:.2f} to {hit[1]:.2f} ns. Beyond, up to {many[-1].cell.x:,} processes: {miss[0]:.2f} to '
          f'{miss[1]:.2f} ns. The difference is one access to DRAM ({clio.dram(study.results(few[0])[0]):g} '
          f'ns, a parameter). Published are {clio.microseconds(least)} to {clio.microseconds(most)}, '
          f'{(most - least):.0f} ns apart, and called flat. Ours end {least - hit[1]:.0f} ns earlier.')


def state(study):
  known = [p.value.mean for p in study.of(STATE) if p.value]
  if not known:
    return ''
  return (f'State of the fast path: {min(known):,.0f} to {max(known):,.0f} octets, whatever the number of '
          f'processes. Published: {published.CLIO_STATE / 1e6:g} MB on the chip, buffers of its network '
          'included.')


WHY = ('Published times have the NIC and the PCIe bus of a server, an Ethernet switch of 40 Gb/s, and the '
       'MAC, checksum and acknowledgement of Clio\'s own transport. Ours have EDM\'s blocks in the PHY, '
       'scheduled by the switch. With EDM a write is slower than a read, since its data waits for a grant; '
       'published writes are faster, since their acknowledgement does not wait for DRAM.')
