#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""64 B reads beside links 90 % full of 9,000 B frames, at 25 and 100 Gb/s, by how the links are shared.

  examples/preemption.py [--program build/apps/emu/memfab-emu] [--duration T]

memory-first, fair: EDM 3.2.3, memory between any two blocks of a frame. For comparison: no-preempt, memory
waits for the frame in progress; fifo, memory waits for all frames in front of it, as behind an Ethernet MAC.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import script

HERE = os.path.dirname(os.path.abspath(__file__))
POLICIES = ('idle', 'memory-first', 'fair', 'no-preempt', 'fifo')


def run(program, name, more):
  """The result of an example."""
  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'result.json')
    process = subprocess.run([program, '--clock', 'virtual', '--json', path, *more,
                              os.path.join(HERE, name + '.json')],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if process.returncode != 0:
      raise SystemExit(f'{name}: exit {process.returncode}: {process.stderr.strip()}')
    with open(path, encoding='utf-8') as file:
      return json.load(file)['result']


def row(policy, result, alone):
  """A line of the table."""
  latency, frames = result['operations']['kinds']['read']['latency'], result['frames']
  share = [result['links'][d]['utilisation_frames_least'] * 100 for d in ('to_switch', 'from_switch')]
  bad = frames['missing'] + frames['damaged'] + frames['duplicated']
  print(f"{policy:14}{latency['count']:9,} {latency['mean_ns']:10.2f} {latency['p99_ns']:10.2f} "
        f"{latency['max_ns']:10.2f} {latency['mean_ns'] / alone:8.3f} {share[0]:9.2f} {share[1]:9.2f} "
        f"{frames['received']:9,} {bad:5}", flush=True)


def main():
  parser = script.Parser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
  parser.add_argument('--program', default=os.path.join(HERE, '..', 'build', 'apps', 'emu', 'memfab-emu'))
  parser.add_argument('--duration', help='in which reads are measured, instead of what the examples say')
  args = parser.parse_args()
  more = ['--duration', args.duration] if args.duration else []
  print('VIRTUAL CLOCK: what the modelled hardware does')
  print('Latency of reads in ns; frames: % of the emptiest link to and from the switch;\n'
        'bad: missing, damaged, duplicated.')
  for rate in ('25g', '100g'):
    print(f"\n{rate[:-1] + ' Gb/s':14}{'reads':>9} {'mean':>10} {'p99':>10} {'max':>10} {'of idle':>8} "
          f"{'frames up':>9} {'down, %':>9} {'frames':>9} {'bad':>5}")
    alone = None
    for policy in POLICIES:
      result = run(args.program, f'preemption-{rate}-{policy}', more)
      alone = alone or result['operations']['kinds']['read']['latency']['mean_ns']
      row(policy, result, alone)
  return 0


sys.exit(main())
