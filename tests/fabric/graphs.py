#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fabrics with several switches under the virtual clock.

  graphs.py EMU ROOT [--graphs N] [--seed N]

Random connected graphs (to 8 switches and 64 nodes, parallel links, circles of odd length, links of several
rates and lengths, nodes with several ends): the result is the same in another run, block by block, and with
the switches of the file in another order. Chains of 1 to 5 switches: each hop takes the time of its stages.
Pauses over two tiers: nothing is lost.
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


def draw_ends(r, names):
  """Most nodes have one."""
  return [{'to': r.choice(names)} for _ in range(r.choice((1, 1, 1, 1, 2, 3)))]


def draw(seed):
  r = random.Random(seed)
  stack = STACKS[seed % len(STACKS)]
  names = [f's{i}' for i in range(r.randint(2, 8))]
  compute, memory = r.randint(2, 40), r.randint(1, 24)
  nodes = [{'name': f'c{i}', 'role': 'compute', 'ends': draw_ends(r, names)} for i in range(compute)]
  nodes += [{'name': f'm{i}', 'role': 'memory', 'ends': draw_ends(r, names)} for i in range(memory)]
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
  config['faults'] = [draw_fault(r, config) for _ in range(r.choice((0, 0, 1, 2, 3)))]
  if config['faults']:
    config['workload'][0]['operations'] = 20
    config['host'] = {'read_timeout': '50us', 'write_timeout': '50us'}
  return config


MORE = {'lose': {'rate': 1e-3}, 'bit': {'rate': 1e-6}, 'delay': {'rate': 1e-3, 'time': '300ns'},
        'reorder': {'rate': 1e-3, 'time': '300ns'}, 'duplicate': {'rate': 1e-3}}
DOWN = ({'from': '3us'}, {'from': '2us', 'until': '4us'},
        {'from': '1us', 'until': '9us', 'every': '1us', 'for': '300ns'})


def draw_fault(r, config):
  """Of links of nodes, or between switches, or of both kinds."""
  kind = r.choice(('link_down', 'link_down', *MORE))
  fault = {'class': kind} | (r.choice(DOWN) if kind == 'link_down' else MORE[kind])
  if r.random() < 0.5:
    fault['between'] = r.choice(config['links'][1:])['between']
  else:
    fault['link'] = r.choice(config['nodes'])['name'] if kind == 'link_down' else '*'
  if kind != 'link_down':
    fault['direction'] = r.choice(('both', 'up', 'down'))
  return fault


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
      counted = [(result['links']['from_switch']['frame_blocks'],
                  result['links'].get('between_switches', {'frame_blocks': 0})['frame_blocks'])
                 for result in results]
      tap.ok(counted == [(counted[0][0], i * blocks) for i in range(5)],
             f'{stack} {kind}: links between switches are counted by themselves', counted)


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


def rails(tap, runs):
  """Nodes with an end at each of two switches: one that is cut takes those pairs with it that use it."""
  for stack in ('ethernet', 'rocev2', 'tcp'):
    made = fabric(stack, {'s': 2}, [('s', 's')], ['s0'], ['s0'] * 24, memory={'size': '1MiB'},
                  switch={'bridge': 'fifo'}, host={'read_timeout': '20us', 'write_timeout': '20us'},
                  workload=[{'mix': {'read': 1}, 'size': 64, 'span': '4KiB', 'pattern': 'all-to-all',
                             'operations': 24}])
    for node in made['nodes']:
      node['ends'] = [{'to': 's0'}, {'to': 's1'}]
    failed = {}
    for to in (None, 's0', 's1'):
      faults = [{'class': 'link_down', 'between': ['c0', to], 'from': '0ns'}] if to else []
      result = runs.run(made | {'faults': faults}, '--warmup', '0', '--duration', '2ms')
      failed[to] = result['operations']['failed_all'] if isinstance(result, dict) else result
    tap.ok(failed[None] == 0 and failed['s0'] > 3 < failed['s1'] and failed['s0'] + failed['s1'] == 24,
           f'{stack}: of 24 pairs each goes by one of two ends', failed)


def incast_with_pauses():
  return fabric('pfc', {'tor': 3, 'spine': 2}, [('tor', 'spine')], ['tor0', 'tor1'] * 10, ['tor2'],
                memory={'size': '8MiB'}, switch={'bridge': {'name': 'pfc', 'xoff': '20KiB'}},
                workload=[{'mix': {'write_ack': 1}, 'size': 4096, 'span': '64KiB', 'depth': 8}])


def pauses(tap, runs):
  """20 nodes in other racks write to one: each tier pauses the one below, and nothing is lost."""
  result = runs.run(incast_with_pauses(), '--warmup', '5us', '--duration', '100us')
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


def spines(links_down, **more):
  """Two racks and two spines, of which some links break at 20 us."""
  faults = [{'class': 'link_down', 'between': list(pair), 'from': '20us'} | more for pair in links_down]
  return fabric('rocev2', {'tor': 2, 'spine': 2}, [('tor', 'spine')], ['tor0'] * 8, ['tor1'] * 8,
                memory={'size': '1MiB'}, switch={'bridge': 'fifo'}, faults=faults,
                host={'read_timeout': '20ms', 'write_timeout': '20ms'}, clock={'virtual': {'drain': '40ms'}},
                workload=[{'mix': {'read': 1, 'write_ack': 1}, 'size': 1000, 'span': '16KiB', 'depth': 2}])


def cuts(tap, runs):
  """A link between switches goes. What had gone by it goes by others, if there are others."""
  times = ('--warmup', '1us', '--duration', '200us')
  result = runs.run(spines([('tor0', 'spine0')]), *times)
  done, drops = result['operations'], result['drops']['switch']
  tap.ok(done['failed_all'] == 0 and done['mismatches'] == 0 and drops['link_down'] > 0,
         'a link is lost: all operations complete', (done, drops))
  before = done['completed_all']
  result = runs.run(spines([('tor0', 'spine0'), ('tor0', 'spine1')]), *times)
  done, bridge = result['operations'], result['bridge']['counters']
  tap.ok(0 < done['completed_all'] < before / 4 and done['mismatches'] == 0 and
         result['phases']['end']['under_way'] == 0 and bridge['drop_unknown'] > 0,
         'no path is left: operations end, and frames are dropped where they come in', (done, bridge))
  result = runs.run(spines([('tor0', 'spine0'), ('tor0', 'spine1')], until='60us'), *times)
  done = result['operations']
  tap.ok(done['failed_all'] == 0 and done['completed_all'] == done['begun_all'] > 32 and
         done['mismatches'] == 0, 'both links come back: all operations complete', done)


def pauses_and_cuts(tap, runs):
  """A link of an incast with pauses comes and goes. Nothing is lost but by the link."""
  for between in (['tor0', 'spine0'], ['tor2', 'spine']):
    incast = incast_with_pauses()
    incast['faults'] = [{'class': 'link_down', 'between': between, 'from': '5us', 'until': '150us',
                         'every': '20us', 'for': '4us'}]
    incast['host'] = {'read_timeout': '30ms', 'write_timeout': '30ms'}
    incast['clock'] = {'virtual': {'drain': '60ms'}}
    result = runs.run(incast, '--warmup', '5us', '--duration', '200us')
    if tap.ok(isinstance(result, dict), f'pfc: {between} come and go', result):
      bridge = result['bridge']['counters']
      # A frame that is under way while routes change may find no path, or only the way that it came.
      lost = {key: bridge[key] for key in bridge if key.startswith('drop') and
              key not in ('drop_unknown', 'drop_self')}
      tap.ok(bridge['pauses'] > 0 and not any(lost.values()) and result['faults']['link_down'] > 3 and
             result['operations']['failed_all'] == 0 and result['drops']['switch']['link_down'] > 0,
             f'pfc: {between} come and go, and nothing is dropped for want of room',
             (bridge, result['operations'], result['drops']))


def tree(stack, memory_at, kind):
  """A fat tree of two pods with a compute node at tor0. All links are of 25 Gb/s, 30 ns."""
  return {'stack': stack, 'switch': {'bridge': 'fifo'}, 'link': {'propagation': '30ns'},
          'topology': {'fat-tree': {'servers': 8, 'tor': 4, 'aggregation': 4, 'core': 4, 'pods': 2}},
          'nodes': [{'name': 'c', 'role': 'compute', 'ends': [{'to': 'tor0'}]},
                    {'name': 'm', 'role': 'memory', 'ends': [{'to': memory_at}]}],
          'workload': [{'mix': {kind: 1}, 'size': 64, 'operations': 1}]}


def trees(tap, runs):
  """Pairs at one ToR, in one pod and in two: the way has 1, 3 and 5 switches, and takes what such a chain
  does."""
  for stack in ('ethernet', 'rocev2', 'tcp'):
    for kind in ('read', 'write_ack'):
      ways = [(runs.run(tree(stack, at, kind)), runs.run(chain(stack, n, kind) | {'link': {
        'propagation': '30ns'}})) for at, n in (('tor0', 1), ('tor1', 3), ('tor2', 5), ('tor3', 5))]
      times = [tuple(result['operations']['last_done_ps'] for result in way) for way in ways]
      tap.ok(all(a == b for a, b in times) and times[0] < times[1] < times[2],
             f'{stack} {kind}: classes of pairs of a fat tree take what chains take', times)


def written_out(tap, runs):
  """What --print-config writes of a topology gives the same result; --print-graph has each link of it."""
  tests = os.path.join(runs.emu.root, 'tests', 'fabric', 'switches')
  for name in ('topology_tree', 'topology_placed', 'topology_hpcc'):
    path = os.path.join(tests, f'{name}.json')
    said = runs.emu.run('--print-config', path)
    if not tap.ok(said.returncode == 0, f'{name}: is written out', said.stderr):
      continue
    config = json.loads(said.stdout)
    results = []
    for file in (path, runs.write(config)):
      out = os.path.join(runs.folder, 'result.json')
      process = runs.emu.run('--clock', 'virtual', '--json', out, '--warmup', '1us', '--duration', '60us',
                             file)
      with open(out, encoding='utf-8') as opened:
        results.append(stripped(json.load(opened)['result']))
      tap.ok(process.returncode == 0, f'{name}: runs', process.stderr)
    tap.ok('topology' not in config and results[0] == results[1], f'{name}: the same is written out',
           first_difference(*results))
    graph = runs.emu.run('--print-graph', path)
    lines = [line for line in graph.stdout.splitlines() if ' -- ' in line]
    nodes = sum(node.get('count', 1) for node in config['nodes'])
    ends = sum(config_links(config))
    tap.ok(graph.returncode == 0 and len(lines) == nodes + ends, f'{name}: each link is in its graph',
           (len(lines), nodes, ends, graph.stderr))


def tiers(tap, runs):
  """A tier with a name is what a file without tiers is; each end of a node is a line of the graph."""
  folder = os.path.join(runs.emu.root, 'tests', 'fabric', 'tiers')
  with open(os.path.join(folder, 'one.json'), encoding='utf-8') as file:
    named = json.load(file)
  plain = {key: value for key, value in named.items() if key != 'tiers'}
  plain |= {'stack': named['tiers'][0]['stack'], 'switches': [{'name': 'net-sw0'}]}
  named['tiers'][0]['switch'] = {'name': 'net-sw0'}
  results = []
  for config in (plain, named):
    out = os.path.join(runs.folder, 'result.json')
    process = runs.emu.run('--clock', 'virtual', '--json', out, '--warmup', '1us', '--duration', '60us',
                           runs.write(config))
    tap.ok(process.returncode == 0, 'one tier: runs', process.stderr)
    with open(out, encoding='utf-8') as opened:
      results.append(stripped(json.load(opened)['result']))
  tap.ok(results[0] == results[1], 'one tier: is as without a name', first_difference(*results))
  graph = runs.emu.run('--print-graph', os.path.join(folder, 'rack.json'))
  lines = [line for line in graph.stdout.splitlines() if ' -- ' in line]
  tap.ok(graph.returncode == 0 and len(lines) == 4 * 2 + 2 + 1 + 2, 'two tiers: each end is in the graph',
         (lines, graph.stderr))
  for name in ('"cn0" -- "mem.sw0" [label="25G"]', '"cn0" -- "leaf0" [label="50G"]',
               '"cn3" -- "leaf1" [label="50G"]'):
    tap.ok(sum(name in line for line in lines) == 1, f'two tiers: {name}', lines)


def config_links(config):
  """How many links each entry with `between` makes."""
  count = {sw['name']: sw['count'] for sw in config['switches']}
  for link in config['links']:
    if 'between' in link:
      a, b = link['between']
      pairs = count[a] * (count[a] - 1) // 2 if a == b and a in count and count[a] > 1 else \
        count.get(a, 1) * count.get(b, 1)
      yield pairs * link['count']


def main():
  args, tap = options(), Tap()
  with tempfile.TemporaryDirectory() as folder:
    runs = Runs(Emu(args.emu, args.root), folder)
    for seed in range(args.seed, args.seed + args.graphs):
      same(tap, runs, seed)
    chains(tap, runs)
    triangles(tap, runs)
    rails(tap, runs)
    pauses(tap, runs)
    trees(tap, runs)
    written_out(tap, runs)
    tiers(tap, runs)
    cuts(tap, runs)
    pauses_and_cuts(tap, runs)
  tap.done()


if __name__ == '__main__':
  main()
