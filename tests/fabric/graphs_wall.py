#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fabrics with several switches by the wall clock, in one process. Nothing depends on how fast the machine
is. Skipped where EAL cannot start.

  graphs_wall.py EMU ROOT [--graphs N] [--seed N]

Random connected graphs (to 6 switches and 14 nodes, some with two ends, parallel links, circles) with roles
on 1, 2 and 3 lcores: all operations complete and are verified, and what each role gave its record gives
again. Links between switches lose, harm and delay messages, and break: switches take another way, and frames
that have none are thrown away.
"""
import argparse
import os
import random
import struct
import tempfile

import breaking
from breaking import at, rule
from emu import Emu, Tap, need_eal, why

CPUS = ','.join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
PLACES = {'1 lcore': '0', '2 lcores': f'(0-1)@({CPUS})', '3 lcores': f'(0-2)@({CPUS})'}
LONG = {'read_timeout': '60s', 'write_timeout': '60s'}
STACKS = ('ethernet', 'rocev2')
MIXES = {'ethernet': {'read': 2, 'write_ack': 1}, 'rocev2': {'read': 2, 'write': 1, 'fadd': 1, 'cas': 1}}
ENTRY = struct.Struct('=BBHIQII')  # lib/record/mf_record.h
HEADER, ROUTE = 88, 13


def options():
  parser = argparse.ArgumentParser(description='Runs fabrics with several switches by the wall clock.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--graphs', type=int, default=4)
  parser.add_argument('--seed', type=int, default=1)
  return parser.parse_args()


def fabric(stack, switches, links, nodes, **more):
  """A bounded load; timers that end only what is lost."""
  return {'stack': stack, 'watchdog': '0', 'memory': {'size': '1MiB'}, 'host': LONG,
          'clock': {'wall': {'warmup': '0', 'duration': '60s', 'drain': '60s'}},
          'switches': switches, 'nodes': nodes, 'links': links,
          'workload': [{'mix': MIXES[stack], 'size': 500, 'span': '16KiB', 'depth': 2, 'operations': 200}],
          **more}


def draw(seed):
  """A tree over all switches, and some links more; nodes anywhere."""
  r = random.Random(seed)
  names = [f's{i}' for i in range(r.randint(2, 6))]
  pairs = [(names[r.randrange(i)], name) for i, name in enumerate(names) if i > 0]
  pairs += [r.sample(names, 2) for _ in range(r.randint(0, len(names)))]
  links = [{'between': list(pair)} | ({'count': r.randint(2, 3)} if r.random() < 0.3 else {})
           for pair in pairs]
  nodes = [{'name': f'{kind[0]}{i}', 'role': kind,
            'ends': [{'to': r.choice(names)} for _ in range(r.choice((1, 1, 2)))]}
           for kind, most in (('compute', 8), ('memory', 6)) for i in range(r.randint(1, most))]
  config = fabric(STACKS[seed % 2], [{'name': name} for name in names], links, nodes, seed=seed)
  config['workload'][0] |= {'size': r.choice((8, 500, 5000)), 'depth': r.choice((1, 4)), 'span': '64KiB'}
  return config


def chain(stack='rocev2', **more):
  """cn at one end of three switches, mn at the other."""
  return fabric(stack, [{'name': 'left'}, {'name': 'middle'}, {'name': 'right'}],
                [{'between': ['left', 'middle']}, {'between': ['middle', 'right']}],
                [{'name': 'cn', 'role': 'compute', 'ends': [{'to': 'left'}]},
                 {'name': 'mn', 'role': 'memory', 'ends': [{'to': 'right'}]}], **more)


def spines(faults, **more):
  """Two leaves, each with a link to each of three spines. Load lasts for a time, and its timers are short."""
  config = fabric('rocev2', [{'name': 'leaf', 'count': 2}, {'name': 'spine', 'count': 3}],
                  [{'between': ['leaf', 'spine']}],
                  [{'name': 'c', 'count': 4, 'role': 'compute', 'ends': [{'to': 'leaf0'}]},
                   {'name': 'm', 'count': 2, 'role': 'memory', 'ends': [{'to': 'leaf1'}]}],
                  faults=faults, **more)
  config['clock']['wall'] |= {'duration': '300ms'}
  del config['workload'][0]['operations']
  return config


def roles(config):
  """Names of all roles of a fabric whose entries have no count, or a count of several."""
  for entry in config['switches'] + config['nodes']:
    count = entry.get('count', 1)
    yield from [entry['name']] if count == 1 else (f'{entry["name"]}{i}' for i in range(count))


def entries(folder, role):
  """The calls of a record."""
  with open(os.path.join(folder, f'{role}.rec'), 'rb') as file:
    data = file.read()
  at_octet = HEADER
  while at_octet < len(data):
    call, _, _, size, *_ = ENTRY.unpack_from(data, at_octet)
    yield call
    at_octet += ENTRY.size + size


def replays(tap, emu, name, config, folder):
  """What each role gave it gives again."""
  files = sorted(os.listdir(folder))
  tap.ok(files == sorted(f'{role}.rec' for role in roles(config)), f'{name}: a record of each role', files)
  path = os.path.join(folder, os.pardir, 'fabric.json')
  breaking.write(path, config)
  process = emu.run('--replay', folder, path)
  tap.ok(process.returncode == 0 and process.stdout.count(' octets identical\n') == len(files),
         f'{name}: all replay', why(process) + process.stdout)


def run(tap, emu, name, config, place, top, whole=True):
  """A run with records; a record is of one file, so no try is for longer.

  @param whole  all operations complete
  @return its result, or None, and the folder of its records
  """
  folder = os.path.join(top, name.replace(' ', '-'))
  process, result = breaking.run_once(emu, config, PLACES[place], '--record', folder)
  if not breaking.sound(tap, name, process, result):
    return None, folder
  done = result['operations']
  if whole:
    tap.ok(done['completed_all'] == done['begun_all'] > 0 == done['failed_all'], f'{name}: all complete',
           {key: n for key, n in done.items() if key != 'kinds'})
  replays(tap, emu, name, config, folder)
  return result, folder


def graph(tap, emu, seed, top):
  config = draw(seed)
  what = f'graph {seed}, {config["stack"]}, {len(config["switches"])} switches, {len(config["nodes"])} nodes'
  for place in PLACES:
    name = f'{what}, {place}'
    result, _ = run(tap, emu, name, config, place, top)
    if result is None:
      continue
    trunks = result['links']['between_switches']
    tap.ok(trunks['frame_blocks'] > 0, f'{name}: links between switches carry it', trunks)


def harmed(tap, emu, place, top):
  """Messages that are lost, late, doubled or damaged between switches: the transport repairs it."""
  between = {'between': ['left', 'middle']}
  faults = [rule('lose', rate=0.01, **between), rule('duplicate', rate=0.01, **between),
            rule('delay', rate=0.01, time='200us', **between), rule('bit', rate=3e-5, **between)]
  name = f'harm between switches, {place}'
  result, _ = run(tap, emu, name, chain(faults=faults), place, top)
  if result is not None:
    breaking.fired(tap, name, faults, result)


def breaks(tap, emu, place, top):
  """Links to one spine break again and again: leaves go by the others, and hear of it."""
  again = {'from': '40ms', 'every': '40ms', 'for': '15ms'}
  faults = [rule('link_down', between=['leaf', 'spine1'], **again),
            at(100, 200, 'link_down', between=['leaf0', 'spine2'])]
  name = f'links that break, {place}'
  result, folder = run(tap, emu, name, spines(faults), place, top, whole=False)
  if result is None:
    return
  breaking.fired(tap, name, faults, result)
  for role in roles(spines(faults)):
    heard = sum(call == ROUTE for call in entries(folder, role))
    switch = role.startswith(('leaf', 'spine'))
    tap.ok(heard >= 2 if switch else heard == 0, f'{name}: {role} hears of it: {switch}', heard)


def cut(tap, emu, place, top):
  """The only way is cut: what is on it is lost, timers end the operations, and then all is well again."""
  faults = [at(80, 160, 'link_down', between=['left', 'middle'])]
  config = chain('ethernet', faults=faults, host={'read_timeout': '20ms', 'write_timeout': '20ms'})
  config['clock']['wall'] |= {'duration': '400ms'}
  del config['workload'][0]['operations']
  name = f'the only link is cut, {place}'
  result, _ = run(tap, emu, name, config, place, top, whole=False)
  if result is None:
    return
  breaking.fired(tap, name, faults, result)
  down, done = result['drops']['switch']['link_down'], result['operations']
  tap.ok(done['failed_all'] > 0 or down == 0, f'{name}: what is thrown away fails',
         (down, done['failed_all']))


def main():
  args, tap = options(), Tap()
  emu = Emu(args.emu, args.root)
  need_eal(tap, emu, 'several switches')
  with tempfile.TemporaryDirectory() as top:
    for seed in range(args.seed, args.seed + args.graphs):
      graph(tap, emu, seed, top)
    for place in PLACES:
      harmed(tap, emu, place, top)
      breaks(tap, emu, place, top)
      cut(tap, emu, place, top)
  tap.done()


if __name__ == '__main__':
  main()
