#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills the first of two switches at random instants under load, virtual clock (docs/fault-tolerance.md).

Prints, by size and depth: kills, operations, those that failed or found wrong data, unsound runs, the
longest read without a kill and with one, and by how much it exceeds that, in units of an unloaded read's
latency. Exit status 1: something was lost, or was not sound.

usage: tools/failover.py [--runs N] [--seed S] BUILD/apps/emu/memfab-emu
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'examples'))

import script  # noqa: E402

LOADS = [(64, 1), (64, 4), (300, 4), (3000, 2), (65536, 1), (200000, 2)]
LONG = 100000  # octets: one operation takes some hundred us
MIX = {'read': 2, 'write': 1, 'write_ack': 1, 'cas': 1, 'fadd': 1}


def window(size):
  """us, in which some operations begin"""
  return 600 if size > LONG else 60


def fabric(size, depth, seed, mix, kill=None, clients=4, lengths='10ns'):
  f = {'seed': seed, 'nodes': [{'name': 'cn', 'role': 'compute', 'count': clients},
                               {'name': 'mn', 'role': 'memory', 'count': 2}],
       'clock': {'virtual': {'warmup': '10us', 'duration': f'{window(size)}us', 'drain': '30ms'}},
       'backup': {'propagation': lengths},
       'workload': [{'mix': mix, 'size': size, 'depth': depth, 'span': max(4096, 2 * size * depth)}]}
  if kill is not None:
    f['faults'] = [{'class': 'switch_crash', 'from': f'{kill}ps'}]
  return f


def run(emu, where, f):
  path, out = os.path.join(where, 'f.json'), os.path.join(where, 'r.json')
  with open(path, 'w', encoding='utf-8') as o:
    json.dump(f, o)
  done = subprocess.run([emu, '--clock', 'virtual', '--json', out, path], capture_output=True, text=True,
                        check=False)
  if done.returncode > 1:
    sys.exit(done.stderr.strip())
  with open(out, encoding='utf-8') as r:
    return done, json.load(r)['result']


def longest(result):
  """Of a read, ns."""
  return result['operations']['kinds'].get('read', {}).get('latency', {}).get('max_ns', 0.0)


def one_load(emu, where, size, depth, args):
  rng = random.Random(f'{args.seed} {size} {depth}')
  alone = longest(run(emu, where, fabric(size, 1, 1, {'read': 1}, clients=1))[1])
  bad = failed = wrong = operations = takes = 0
  bump = base = worst = 0.0
  kills = -(-args.runs // len(LOADS))  # no fewer than asked for
  for _ in range(kills):
    seed, lengths = rng.randrange(1 << 30), rng.choice(['1ns', '10ns', '100ns'])
    usual = longest(run(emu, where, fabric(size, depth, seed, MIX, lengths=lengths))[1])
    kill = rng.randrange(15 * 10**6, (window(size) + 5) * 10**6)
    f = fabric(size, depth, seed, MIX, kill, lengths=lengths)
    done, r = run(emu, where, f)
    lost = r['operations']['failed_all']
    if done.returncode or lost or r['operations']['mismatches']:
      print(f'# {done.stderr.strip()} {json.dumps(f)}')
    bad += done.returncode != 0
    failed += lost
    wrong += r['operations']['mismatches']
    operations += r['operations']['verified']
    takes += r['backup']['take_overs']
    base, worst = max(base, usual), max(worst, longest(r))
    bump = max(bump, (longest(r) - usual) / alone)
  print(f'{size:8} {depth:5} {kills:6} {takes:6} {operations:10} '
        f'{failed:6} {wrong:6} {bad:8} '
        f'{alone:10.1f} {base:10.1f} {worst:10.1f} {bump:7.2f}')
  return failed + wrong + bad


def main():
  p = script.Parser(description=__doc__.splitlines()[0])
  p.add_argument('--runs', type=int, default=1000)
  p.add_argument('--seed', type=int, default=1)
  p.add_argument('emu')
  args = p.parse_args()
  print('    size depth  kills  takes   verified failed  wrong  unsound '
        '  alone_ns   usual_ns  killed_ns    bump')
  with tempfile.TemporaryDirectory() as where:
    return 1 if sum([one_load(args.emu, where, s, d, args) for s, d in LOADS]) else 0


if __name__ == '__main__':
  sys.exit(main())
