#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fabrics of several networks ("tiers"), with nodes that have an end in each of several.

  tiers.py EMU ROOT [--graphs N] [--seed N]

Random fabrics (to 4 tiers of any stack, each of frames with up to 4 switches, to 24 nodes, and tiers that are
a link between two nodes): the result is the same in another run, block by block, and with the switches of the
file in another order. Networks share nothing but memory, so clients of a network measure what they measure
in a fabric of that network alone.
Wall clock: operations complete and are verified, and what each role gave its record gives again.
"""
import argparse
import os
import random
import tempfile

import breaking
import laws
from emu import Emu, Tap, need_eal, why
from graphs import Runs, first_difference, stripped

FRAMES = ('ethernet', 'tcp', 'dctcp', 'rocev2')
STACKS = ('edm', 'edm', 'cxl', 'pfabric', *FRAMES, *FRAMES)
WALL = ('edm', 'edm', 'rocev2', 'ethernet')
KINDS = ('read', 'read', 'write', 'write_ack', 'fadd')
OF_STACK = {'ethernet': ('read', 'write_ack'), 'cxl': ('read', 'write')}
TIMES = ('--warmup', '1us', '--duration', '10us')
RATES = ('10G', '25G', '100G')
CPUS = ','.join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
PLACES = {'1 lcore': '0', '2 lcores': f'(0-1)@({CPUS})', '3 lcores': f'(0-2)@({CPUS})'}


def options():
  parser = argparse.ArgumentParser(description='Runs fabrics of several networks.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--graphs', type=int, default=6)
  parser.add_argument('--seed', type=int, default=1)
  return parser.parse_args()


class Drawn:
  """A random fabric: its tiers, and which nodes are in which of them."""

  def __init__(self, seed, stacks, switches, nodes):
    self.r = r = random.Random(seed)
    self.seed = seed
    self.tiers = [f't{i}' for i in range(r.randint(2, 4))]
    self.stack = {tier: r.choice(stacks) for tier in self.tiers}
    self.switches = {tier: [f'{tier}s{i}' for i in range(r.randint(1, switches))]
                     if self.stack[tier] in FRAMES and r.random() < 0.7 else [] for tier in self.tiers}
    self.rate = {tier: r.choice(RATES) for tier in self.tiers}
    self.kind = {tier: r.choice(OF_STACK.get(self.stack[tier], KINDS)) for tier in self.tiers}
    self.ends = {}
    for kind, most in (('c', nodes), ('m', nodes // 2)):
      for i in range(max(len(self.tiers), r.randint(2, most))):
        first = self.tiers[i] if i < len(self.tiers) else r.choice(self.tiers)
        rest = [tier for tier in self.tiers if tier != first and r.random() < 0.4]
        self.ends[f'{kind}{i}'] = [first] + rest
    self.place = {(node, tier): r.choice(self.switches[tier]) for node, ends in self.ends.items()
                  for tier in ends if self.switches[tier]}
    self.pair = {}
    for i in range(r.randint(0, 2)):
      self.draw_pair(f'd{i}', [stack for stack in stacks if stack in FRAMES])

  def draw_pair(self, tier, stacks):
    """A link between two nodes without a network in common. The end of the one that asks is its last one."""
    r = self.r
    apart = [(node, other) for node in self.ends for other in self.ends
             if node[0] == 'c' and other[0] == 'm' and self.common(node, other) is None]
    if not apart:
      return
    asks, other = r.choice(apart)
    self.tiers.append(tier)
    self.pair[tier] = (asks, other)
    self.stack[tier], self.switches[tier], self.rate[tier] = r.choice(stacks), [], r.choice(RATES)
    self.kind[tier] = r.choice(OF_STACK.get(self.stack[tier], KINDS))
    self.ends[asks].append(tier)
    self.ends[other].insert(r.randint(0, len(self.ends[other])), tier)

  def is_named(self, tier, node):
    """Which of the two nodes says what their link is: none where "links" does."""
    return self.pair[tier].index(node) == self.seed % 3

  def end(self, node, tier):
    if tier in self.pair:
      other = self.pair[tier][node == self.pair[tier][0]]
      return {'tier': tier} | ({'to': other, 'rate': self.rate[tier]} if self.is_named(tier, node) else {})
    place = {'to': self.place[node, tier]} if (node, tier) in self.place else {}
    return {'tier': tier, 'rate': self.rate[tier]} | place

  def links(self, tier):
    """A tree over its switches, and perhaps a link more. Or that between two nodes."""
    if tier in self.pair:
      named = any(self.is_named(tier, node) for node in self.pair[tier])
      return [] if named else [{'between': list(self.pair[tier]), 'tier': tier, 'rate': self.rate[tier]}]
    names = self.switches[tier]
    made = [{'between': [names[(i - 1) // 2], name], 'rate': '100G'} for i, name in enumerate(names) if i]
    return made + ([{'between': [names[0], names[-1]], 'propagation': '200ns'}] if len(names) > 2 else [])

  def common(self, node, other):
    """By which network a node reaches another one: the first of its ends' that both are in."""
    return next((tier for tier in self.ends[node] if tier in self.ends[other]), None)

  def workload(self, tier):
    """Nothing random in it, so that it does not hang on the numbers of nodes. Clients ask by their last end,
    if that reaches somebody whom the ends before do not reach."""
    def reached(clients):
      return [node for node in self.ends if node[0] == 'm' and
              clients and all(self.common(client, node) == tier for client in clients)]

    asking = [node for node in self.ends if node[0] == 'c']
    clients = [node for node in asking if self.ends[node][-1] == tier]
    if not reached(clients):
      clients = [node for node in asking if self.ends[node] == [tier]]
    targets = reached(clients)
    clients = clients if targets else []
    if not clients:
      return []
    size = {} if self.kind[tier] == 'fadd' else {'size': 64 if self.stack[tier] == 'cxl' else 1000}
    return [{'nodes': clients, 'targets': targets, 'mix': {self.kind[tier]: 1}, 'span': '16KiB',
             'pattern': 'all-to-all', 'address': 'sequential', 'depth': 2} | size]

  def node(self, node):
    return {'name': node, 'role': 'compute' if node[0] == 'c' else 'memory'}

  def tier(self, tier):
    made = {'stack': self.stack[tier]}
    if tier in self.pair:
      return made
    return made | ({'switch': {'bridge': {'name': 'fifo'}}} if self.stack[tier] == 'rocev2' else {})

  def config(self):
    config = {'seed': self.seed, 'memory': {'size': '1MiB'},
              'tiers': [{'name': tier} | self.tier(tier) for tier in self.tiers],
              'nodes': [self.node(node) | {'ends': [self.end(node, tier) for tier in ends]}
                        for node, ends in self.ends.items()],
              'workload': [w for tier in self.tiers for w in self.workload(tier)]}
    switches = [{'name': name, 'tier': tier} for tier in self.tiers for name in self.switches[tier]]
    links = [link for tier in self.tiers for link in self.links(tier)]
    return config | ({'switches': switches} if switches else {}) | \
        ({'links': [{'node': '*'}] + links} if links else {})

  def alone(self, tier):
    """The network of a tier as a fabric without tiers."""
    nodes = [self.node(node) |
             ({'ends': [{'to': self.place[node, tier]}]} if self.switches[tier] else {})
             for node, ends in self.ends.items() if tier in ends]
    config = {'seed': self.seed, 'memory': {'size': '1MiB'}, 'nodes': nodes,
              'link': {'rate': self.rate[tier]}, 'workload': self.workload(tier)} | self.tier(tier)
    if tier in self.pair:
      config['links'] = [{'between': list(self.pair[tier])}]
    if self.switches[tier]:
      config |= {'switches': [{'name': name} for name in self.switches[tier]],
                 'links': [{'node': '*'}] + [{'rate': '25G'} | link for link in self.links(tier)]}
    return config


def other_order(config):
  """The same with the switches of each tier, and the links between them, in another order."""
  other = dict(config)
  if 'switches' in config:
    other['switches'] = config['switches'][::-1]
  if 'links' in config:
    other['links'] = config['links'][:1] + [link | {'between': link['between'][::-1]}
                                            for link in config['links'][:0:-1]]
  return other


def same(tap, runs, drawn):
  config = drawn.config()
  what = f'fabric {drawn.seed} ({", ".join(drawn.stack.values())})'
  first = stripped(runs.run(config, *TIMES))
  if not tap.ok(isinstance(first, dict) and first['operations']['completed_all'] > 0, f'{what}: runs', first):
    return
  over = {path: share for path, share in laws.shares(first) if share > 1 + 1e-9}
  tap.ok(not over, f'{what}: no share above 1', over)
  for name, other, args in (('again', config, ()), ('block by block', config, ('--block-by-block',)),
                            ('switches in another order', other_order(config), ())):
    result = stripped(runs.run(other, *TIMES, *args))
    tap.ok(result == first, f'{what}: {name}', first_difference(first, result))


def renamed(rack, entry, *keys):
  """An entry whose names, by these keys, are those of a rack."""
  def name(of):
    return [name(one) for one in of] if isinstance(of, list) else f'{rack}.{of}'
  return entry | {key: name(entry[key]) for key in keys if key in entry}


def of_rack(rack, config):
  """What a rack has of all of it, by hand."""
  return {'tiers': [renamed(rack, tier, 'name') for tier in config['tiers']],
          'switches': [renamed(rack, switch, 'name', 'tier') for switch in config.get('switches', ())],
          'nodes': [renamed(rack, node, 'name') |
                    {'ends': [renamed(rack, end, 'tier', 'to') for end in node['ends']]}
                    for node in config['nodes']],
          'links': [renamed(rack, link, 'between', 'tier') for link in config.get('links', ())
                    if 'between' in link]}


def racks(tap, runs, drawn):
  """All of it twice, as racks by a template and written out by hand."""
  config, names = drawn.config(), ('r0', 'r1')
  rest = {key: config[key] for key in ('seed', 'memory')} | {
    'workload': [renamed(rack, workload, 'nodes', 'targets')
                 for rack in names for workload in config['workload']]}
  of = {key: config[key] for key in ('tiers', 'switches', 'nodes', 'links') if key in config}
  template = rest | {'racks': [{'name': 'r', 'count': 2, 'of': of}]}
  parts = [of_rack(rack, config) for rack in names]
  written = rest | {'racks': [{'name': 'r', 'count': 2}]} | {
    key: [entry for part in parts for entry in part[key]] for key in of}
  first, other = (stripped(runs.run(one, *TIMES)) for one in (template, written))
  what = f'fabric {drawn.seed}: twice, as racks'
  tap.ok(isinstance(first, dict) and first['operations']['completed_all'] > 0 and len(first['tiers']) ==
         2 * len(drawn.tiers), f'{what}: runs', first)
  tap.ok(first == other, f'{what}: as what is written out', first_difference(first, other))


def apart(tap, runs, drawn):
  """One network at a time: in the fabric with all of them, and by itself."""
  for tier in drawn.tiers:
    workload = drawn.workload(tier)
    if not workload:
      continue
    both = [stripped(runs.run(config, *TIMES))
            for config in (drawn.config() | {'workload': workload}, drawn.alone(tier))]
    what = f'fabric {drawn.seed}: {drawn.stack[tier]} measures the same with other networks and without'
    same_as = all(isinstance(b, dict) for b in both) and both[0]['operations'] == both[1]['operations']
    tap.ok(same_as and both[0]['operations']['completed_all'] > 0, what,
           first_difference(both[0], both[1]) if isinstance(both[0], dict) else both)


def wall(tap, emu, top, seed, place):
  """All complete, and what each role gave its record gives again."""
  drawn = Drawn(seed, WALL, 2, 6)
  config = drawn.config() | {'watchdog': '0', 'host': {'read_timeout': '60s', 'write_timeout': '60s'},
                             'clock': {'wall': {'warmup': '0', 'duration': '60s', 'drain': '60s'}}}
  for workload in config['workload']:
    workload |= {'operations': 200, 'mix': {'read': 1, 'write_ack': 1}, 'size': 500}
  if not config['workload']:
    return
  name, folder = f'wall clock, fabric {seed}, {place}', os.path.join(top, f'record{seed}')
  process, result = breaking.run_once(emu, config, PLACES[place], '--record', folder)
  if not tap.ok(result is not None and process.returncode == 0, f'{name}: runs', why(process)):
    return
  done = result['operations']
  expected = 200 * sum(len(workload['nodes']) for workload in config['workload'])
  tap.ok(done['completed_all'] == expected and done['failed_all'] == 0 < done['verified'] and
         done['mismatches'] == 0, f'{name}: all complete, and what is read is right', done)
  path = os.path.join(top, 'fabric.json')
  breaking.write(path, config)
  process, files = emu.run('--replay', folder, path), os.listdir(folder)
  tap.ok(process.returncode == 0 and process.stdout.count(' octets identical\n') == len(files) > 0,
         f'{name}: the record of each role replays', why(process) + process.stdout)


def main():
  args = options()
  tap, emu = Tap(), Emu(args.emu, args.root)
  with tempfile.TemporaryDirectory() as folder:
    runs = Runs(emu, folder)
    for seed in range(args.seed, args.seed + args.graphs):
      drawn = Drawn(seed, STACKS, 4, 12)
      if not drawn.config()['workload']:  # nobody reaches anybody
        continue
      same(tap, runs, drawn)
      apart(tap, runs, drawn)
      racks(tap, runs, drawn)
    need_eal(tap, emu, 'by the wall clock')
    for seed in range(args.seed, args.seed + max(2, args.graphs // 3)):
      wall(tap, emu, folder, seed, tuple(PLACES)[seed % len(PLACES)])
  tap.done()


if __name__ == '__main__':
  main()
