#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How near links with "shape" come to their rate and propagation, in real time: prints a line a case.

  shape.py EMU ROOT [--seconds N] [--rates 1M,10M,...]

  carried      what the line from the switch to the node that reads has carried, of its rate
  100 ms       the most in any 100 ms, of the same
  propagation  by how much a crossing takes longer with a propagation of 100 us than with none: median and
               99th percentile of reads of 8 bytes, one at a time

For a machine with two CPUs and nothing else to do: where a CPU is taken away for more than 150 us the line
loses the time. On a busy one `chrt -r 1 shape.py ... --seconds 0.6` keeps others away; for less than a
second, since Linux takes 50 ms of each second from processes of real time.
"""
import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'fabric'))
import shaping  # noqa: E402
from emu import Emu  # noqa: E402
from shaping import block_time  # noqa: E402

RATES = ('1M', '10M', '100M', '500M')
LENGTH = 100  # us
CROSSINGS = 4  # of a read


def options():
  parser = argparse.ArgumentParser(description='Measures links that keep their rate.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--seconds', type=float, default=5)
  parser.add_argument('--rates', default=','.join(RATES))
  return parser.parse_args()


def one_lcore(emu, folder, config, capture):
  return shaping.run_here(emu, folder, config, *shaping.one_lcore(0, 'one'), capture=capture)


def lcores(emu, folder, config, capture):
  return shaping.run_here(emu, folder, config, capture=capture)


def memif(emu, folder, config, capture, of='sw'):
  """A CPU for each process."""
  eal = {name: shaping.one_lcore(cpu, name) for cpu, name in enumerate(('sw', 'cn'))}
  return shaping.run_apart(emu, folder, config, capture, of, eal)


PLACES = {'one lcore': one_lcore, 'lcores': lcores, 'memif': memif}


def must(result, said):
  if result is None:
    sys.exit(said)
  return result


def rates(emu, folder, place, args):
  for rate in args.rates.split(','):
    config = shaping.shaped(rate, '10us', f'{args.seconds:.3f}s', '100ms')
    result = must(*PLACES[place](emu, folder, config, False))
    carried = result['links']['from_switch']['utilisation_busiest']
    result, captures = PLACES[place](emu, folder, config, True)
    must(result, captures)
    line = max(shaping.sent(captures).values(), key=lambda link: link.total[-1])
    most = line.most(0.1) * block_time(rate) / 0.1
    missing = f'  (the capture has dropped {line.dropped} frames)' if line.dropped else ''
    print(f'{place:10} {rate:>5}  carried {carried:8.3%}  100 ms {most:8.3%}{missing}', flush=True)


def latency(emu, folder, place, length, args):
  config = shaping.shaped('500M', length, f'{min(args.seconds, 2):.3f}s')
  config['workload'] = [{'mix': {'read': 1}, 'size': 8, 'depth': 1}]
  result = must(*PLACES[place](emu, folder, config, False, **({'of': 'cn'} if place == 'memif' else {})))
  return result['operations']['kinds']['read']['latency']


def propagation(emu, folder, place, args):
  near, far = (latency(emu, folder, place, length, args) for length in ('0', f'{LENGTH}us'))
  took = [(far[p] - near[p]) / 1000 / CROSSINGS for p in ('p50_ns', 'p99_ns')]
  print(f'{place:10}        propagation {took[0]:.2f} us, 99 %: {took[1]:.2f} us, of {LENGTH} us', flush=True)


def main():
  args = options()
  emu = Emu(args.emu, args.root)
  with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o755)
    for place in PLACES:
      rates(emu, folder, place, args)
      propagation(emu, folder, place, args)


if __name__ == '__main__':
  main()
