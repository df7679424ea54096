#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every stack: `result` is a function of file and seed alone, beside others or not, block by block or not."""
import sys
import tempfile

from emu import Emu, Tap, differences, text_of, why
from messages import write

SIZES = {'dist': 'list', 'values': [64, 1460, 9000, 40000], 'weights': [80, 12, 7, 1]}


def fabric(stack):
  return {'stack': stack, 'nodes': [{'name': 'n', 'role': 'both', 'count': 6}], 'link': {'rate': '100G'},
          'clock': {'virtual': {'warmup': '5us', 'duration': '40us', 'drain': '100ms'}},
          'workload': [{'mix': {'read': 1, 'write': 1}, 'size': SIZES, 'span': '64KiB', 'loop': 'open',
                        'load': 0.5, 'depth': 16}]}


def stacks_of(emu, folder):
  """Those that the program says there are."""
  process = emu.run('--check', write(folder, 'none.json', fabric('none')))
  return process.stderr.partition('none of: ')[2].strip().split(', ')


def same(tap, name, wanted, process, result):
  tap.ok(result is not None and text_of(result) == text_of(wanted), name,
         why(process) if result is None else '\n'.join(list(differences(wanted, result))[:20]))


def check(emu, tap, stack, path):
  base = ['--clock', 'virtual', '--normalised']

  def run(*args):
    process, both = emu.result(*base, *args, path)
    return process, both and both['result']

  process, first = run('--seed', '3')
  if not tap.ok(first is not None and process.returncode == 0, f'{stack}: sound', why(process)):
    return
  counted = first['operations']
  tap.ok(counted['completed_all'] > 100 and counted['failed_all'] == 0, f'{stack}: there is something to it',
         counted)
  same(tap, f'{stack}: same seed, same result', first, *run('--seed', '3'))
  same(tap, f'{stack}: block by block, same result', first, *run('--seed', '3', '--block-by-block'))
  many = []
  for jobs in ('1', '3'):
    process, both = emu.result(*base, '--seed', '2', '--seeds', '3', '--jobs', jobs, path)
    if not tap.ok(both is not None and process.returncode == 0, f'{stack}: three seeds, {jobs} at a time',
                  why(process)):
      return
    many.append({'seeds': [seed['result'] for seed in both['seeds']], 'over_seeds': both['over_seeds']})
  same(tap, f'{stack}: one at a time or all at once', many[0], process, many[1])
  same(tap, f'{stack}: among others as by itself', first, process, many[1]['seeds'][1])
  tap.ok(len({text_of(seed['operations']) for seed in many[0]['seeds']}) == 3,
         f'{stack}: another seed, another result')


UP = 60_000_000 + 64 * 640  # ps: the link is plugged in again, and its ends have their block lock
EARLY = 1_000_000  # ps at most that a requester needs before it sends
# A request waits for the link, and is not lost.
WAITS = ('rocev2', 'tcp', 'dctcp', 'pfabric', 'pfc', 'ird', 'cxl')


def breaks(emu, tap, stack, folder):
  """Links go down and come back under load; and an operation begins while its node has no link."""
  made = fabric(stack) | {'host': {'read_timeout': '5ms', 'write_timeout': '5ms'}, 'faults': [
    {'class': 'link_down', 'link': ['n0', 'n3'], 'from': '10us', 'until': '40us', 'every': '8us',
     'for': '2us'},
    {'class': 'link_down', 'link': 'n1', 'from': '12us', 'until': '20us'}]}
  path = write(folder, f'{stack}-breaks.json', made)
  process, both = emu.result('--clock', 'virtual', path)
  if tap.ok(both is not None, f'{stack}: links break', why(process)):
    result = both['result']
    done = result['operations']
    tap.ok(result['faults']['link_down'] > 5 and done['mismatches'] == 0 and
           result['phases']['end']['under_way'] == 0, f'{stack}: operations end, and nothing is wrong',
           (result['faults'], done, result['phases']))
    process, other = emu.result('--clock', 'virtual', '--block-by-block', path)
    same(tap, f'{stack}: links break block by block', result, process, other and other['result'])
  if stack not in WAITS:
    return
  one = {'stack': stack, 'nodes': [{'name': 'c', 'role': 'compute'}, {'name': 'm', 'role': 'memory'}],
         'link': {'rate': '100G'},
         'clock': {'virtual': {'warmup': '0', 'duration': '100us', 'drain': '40ms'}},
         'host': {'read_timeout': '20ms', 'write_timeout': '20ms'},
         'workload': [{'mix': {'read': 1}, 'size': 64, 'operations': 1}]}
  down = [{'class': 'link_down', 'link': 'c', 'from': '0ns', 'until': '60us'}]
  took = [emu.result('--clock', 'virtual', write(folder, f'{stack}-{name}.json', config))[1]['result']
          ['operations']['last_done_ps'] for name, config in (('one', one), ('down', one | {'faults': down}))]
  tap.ok(0 <= took[0] - (took[1] - UP) < min(EARLY, took[0]),
         f'{stack}: what waits for a link is sent when it is up', (took, UP))


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  with tempfile.TemporaryDirectory() as folder:
    stacks = stacks_of(emu, folder)
    tap.ok({'edm', 'ethernet', 'rocev2', 'tcp'} < set(stacks), 'the stacks', stacks)
    for stack in stacks:
      check(emu, tap, stack, write(folder, f'{stack}.json', fabric(stack)))
      breaks(emu, tap, stack, folder)
  tap.done()


main(*sys.argv[1:])
