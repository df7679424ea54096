# SPDX-License-Identifier: BSD-3-Clause
"""What Clio's figures have in common: its board over EDM's messages (examples/clio/fpga.json)."""
from .. import fabric, run
from ..outcome import Missing
from . import figure5

KINDS = {'read': 'read', 'write': 'write_ack'}  # a write of Clio's is acknowledged
MEMORY = 'mn'
TLB = 16  # entries: the step of Clio's Figure 5, and the default of memory.tlb
SMALL, HUGE = '4KiB', '4MiB'  # pages
OCTETS = {SMALL: 1 << 12, HUGE: 1 << 22}
PIECE = '64B'  # so far a client goes from one access to the next: each is in another page
PS_PER_NS = 1000
SPACES = 16  # at most, where pages and not processes count
MODEL = ('Over EDM\'s messages: no transport of Clio\'s, no NIC and no PCIe of the compute node, no Ethernet '
         'switch. So times are shorter; steps and ratios are what can be compared.')


def make(name, workload, pages, count, seed=1, times=None, nodes=1, seconds=0.1):
  """A run. count: physical pages. times: (warm-up, measured) in us; None: until the workload is over."""
  clock = {'drain': fabric.PATIENCE}
  if times:
    clock = fabric.clock(*(f'{us}us' for us in times))['virtual']
  return run.make({
      'name': f'clio-{name}',
      'seed': seed,
      'clock': {'virtual': clock},
      'timing': 'clio-fpga',
      'link': {'rate': '10G'},
      'nodes': [{'name': 'cn', 'role': 'compute', 'count': nodes},
                {'name': MEMORY, 'role': 'memory',
                 'memory': {'type': 'virtual', 'size': count * OCTETS[pages], 'pages': pages,
                            'bandwidth': '128G', 'fault': '12ns', 'huge_pages': False,
                            'ranges': max(1 << 17, 2 * count)}}],
      'workload': [{'interleave': PIECE, 'address': 'sequential', 'depth': 1, 'verify': False, **workload}],
  }, seconds)


def accesses(name, size, spaces, pages, measured_us, nodes=1, **more):
  """Reads and acknowledged writes, one at a time, that go through all pages of all spaces of each node."""
  asks, count = 5 * spaces + pages * spaces // 64, nodes * spaces * pages
  warmup = 1000 + 3 * asks + (6 * pages * spaces // min(spaces, SPACES) if more.get('populate') else 0)
  workload = {'mix': {'read': 1, 'write_ack': 1}, 'size': size, 'spaces': spaces, 'pages': pages, **more}
  return make(name, workload, SMALL, max(1024, count), times=(warmup, measured_us), nodes=nodes,
              seconds=0.1 + 1e-5 * (count + spaces))


def latency(kind):
  """The metric: mean of the operations of a kind, ns."""
  def metric(result, _=None):
    ready = result['spaces']['ready_at_ps']
    if ready is None or ready > result['time']['measured_from_ps']:
      raise Missing('the spaces were not there when the measurement began')
    found = result['operations']['kinds'].get(KINDS[kind], {}).get('latency', {'count': 0})
    if not found['count']:
      raise Missing(f'no {kind} was measured')
    return found['mean_ns']
  return metric


def memory(result):
  return result['memory'][MEMORY]


def settings(result):
  """What the file says of the memory node."""
  return next(n['memory'] for n in result['config']['nodes'] if n['name'] == MEMORY)


def nanoseconds(text):
  """A time of a fabric file."""
  for unit, ns in (('ps', 1e-3), ('ns', 1), ('us', 1e3), ('ms', 1e6)):
    if text.endswith(unit):
      return float(text[:-len(unit)]) * ns
  return 0.0


def dram(result):
  return nanoseconds(settings(result)['dram'])


def cycle(result):
  return nanoseconds(result['config']['timing']['cycle'])


def client(result):
  return nanoseconds(result['config']['timing']['client'])


def known_ns(result):
  """Of a read of 16 B that hits: (cycles of EDM's stages, what is known but for blocks, time of a block)."""
  stages = [stage for _, of_hop in figure5.HOPS['read'] for stage in of_hop]
  cycles = sum(figure5.CYCLES.get(stage, 0) for stage in stages)
  wires = sum(figure5.WIRES.get(stage, 0) for stage in stages)
  data = 16 * 8 / 128  # at 128 Gb/s
  return cycles, cycles * cycle(result) + wires + data + dram(result) + client(result), 64 / 10


def spread(study, points):
  """{least, greatest}: of all single operations of the kind that a point's series is."""
  found = [r['operations']['kinds'][KINDS[p.cell.series]]['latency'] for p in points
           for r in study.results(p)]
  return min(l['min_ns'] for l in found), max(l['max_ns'] for l in found)


def each(ends):
  """What single operations took, ns."""
  return f'{ends[0]:.2f} ns' if ends[0] == ends[1] else f'{ends[0]:.2f} to {ends[1]:.2f} ns'


def microseconds(ns):
  return f'{ns / 1000:.3f} us'
