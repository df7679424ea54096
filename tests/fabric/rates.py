#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lines from 1 Mb/s to 1000 Gb/s under the virtual clock, with every stack.

  rates.py EMU ROOT

One operation alone takes the time of its stages and of its blocks, to the picosecond. Under load nothing is
faster than a line, nothing fails, and block by block it is the same. Rates are written as they are read.
"""
import json
import os
import sys
import tempfile
from fractions import Fraction

import laws
from emu import Emu, Tap, why

RATES = {'1M': 64_000_000, '10M': 6_400_000, '1G': 64_000, '25G': 2560, '800G': 80, '1000G': 64}  # ps a block
STACKS = ('edm', 'ethernet', 'rocev2', 'tcp', 'dctcp', 'pfabric', 'pfc', 'ird', 'cxl', 'fastpass')
KINDS = ('read', 'write_ack')
PROPAGATION = 50_000  # ps


def fabric(stack, rate, workload, **more):
  return {'stack': stack, 'memory': {'size': '1MiB'},
          'link': {'rate': rate, 'propagation': f'{PROPAGATION}ps'},
          'nodes': [{'name': 'c', 'role': 'compute', 'count': 3},
                    {'name': 'm', 'role': 'memory', 'count': 2}],
          'workload': [{'span': '32KiB', **workload}], **more}


class Runs:
  def __init__(self, emu, folder):
    self.emu, self.path = emu, os.path.join(folder, 'fabric.json')

  def write(self, config):
    with open(self.path, 'w', encoding='utf-8') as file:
      json.dump(config, file)

  def run(self, config, *args):
    self.write(config)
    return self.emu.result('--clock', 'virtual', *args, self.path)


def alone(runs, stack, rate, kind):
  """ps of one operation, nobody else there."""
  config = fabric(stack, rate, {'mix': {kind: 1}, 'size': 64, 'operations': 1, 'nodes': 'c0',
                                'targets': 'm0'}, clock={'virtual': {'drain': '1000s'}})
  process, both = runs.run(config)
  if process.returncode != 0:
    return why(process)
  return round(float(both['result']['operations']['kinds'][kind]['latency']['max_ns']) * 1000)


def straight(tap, runs):
  """
  Latency is stages + blocks x period. Where two ways lead to one event (a frame waits for the switch's
  pipeline, or for the block behind its end) it is the longer one: so it is the greatest of some such straight
  lines. The steepest one rules where blocks are long, the flattest one where they are short. With CXL an end
  may wait for the other one's credits, which are told after a time of their own; Fastpass waits for slots.
  """
  for stack in STACKS:
    for kind in KINDS:
      took = [alone(runs, stack, rate, kind) for rate in RATES]
      if not tap.ok(all(isinstance(t, int) for t in took), f'{stack} {kind}: runs alone', took):
        continue
      points = list(zip(RATES.values(), took))
      slopes = [Fraction(a - b, p - q) for (p, a), (q, b) in zip(points, points[1:])]
      slow, fast = slopes[0], slopes[-1]
      stages = took[-1] - fast * points[-1][0]
      tap.ok((slow.denominator == fast.denominator == 1 or stack == 'fastpass') and
             (slopes == sorted(slopes, reverse=True) or stack in ('cxl', 'fastpass')) and
             fast > 0 and stages > 4 * PROPAGATION and
             (len(set(slopes)) == 1 or (stack, kind) != ('edm', 'read')),
             f'{stack} {kind}: stages and blocks, at all rates', (took, [float(s) for s in slopes], stages))


def loaded(tap, runs):
  for stack in STACKS:
    for rate, period in RATES.items():
      workload = {'mix': {'read': 2, 'write_ack': 1}, 'size': 1000, 'depth': 2}
      config = fabric(stack, rate, workload, clock={'virtual': {'drain': '1000s'}})
      times = ('--warmup', '0', '--duration', f'{max(10_000_000, 2000 * period)}ps')
      process, both = runs.run(config, *times)
      if not tap.ok(process.returncode == 0, f'{stack} {rate}: sound', why(process)):
        continue
      done, bad = both['result']['operations'], list(laws.broken(both))
      tap.ok(not bad and done['failed_all'] == 0 == done['mismatches'] and done['completed_all'] > 0,
             f'{stack} {rate}: nothing that cannot be, nothing fails', bad or done)
      if rate in ('1M', '1000G'):
        _, again = runs.run(config, *times, '--block-by-block')
        tap.ok(again and again['result'] == both['result'], f'{stack} {rate}: the same block by block')


def written(tap, runs):
  for rate in ('1M', '1.25M', '1.5625M', '500M', '2.5G', '25G', '1000G'):
    runs.write(fabric('edm', rate, {'mix': {'read': 1}}))
    first = runs.emu.run('--print-config', runs.path)
    config = json.loads(first.stdout)
    runs.write(config)
    again = runs.emu.run('--print-config', runs.path)
    tap.ok({link['rate'] for link in config['links']} == {rate} and first.stdout == again.stdout,
           f'{rate}: is written as it was read', again.stdout)


def main(program, root):
  tap = Tap()
  with tempfile.TemporaryDirectory() as folder:
    runs = Runs(Emu(program, root), folder)
    straight(tap, runs)
    loaded(tap, runs)
    written(tap, runs)
  tap.done()


if __name__ == '__main__':
  main(*sys.argv[1:3])
