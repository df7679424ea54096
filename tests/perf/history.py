#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""memfab-perf --history: what a test does is linearizable, under both clocks; one altered value is not.

  history.py PERF EMU ROOT CHECK
"""
import os
import sys
import tempfile

from perf import Perf, Tap, why

sys.path.append(os.path.join(sys.argv[3], 'tests', 'fabric'))

from histories import Checker, altered

TESTS = {'read and write': ['mixed', '-n', '400', '-q', '2'], 'atomics': ['atomic_lat', '-n', '200']}


def recorded(tap, perf, checker, clock):
  with tempfile.TemporaryDirectory() as folder:
    for what, args in TESTS.items():
      history = os.path.join(folder, 'perf.hist')
      process = perf.run('--clock', clock, *args, '--history', history, perf.rack)
      if not tap.ok(process.returncode == 0, f'{clock}, {what}: runs', why(process)):
        continue
      checker.passes(tap, f'{clock}, {what}', history, least=200)
      if what != 'atomics':
        altered(tap, checker, f'{clock}, {what}', folder, history)


def main():
  tap, perf, checker = Tap(), Perf(sys.argv[1], sys.argv[3]), Checker(sys.argv[4])
  recorded(tap, perf, checker, 'virtual')
  with tempfile.TemporaryDirectory() as folder:
    full = perf.run('--clock', 'virtual', 'read_bw', '-n', '20000', '--history',
                    os.path.join(folder, 'x') + ',room=64KiB', perf.rack)
    tap.ok(full.returncode == 0 and 'room was full' in full.stderr, 'no more room: is said', why(full))
  several = perf.run('--clock', 'virtual', 'read_lat', '-a', '--history', 'x', perf.rack)
  tap.ok(several.returncode == 2 and several.stderr.count('\n') == 1 and not os.path.exists('x'),
         'several runs have no one history', why(several))
  if perf.run('read_lat', '-n', '1', perf.rack).returncode != 0:
    tap.skip('real time', 'EAL cannot start')
  else:
    recorded(tap, perf, checker, 'wall')
  tap.done()


main()
