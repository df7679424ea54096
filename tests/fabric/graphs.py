#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fabrics with several switches under the virtual clock.

  graphs.py EMU ROOT [--graphs N] [--seed N]

Random connected graphs (to 8 switches and 64 nodes, parallel links, circles of odd length, links of several
rates and lengths): the result is the same in another run, block by block, and with the switches of the file in
another order. Chains of 1 to 5 switches: each hop takes the time of its stages. Links that are cut: their flows
go another way, and complete.
"""
import argparse
import json
import os
import random
import tempfile

from emu import Emu, Tap

STACKS = ('ethernet', 'tcp', 'dctcp', 'rocev2')
TIMES = ('--warmup', '1us', '--duration', '10us')
PERIODS = {'10G': 6400, '25G': 2560, '100G': 640}  # ps a block
PROPAGATION = 30_000  # ps


def options():
  parser = argparse.ArgumentParser(description='Runs fabrics with several switches.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--graphs', type=int, default=12)
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
    self.emu, self.folder = emu, folder

  def run(self, config, *args):
    """What a run says, without its configuration; or why there is nothing."""
    path, out = (os.path.join(self.folder, name) for name in ('fabric.json', 'result.json'))
    with open(path, 'w', encoding='utf-8') as file:
      json.dump(config, file)
    if os.path.exists(out):
      os.remove(out)
    process = self.emu.run('--clock', 'virtual', '--json', out, *args, path)
    if not os.path.exists(out):
      return process.stderr
    with open(out, encoding='utf-8') as file:
      return json.load(file)['result']


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
  for name, other, args in (('again', config, ()), ('block by block', config, ('--block-by-block',)),
                            ('switches in another order', other_order(config), ())):
    result = stripped(runs.run(other, *TIMES, *args))
    tap.ok(result == first, f'{what}: {name}', first_difference(first, result))


def main():
  args, tap = options(), Tap()
  with tempfile.TemporaryDirectory() as folder:
    runs = Runs(Emu(args.emu, args.root), folder)
    for seed in range(args.seed, args.seed + args.graphs):
      same(tap, runs, seed)
  tap.done()


main()
