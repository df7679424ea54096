#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every rate, share and latency of every example and of random fabrics, held against what lines can do.

    physics.py PROGRAM ROOT [--fabrics N] [--seed S]
"""
import argparse
import collections
import json
import os
import random
import tempfile

import laws
from emu import Emu, Tap, why

TIMES = {'rack144': ('2us', '5us')}  # warm-up, duration; by the beginning of the name
OTHERS = ('10us', '100us')
STACKS = ('edm',) * 6 + ('ethernet', 'rocev2', 'tcp', 'dctcp', 'pfabric', 'pfc', 'ird', 'cxl', 'fastpass')
WAYS = ('completed_in_steady_state', 'steady_state_is_short', 'more_completed_than_arrived')
WALL = ('quickstart', 'long-reads-25g')


def draw_size(r):
  return r.choice((8, 64, 64, 64, 200, 256, 1000, 1024, 4096, 16384, 65536, 262144))


def draw_trace(r, path, compute, memory):
  """Few messages, some of them at one time. Ports are those of the nodes, in their order."""
  lines, at = ['start_ps,kind,src,dst,octets,request_octets'], r.choice((0, 5_000_000))
  for _ in range(r.randint(1, 40)):
    at += r.choice((0, 0, 1, 1000, 200_000, 3_000_000))
    lines.append(f'{at},{r.choice(("read", "write", "write_ack"))},{r.randrange(compute)},'
                 f'{compute + r.randrange(memory)},{draw_size(r)},0')
  with open(path, 'w', encoding='utf-8') as file:
    file.write('\n'.join(lines) + '\n')
  return {'trace': os.path.basename(path)}


def draw_workload(r, stack, folder, number, compute, memory):
  if r.random() < 0.15:
    return draw_trace(r, os.path.join(folder, f'{number}.csv'), compute, memory)
  kinds = ['read', 'write_ack'] + ['write'] * (stack != 'ethernet') + \
      (['cas', 'fadd', 'swap'] if stack not in ('ethernet', 'cxl') else [])
  size, depth = draw_size(r), r.choice((1, 1, 2, 4, 8, 16, 64))
  depth = min(depth, (4 << 20) // size) if size > 16384 else depth
  some = r.sample(kinds, min(len(kinds), r.choice((1, 1, 2, 3))))
  workload = {'mix': {kind: r.randint(1, 3) for kind in some}, 'size': size, 'depth': depth,
              'span': f'{max(64, size * depth // 1024 + 1)}KiB',
              'pattern': 'incast' if memory == 1 and r.random() < 0.3 else 'uniform'}
  if not {'read', 'write', 'write_ack'} & workload['mix'].keys():
    del workload['size']
  if r.random() < 0.4:
    workload.update(loop='open', load=r.choice((0.2, 0.7, 1.0, 1.5, 3)))
  if r.random() < 0.2:
    workload['operations'] = r.choice((1, 5, 50, 500))
  return workload


def draw(r, folder, number):
  stack, compute, memory = r.choice(STACKS), r.choice((1, 2, 4, 8)), r.choice((1, 1, 2, 3))
  clock = {'drain': '200ms'}
  if r.random() < 0.9:
    clock.update(warmup=r.choice(('0', '1us', '10us', '30us')),
                 duration=r.choice(('1us', '3us', '10us', '40us', '100us')))
  config = {'seed': number, 'link': {'rate': r.choice(('10G', '25G', '100G'))},
            'nodes': [{'name': 'c', 'role': 'compute', 'count': compute},
                      {'name': 'm', 'role': 'memory', 'count': memory}],
            'clock': {'virtual': clock},
            'workload': [draw_workload(r, stack, folder, number, compute, memory)]}
  if stack != 'edm':
    config['stack'] = stack
  else:
    config['scheduler'] = {'chunk': r.choice((64, 256, 256, 1024)), 'x': r.choice((1, 3, 8))}
    if r.random() < 0.25:
      config['backup'] = {}
      if r.random() < 0.7:
        config['faults'] = [{'class': 'switch_crash', 'from': r.choice(('5us', '20us'))}]
    elif r.random() < 0.2:
      config['faults'] = [{'class': 'bit', 'rate': 1e-5}]
  if r.random() < 0.2 and stack != 'cxl':
    config['ethernet'] = [{'from': 'c', 'load': 0.1, 'size': 512}]
  if stack == 'edm' and r.random() < 0.5:
    draw_cut(r, config)
  return config


def draw_cut(r, config):
  """Links that are long, and cut for a while: sooner than they take, too."""
  begin = r.choice((100, 1000, 7000))
  config['link']['propagation'] = r.choice(('50ns', '700ns', '3us'))
  config.setdefault('faults', []).append(
    {**r.choice(({'class': 'link_down', 'link': '*'}, {'class': 'node_crash', 'node': 'm'},
                 {'class': 'switch_crash'})), 'from': f'{begin}ns', 'until': f'{begin + 300}ns'})


def hold(tap, name, process, both, has_rate=True):
  bad = list(laws.broken(both, has_rate)) if both else [why(process)]
  return tap.ok(not bad, f'{name}: nothing that cannot be', '\n'.join(bad))


def examples(emu, tap):
  for name in emu.examples():
    warmup, duration = next((t for k, t in TIMES.items() if name.startswith(k)), OTHERS)
    for times in (('--warmup', warmup, '--duration', duration), ('--warmup', '1us', '--duration', '3us')):
      process, both = emu.result('--clock', 'virtual', *times, emu.example(name))
      hold(tap, f'{name}, {times[3]}', process, both)


def fabrics(emu, tap, count, seed):
  """One line for all of them; and what measures nothing says so."""
  seen, bad = collections.Counter(), []
  with tempfile.TemporaryDirectory() as folder:
    for number in range(seed, seed + count):
      config = draw(random.Random(number), folder, number)
      path = os.path.join(folder, f'{number}.json')
      with open(path, 'w', encoding='utf-8') as file:
        json.dump(config, file)
      process, both = emu.result('--clock', 'virtual', path)
      if both is None:
        bad.append(f'fabric {number}: {why(process)}\n{json.dumps(config)}')
        continue
      wrong = list(laws.broken(both))
      rates = both['result']['operations']['rates']
      seen[rates.get('reason', rates['count'])] += 1
      seen[both['result']['config']['stack']['name']] += 1
      empty = not any(k['completed'] or k['failed'] for k in both['result']['operations']['kinds'].values())
      if empty and (process.returncode != 1 or 'nothing was measured' not in process.stderr):
        wrong.append(f'without a sample, and {why(process)}')
      seen['nothing measured'] += empty
      bad += [f'fabric {number}: {line}\n{json.dumps(config)}' for line in wrong]
  tap.ok(not bad, f'{count} random fabrics from seed {seed} on: nothing that cannot be', '\n'.join(bad[:20]))
  if count >= 200:
    few = [what for what in (*WAYS, 'nothing measured', *STACKS) if not seen[what]]
    tap.ok(not few, 'each way to count, and each stack, was among them', (few, seen))


def wall(emu, tap):
  """Whatever this machine is fast enough for; where EAL does not start there is nothing to see."""
  for name in WALL:
    process, both = emu.result('--clock', 'wall', '--warmup', '20ms', '--duration', '200ms',
                               emu.example(name))
    if "cannot start DPDK's EAL" in process.stderr:
      tap.skip(f'{name}, wall clock', 'EAL does not start')
    elif both is None or 'nothing was measured' in process.stderr:
      tap.skip(f'{name}, wall clock', why(process).replace('\n', ': '))
    else:
      hold(tap, f'{name}, wall clock', process, both, False)


def main():
  parser = argparse.ArgumentParser()
  parser.add_argument('program')
  parser.add_argument('root')
  parser.add_argument('--fabrics', type=int, default=200)
  parser.add_argument('--seed', type=int, default=1)
  args = parser.parse_args()
  emu, tap = Emu(args.program, args.root), Tap()
  examples(emu, tap)
  fabrics(emu, tap, args.fabrics, args.seed)
  wall(emu, tap)
  tap.done()


if __name__ == '__main__':
  main()
