#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Virtual clock: `result` is a function of file and seed alone, block by block or not (D18)."""
import sys

from emu import Emu, Tap, differences, text_of, why

# Small examples, cut to what they need to get going.
RUNS = {
  'quickstart': '300us',
  'table1': '100us',
  'incast': '100us',
  'long-reads-25g': '100us',
  'long-writes-100g': '100us',
  'preemption-25g-fair': '100us',
  'preemption-25g-memory-first': '100us',
  'preemption-100g-no-preempt': '100us',
  '../tests/fabric/whole/both-roles': '60us',
  '../tests/fabric/whole/hot-region': '100us',
}


def run(emu, name, duration, *args):
  process, result = emu.result('--clock', 'virtual', '--duration', duration, '--warmup', '20us', *args,
                               emu.example(name))
  return process, result and result['result']


def compare(tap, name, a, process, b):
  same = b is not None and text_of(a) == text_of(b)
  tap.ok(same, name, why(process) if b is None else '\n'.join(list(differences(a, b))[:20]))


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  for name, duration in RUNS.items():
    process, first = run(emu, name, duration)
    if not tap.ok(first is not None and process.returncode == 0, f'{name}: sound', why(process)):
      continue
    process, again = run(emu, name, duration)
    compare(tap, f'{name}: same seed, same result', first, process, again)
    process, blocks = run(emu, name, duration, '--block-by-block')
    compare(tap, f'{name}: block by block, same result', first, process, blocks)

  process, one = run(emu, 'quickstart', '300us', '--seed', '1')
  process, two = run(emu, 'quickstart', '300us', '--seed', '2')
  if tap.ok(one is not None and two is not None, 'quickstart: two seeds', why(process)):
    for result in (one, two):
      del result['config']['seed']
    tap.ok(text_of(one) != text_of(two), 'quickstart: another seed, another result')
  tap.done()


main(*sys.argv[1:])
