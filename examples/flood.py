#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One node floods the switch with demands: what the reads of the others wait, without limits and with them.

  examples/flood.py [--program build/apps/emu/memfab-emu] [--duration T] [--nodes N] [--loads 0.3,0.5,0.8]

N - 1 compute nodes read 64 B of N memory nodes at random. One more asks for 8 octets all the time: of all
memory nodes, or of one of them. As a client that has as much under way as its host lets it (X = 16 a pair),
or, with --raw, as a port that sends demands at line rate that its host knows nothing of. "limits" is a share
of each memory node's link for each compute node (limits.share, docs/fabric-file.md).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import script

HERE = os.path.dirname(os.path.abspath(__file__))


def fabric(args, load, priority, target, limits):
  """The fabric file of one run; target: whom the flood is for, None: there is none."""
  f = {
    'name': 'flood', 'seed': args.seed,
    'clock': {'virtual': {'warmup': '20us', 'duration': args.duration}},
    'scheduler': {'priority': priority, 'x': 16},
    'nodes': [{'name': 'bad', 'role': 'compute', 'host': {'queue': 65536}},
              {'name': 'c', 'role': 'compute', 'count': args.nodes - 1, 'host': {'x': 8}},
              {'name': 'm', 'role': 'memory', 'count': args.nodes}],
    'link': {'rate': args.rate},
    'workload': [{'nodes': 'c', 'loop': 'open', 'load': load, 'depth': 1024, 'mix': {'read': 1}, 'size': 64,
                  'span': '1MiB'}],
  }
  if target and not args.raw:
    f['workload'].append({'nodes': 'bad', 'targets': target, 'depth': 4096, 'mix': {'fadd': 1},
                          'span': '1MiB'})
  elif target:
    f['faults'] = [{'class': 'flood', 'node': 'bad', 'to': target, 'rate': 1, 'from': '0us'}]
  if limits:
    f['limits'] = {'share': 1 / args.nodes, 'burst': '4KiB'}
  return f


def run(args, *what):
  """p99 of the others' reads in ns, and the result."""
  with tempfile.TemporaryDirectory() as folder:
    path, out = os.path.join(folder, 'flood.json'), os.path.join(folder, 'result.json')
    with open(path, 'w', encoding='utf-8') as file:
      json.dump(fabric(args, *what), file)
    process = subprocess.run([args.program, '--clock', 'virtual', '--json', out, path],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if process.returncode != 0:
      raise SystemExit(f'exit {process.returncode}: {process.stdout.strip()[-500:]} {process.stderr.strip()}')
    with open(out, encoding='utf-8') as file:
      result = json.load(file)['result']
  return result['operations']['kinds']['read']['latency']['p99_ns'], result


def main():
  parser = script.Parser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
  parser.add_argument('--program', default=os.path.join(HERE, '..', 'build', 'apps', 'emu', 'memfab-emu'))
  parser.add_argument('--duration', default='500us')
  parser.add_argument('--nodes', type=int, default=8, help='compute nodes, and memory nodes')
  parser.add_argument('--loads', default='0.3,0.5,0.8')
  parser.add_argument('--rate', default='25G')
  parser.add_argument('--seed', type=int, default=7)
  parser.add_argument('--raw', action='store_true', help='the fault "flood" in the place of a client')
  parser.add_argument('--within', type=float, help='exit 1 where p99 grows by more than this factor')
  args = parser.parse_args()
  worst = 0
  print('VIRTUAL CLOCK: what the modelled hardware does')
  print(f'p99 of the reads of {args.nodes - 1} nodes in ns; one more node floods, at {args.rate}b/s')
  print(f"\n{'priority':9}{'flood to':>9}{'load':>6}{'alone':>10}{'flooded':>10}{'times':>8}{'limits':>10}"
        f"{'times':>8}{'beyond share':>14}{'over X':>10}")
  for priority in ('fcfs', 'srpt'):
    for load in map(float, args.loads.split(',')):
      alone, _ = run(args, load, priority, None, False)
      for target in ('m', 'm0'):
        free, _ = run(args, load, priority, target, False)
        held, result = run(args, load, priority, target, True)
        worst = max(worst, held / alone)
        print(f"{priority:9}{'all' if target == 'm' else 'one':>9}{load:6.2f}{alone:10.0f}{free:10.0f}"
              f"{free / alone:8.2f}{held:10.0f}{held / alone:8.2f}{result['limits']['beyond_share']:14,}"
              f"{result['scheduler']['dropped_over_x'] + result['scheduler']['dropped_bad']:10,}", flush=True)
  print(f'\nworst with limits: {worst:.2f} times')
  sys.exit(args.within is not None and worst > args.within)


if __name__ == '__main__':
  main()
