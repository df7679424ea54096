#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fabrics with several switches under the virtual clock.

  graphs.py EMU ROOT [--graphs N] [--seed N]

Random connected graphs (to 8 switches and 64 nodes, parallel links, circles of odd length, links of several
rates and lengths): the result is the same in another run, block by block, and with the switches of the file
in another order. Chains of 1 to 5 switches: each hop takes the time of its stages. Pauses over two tiers:
nothing is lost.
"""
import argparse
import json
import os
import random
import tempfile

import laws
from emu import Emu, Tap

STACKS = ('ethernet', 'tcp', 'dctcp', 'rocev2')
TIMES = ('--warmup', '1us', '--duration', '10us')
PERIODS = {'10G': 6400, '25G': 2560, '100G': 640}  # ps a block
PROPAGATION = 30_000  # ps


def options():
  parser = argparse.ArgumentParser(description='Runs fabrics with several switches.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--graphs', type=int, default=6)
  parser.add_argument('--seed', type=int, default=1)
  return parser.parse_args()


def draw_links(r, names):
  """A tree over all switches, and some links more."""
  def link(a, b):
    made = {'between': [a, b], 'rate': r.choice(tuple(PERIODS)),
            'propagation': r.choice(('0ns', '5ns', '200ns', '1us'))}
    return made | ({'count': r.randint(2, 3)} if r.random() < 0.3 else {})

  links = [link(names[r.randrange(i)], name) for i, name in enumerate(names) if i > 0]
  for _ in range(r.randint(0, len(names))):
    a, b = r.sample(names, 2)
    links.append(link(a, b))
  return links


def draw(seed):
  r = random.Random(seed)
  stack = STACKS[seed % len(STACKS)]
  names = [f's{i}' for i in range(r.randint(2, 8))]
  compute, memory = r.randint(2, 40), r.randint(1, 24)
  nodes = [{'name': f'c{i}', 'role': 'compute', 'ends': [{'to': r.choice(names)}]} for i in range(compute)]
  nodes += [{'name': f'm{i}', 'role': 'memory', 'ends': [{'to': r.choice(names)}]} for i in range(memory)]
  mix = {'read': 2, 'write_ack': 1} if stack == 'ethernet' else {'read': 2, 'write': 1, 'fadd': 1}
  config = {'seed': seed, 'stack': stack, 'memory': {'size': '1MiB'},
            'switches': [{'name': name, 'l2_latency': r.choice(('300ns', '400ns'))} for name in names],
            'nodes': nodes, 'link': {'rate': r.choice(tuple(PERIODS)), 'propagation': '10ns'},
            'links': [{'node': '*'}] + draw_links(r, names),
            'clock': {'virtual': {'drain': '20ms'}},
            'workload': [{'mix': mix, 'span': '16KiB', 'size': r.choice((64, 1000, 4096)),
                          'pattern': r.choice(('uniform', 'permutation', 'zipf')),
                          'depth': r.choice((1, 2, 4))}]}
  if stack == 'rocev2':
    config['switch'] = {'bridge': {'name': 'fifo'}}
  if r.random() < 0.5:
    config['faults'] = [{'class': r.choice(('lose', 'bit', 'delay')), 'rate': 1e-6, 'link': '*'}]
    if config['faults'][0]['class'] == 'lose':
      config['faults'][0]['rate'] = 1e-3
    if config['faults'][0]['class'] == 'delay':
      config['faults'][0]['time'] = '300ns'
    config['workload'][0]['operations'] = 20
    config['host'] = {'read_timeout': '50us', 'write_timeout': '50us'}
  return config


def other_order(config):
  """The same with switches and links in another order."""
  return config | {'switches': config['switches'][::-1],
                   'links': config['links'][:1] + [link | {'between': link['between'][::-1]}
                                                   for link in config['links'][:0:-1]]}


class Runs:
  def __init__(self, emu, folder):
    self.emu, self.folder, self.last = emu, folder, None

  def write(self, config):
    path = os.path.join(self.folder, 'fabric.json')
    with open(path, 'w', encoding='utf-8') as file:
      json.dump(config, file)
    return path

  def run(self, config, *args):
    """What a run says, without its configuration; or why there is nothing."""
    path, out = self.write(config), os.path.join(self.folder, 'result.json')
    if os.path.exists(out):
      os.remove(out)
    process = self.emu.run('--clock', 'virtual', '--json', out, *args, path)
    if not os.path.exists(out):
      return process.stderr
    with open(out, encoding='utf-8') as file:
      self.last = json.load(file)
      return self.last['result']


def stripped(result):
  return result if isinstance(result, str) else {k: v for k, v in result.items() if k != 'config'}


def first_difference(a, b, path=''):
  if isinstance(a, dict) and isinstance(b, dict):
    for key in a:
      if a[key] != b.get(key):
        return first_difference(a[key], b.get(key), f'{path}.{key}')
  return f'{path}: {a!r:.200} or {b!r:.200}'


def same(tap, runs, seed):
  config = draw(seed)
  first = stripped(runs.run(config, *TIMES))
  what = f'graph {seed}: {config["stack"]}, {len(config["switches"])} switches, {len(config["nodes"])} nodes'
  if not tap.ok(isinstance(first, dict) and first['operations']['completed_all'] > 0, f'{what}: runs', first):
    return
  bad = list(laws.broken(runs.last))
  tap.ok(not bad, f'{what}: no rate, share or latency that lines do not allow', bad)
  for name, other, args in (('again', config, ()), ('block by block', config, ('--block-by-block',)),
                            ('switches in another order', other_order(config), ())):
    result = stripped(runs.run(other, *TIMES, *args))
    tap.ok(result == first, f'{what}: {name}', first_difference(first, result))


CYCLE = 2560  # ps: of the timing of stacks of frames
# What a hop adds to a frame beside its blocks: PCS and PMA at both ends of the link, MACs and the pipeline.
HOP = 2 * 3 * CYCLE + 2 * 19_000 + PROPAGATION + 2 * 3 * CYCLE + 400_000


def chain(stack, switches, kind):
  """A compute node and a memory node at the ends of a chain. Links are of 25 Gb/s, 10 ns."""
  names = [f's{i}' for i in range(switches)]
  return {'stack': stack, 'switches': [{'name': name} for name in names],
          'switch': {'bridge': 'fifo'},
          'nodes': [{'name': 'c', 'role': 'compute', 'ends': [{'to': names[0]}]},
                    {'name': 'm', 'role': 'memory', 'ends': [{'to': names[-1]}]}],
          'links': [{'node': '*'}] + [{'between': pair, 'propagation': '30ns'}
                                      for pair in zip(names, names[1:])],
          'workload': [{'mix': {kind: 1}, 'size': 64, 'operations': 1}]}


def chains(tap, runs):
  """A switch more takes the sum of the stages of a hop, for the request and for the answer."""
  for stack in ('ethernet', 'rocev2', 'tcp'):
    for kind in ('read', 'write_ack'):
      results = [runs.run(chain(stack, n, kind)) for n in range(1, 6)]
      times = [result['operations']['last_done_ps'] for result in results]
      # Blocks of both frames: each of them is counted where it leaves a node, and where it goes to one.
      blocks = sum(results[0]['links'][way]['frame_blocks'] for way in ('to_switch', 'from_switch')) // 2
      hops = blocks * PERIODS['25G'] + 2 * HOP
      tap.ok(all(b - a == hops for a, b in zip(times, times[1:])) and times[0] > hops - PROPAGATION,
             f'{stack} {kind}: one more of 1 to 5 switches takes the stages of a hop, twice', (times, hops))


def fabric(stack, switches, links, compute, memory_at, **more):
  """One compute or memory node at the switch of each name."""
  return {'stack': stack, 'switches': [{'name': name, 'count': n} for name, n in switches.items()],
          'nodes': [{'name': f'{role[0]}{i}', 'role': role, 'ends': [{'to': to}]}
                    for role, at in (('compute', compute), ('memory', memory_at)) for i, to in enumerate(at)],
          'links': [{'node': '*'}] + [{'between': list(pair)} for pair in links]} | more


def triangles(tap, runs):
  """Links of an odd circle that are much shorter than those of nodes: they bound how far switches run."""
  for stack in ('tcp', 'dctcp', 'rocev2'):
    for seed in range(1, 4):
      made = fabric(stack, {'s': 3}, [('s', 's')], ['s0', 's1', 's2'] * 3, ['s0', 's1', 's2'], seed=seed,
                    memory={'size': '1MiB'}, switch={'bridge': 'fifo'}, link={'rate': '100G'},
                    workload=[{'mix': {'read': 1, 'write_ack': 1}, 'size': 1000, 'span': '16KiB',
                               'depth': 4}])
      made['links'][0]['propagation'], made['links'][1]['propagation'] = '1us', '0ns'
      both = [stripped(runs.run(made, '--warmup', '1us', '--duration', '40us', *more))
              for more in ((), ('--block-by-block',))]
      tap.ok(isinstance(both[0], dict) and both[0] == both[1],
             f'{stack}, seed {seed}: a triangle of short links, block by block', first_difference(*both))


def pauses(tap, runs):
  """20 nodes in other racks write to one: each tier pauses the one below, and nothing is lost."""
  incast = fabric('pfc', {'tor': 3, 'spine': 2}, [('tor', 'spine')], ['tor0', 'tor1'] * 10, ['tor2'],
                  memory={'size': '8MiB'}, switch={'bridge': {'name': 'pfc', 'xoff': '20KiB'}},
                  workload=[{'mix': {'write_ack': 1}, 'size': 4096, 'span': '64KiB', 'depth': 8}])
  result = runs.run(incast, '--warmup', '5us', '--duration', '100us')
  if tap.ok(isinstance(result, dict), 'pfc: 20 to 1 over two tiers runs', result):
    bridge = result['bridge']['counters']
    lost = {key: bridge[key] for key in bridge if key.startswith('drop')}
    tap.ok(bridge['pauses'] > 0 and bridge['pauses_received'] > 0 and not any(lost.values()) and
           result['operations']['failed_all'] == 0, 'pfc: nothing is dropped, and pauses are heard',
           bridge)
  ring = fabric('pfc', {f's{i}': 1 for i in range(5)}, [(f's{i}', f's{(i + 1) % 5}') for i in range(5)],
                ['s0', 's1', 's2'], ['s3', 's4'])
  said = runs.run(ring)
  tap.ok('"pfc" can deadlock' in str(said), 'pfc: routes that wait for each other in a circle are refused',
         said)


def refused(tap, runs):
  """What several switches do not do yet is said in one line."""
  path = runs.write(fabric('tcp', {'a': 2}, [('a', 'a')], ['a0'], ['a1']))
  process = runs.emu.run('--clock', 'wall', path)
  tap.ok(process.returncode == 1 and 'virtual clock only' in process.stderr and
         process.stderr.count('\n') == 1, 'the wall clock is refused in one line', process.stderr)


def main():
  args, tap = options(), Tap()
  with tempfile.TemporaryDirectory() as folder:
    runs = Runs(Emu(args.emu, args.root), folder)
    for seed in range(args.seed, args.seed + args.graphs):
      same(tap, runs, seed)
    chains(tap, runs)
    triangles(tap, runs)
    pauses(tap, runs)
    refused(tap, runs)
  tap.done()


main()
