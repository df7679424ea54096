#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figure 8b of the paper, taken apart: what EDM's messages wait for, and how far that is from ideal.

  examples/applications.py [--program build/apps/emu/memfab-emu] [--settings slots,fcfs] [--seeds 3]

144 nodes in both roles at 100 Gb/s, messages of an application at load 0.4, from an idle fabric on, each run
to its end. A number is the mean over all messages of the latency over that of the same message alone.

  first, behind  those that found no other message of their pair under way, and those that did: their share
                 and their mean. Behind another one a message waits for it (3.1.1, property 5: in order)
  in order       lower reference: the same messages in a fabric without chunks, delays and control blocks, in
                 which at any time the message with the fewest octets left gets both its ports, then the next;
                 of a pair only the first
  ideal          the same, without order in a pair
"""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

import script

HERE = os.path.dirname(os.path.abspath(__file__))
APPLICATIONS = ('hadoop', 'spark', 'sparksql', 'graphlab', 'memcached')
SRPT = {'priority': 'srpt', 'srpt': 'transfer'}
SLOTS = {**SRPT, 'slots': True}
OFF = 1 << 20  # blocks
SETTINGS = {  # scheduler, switch
    'fcfs': ({}, {}),
    'piece': ({'priority': 'srpt'}, {}),
    'letter': (SRPT, {}),
    'slots': (SLOTS, {}),
    'fcfs-slots': ({'slots': True}, {}),
    'piece-slots': ({'priority': 'srpt', 'slots': True}, {}),
    'direction': ({**SLOTS, 'order': 'direction'}, {}),
    'no-limits': (SLOTS, {'backlog_k': OFF, 'source_w': OFF}),
    'align': (SLOTS, {'align': True}),
    'no-time': ({**SLOTS, 'time': 'none'}, {}),
    'greedy': ({**SLOTS, 'time': 'none', 'policy': 'greedy'}, {}),
    **{f'x{x}': ({**SLOTS, 'x': x}, {}) for x in (1, 2, 4, 8)},
    **{f'chunk{c}': ({**SLOTS, 'chunk': c}, {}) for c in (64, 128, 512, 1024)},
}
SPAN = 2 << 20  # room for the longest message
OCTETS_PER_PS = 0.0125 * 32 / 34  # 100 Gb/s in chunks of 256 B


def fabric(application, setting, seed, args):
  scheduler, switch = SETTINGS[setting]
  return {
      'seed': seed,
      'clock': {'virtual': {'warmup': '0', 'duration': args.duration, 'drain': '1s'}},
      'nodes': [{'name': 'n', 'role': 'both', 'count': args.nodes}],
      'memory': {'size': SPAN << math.ceil(math.log2(args.nodes)), 'huge_pages': False},
      'link': {'rate': '100G'},
      'switch': switch,
      'scheduler': {'time': 'asic', **scheduler},
      'workload': [{'mix': {'read': 1, 'write': 1}, 'size': {'dist': 'app', 'name': application},
                    'span': SPAN, 'loop': 'open', 'load': args.load}],
      'report': {'normalised': True},
  }


def message(row):
  compute, memory = row['client'], row['target']
  start, last, alone = int(row['intended_ps']), int(row['last_ps']), int(row['alone_ps'])
  ports = (memory, compute) if row['kind'] == 'read' else (compute, memory)
  return {'pair': (compute, memory), 'ports': ports, 'start': start, 'last': last, 'alone': alone,
          'octets': int(row['size_octets']), 'ratio': (last - start) / alone}


def run(application, setting, seed, args):
  """One run. @return its messages, by start"""
  with tempfile.TemporaryDirectory() as folder:
    source, target = os.path.join(folder, 'fabric.json'), os.path.join(folder, 'messages.csv')
    with open(source, 'w', encoding='utf-8') as file:
      json.dump(fabric(application, setting, seed, args), file)
    process = subprocess.run([args.program, '--clock', 'virtual', '--messages', target, source],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if process.returncode != 0:
      raise SystemExit(f'{application}, {setting}: exit {process.returncode}: {process.stderr.strip()}')
    with open(target, encoding='utf-8', newline='') as file:
      return sorted((message(row) for row in csv.DictReader(file)), key=lambda m: m['start'])


def served(waiting, in_order):
  """Who has both ports: the message with the fewest octets left, then the next one, and so on."""
  taken, pairs, found = set(), set(), []
  if in_order:
    first = {}
    for m in waiting:
      first.setdefault(m['pair'], m)
    waiting = first.values()
  for m in sorted(waiting, key=lambda m: (m['left'], m['start'])):
    source, destination = ('from', m['ports'][0]), ('to', m['ports'][1])
    if source not in taken and destination not in taken:
      taken |= {source, destination}
      found.append(m)
  return found


def ideal(messages, in_order):
  """Mean ratio where nothing but the ports is in the way."""
  ratios, waiting, now = [], [], 0
  coming = [{**m, 'left': m['octets']} for m in messages]
  while coming or waiting:
    going = served(waiting, in_order)
    until = min([now + m['left'] / OCTETS_PER_PS for m in going] + [m['start'] for m in coming[:1]])
    for m in going:
      m['left'] -= (until - now) * OCTETS_PER_PS
    now = until
    for m in [m for m in waiting if m['left'] < 1e-3]:
      waiting.remove(m)
      ratios.append(1 + (now - m['start'] - m['octets'] / OCTETS_PER_PS) / m['alone'])
    while coming and coming[0]['start'] <= now:
      waiting.append(coming.pop(0))
  return mean(ratios)


def behind(messages):
  """Splits them: those that found none of their pair under way, and the others."""
  split, over = ([], []), {}
  for m in messages:
    split[over.get(m['pair'], 0) > m['start']].append(m['ratio'])
    over[m['pair']] = max(over.get(m['pair'], 0), m['last'])
  return split


def mean(values):
  return sum(values) / len(values)


def numbers(application, setting, args):
  """What a line of the table says."""
  runs = [run(application, setting, seed, args) for seed in range(1, args.seeds + 1)]
  first, others = ([r for messages in runs for r in behind(messages)[k]] for k in (0, 1))
  return {
      'mean': mean([mean([m['ratio'] for m in messages]) for messages in runs]),
      'first': mean(first),
      'behind_share': len(others) / (len(first) + len(others)),
      'behind': mean(others) if others else None,
      'in_order': mean([ideal(messages, True) for messages in runs]),
      'ideal': mean([ideal(messages, False) for messages in runs]),
      'messages': len(first) + len(others),
  }


def show(application, setting, made):
  late = f"{made['behind']:8.2f}" if made['behind'] else f"{'-':>8}"
  print(f"{application:10} {setting:11} {made['messages']:6,} {made['mean']:7.3f} {made['first']:7.3f}"
        f" {made['behind_share']:7.1%} {late} {made['in_order']:9.3f} {made['ideal']:7.3f}",
        flush=True)


def arguments():
  parser = script.Parser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
  parser.add_argument('--program', default=os.path.join(HERE, '..', 'build', 'apps', 'emu', 'memfab-emu'))
  parser.add_argument('--applications', default=','.join(APPLICATIONS))
  parser.add_argument('--settings', default='letter,slots', help=f'of {", ".join(SETTINGS)}')
  parser.add_argument('--nodes', type=int, default=144)
  parser.add_argument('--load', type=float, default=0.4)
  parser.add_argument('--duration', default='200us', help='in which messages begin')
  parser.add_argument('--seeds', type=int, default=3)
  parser.add_argument('--jobs', type=int, default=os.cpu_count())
  parser.add_argument('--json', help='writes all numbers there')
  args = parser.parse_args()
  args.applications, args.settings = args.applications.split(','), args.settings.split(',')
  if not set(args.settings) <= set(SETTINGS) or not set(args.applications) <= set(APPLICATIONS):
    parser.error(f'settings are {", ".join(SETTINGS)}; applications {", ".join(APPLICATIONS)}')
  return args


def main():
  args = arguments()
  print('VIRTUAL CLOCK: what the modelled hardware does\n'
        'application setting   messages   mean   first  behind     mean  in order   ideal')
  found = {}
  with (script.result(args.json, args.program) as write,
        concurrent.futures.ThreadPoolExecutor(args.jobs) as pool):
    points = [(name, setting) for name in args.applications for setting in args.settings]
    for point, made in zip(points, pool.map(lambda p: numbers(*p, args), points)):
      show(*point, made)
      found['/'.join(point)] = made
    write(found)
  return 0


sys.exit(main())
