#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A memory node is killed under load, without a word, and started again with nothing in its memory, many
times. Every read ends within its timer, with data or without; and none ever finds what was written before
the node that it reads from was started: what it finds is zero, or has been written since, word by word.

  incarnations.py EMU ROOT [--kills N] [--over memif|veth] [--seed N]

Without options a few, as a test. Prints a table.
"""
import argparse
import random
import time

from emu import Emu, Tap, why
from parts import ROLES, Folder, Group, Spaces, carried, fabric, memif, write

A_ROUND = 10  # kills between two looks at the result
TIMER = 0.3  # of reads and writes, seconds
LATE = 0.2  # what the end of a timer may be late, beside what the node had to wait for a CPU
CAUSES = {'timeout', 'unknown', 'restarted'}
HEAD = ('kills', 'restarts', 'reads', 'without data', 'longest ms', 'verified', 'not known', 'wrong')


def options():
  parser = argparse.ArgumentParser(description='Kills the memory node of a fabric.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--kills', type=int)
  parser.add_argument('--over', choices=('memif', 'veth'), default='memif')
  parser.add_argument('--seed', type=int, default=int(time.time()))
  return parser.parse_args()


def config(ports, links):
  """All that is submitted begins at once, so timers count from there. Few places: much is read again."""
  made = fabric(ports, links, duration='1000s', scheduler={'x': 16})
  made['workload'][0] = {'mix': {'read': 6, 'write': 3, 'write_ack': 2, 'cas': 1}, 'depth': 16,
                         'span': '32KiB', 'size': {'dist': 'uniform', 'min': 8, 'max': 1000},
                         'lost_is_empty': True}
  made['host'] = {'read_timeout': f'{TIMER * 1000:.0f}ms', 'write_timeout': f'{TIMER * 1000:.0f}ms'}
  for link in made['links']:
    link['carried'] |= {'hello': '20ms', 'silence': '1s', 'replay_max': '20ms'}
  return made


def longest(result):
  """Of reads, and what is too long. @return seconds, both"""
  read = result['operations']['kinds']['read']
  role = result['watchdog']['roles'].get('cn', {'longest_ps_max': 0})
  stood = max(role['longest_ps_max'], result['watchdog']['paused_ps_max']) / 1e12
  return max(read['latency']['max_ns'] / 1e9, read.get('failed_ps_max', 0) / 1e12), TIMER + LATE + stood


def judge(result, kills):
  """@return why the round was not good, or nothing"""
  done = result['operations']
  left = result['phases']['end']['under_way']
  took, most = longest(result)
  reasons = {
    f'{done["mismatches"]} reads found what was written before': done['mismatches'] > 0,
    'nothing was verified': done['verified'] == 0,
    f'the client was told of {done["restarts_seen"]} restarts in {kills} kills':
      not 0 < done['restarts_seen'] <= kills + 1,  # at the end the switch may leave first
    f'a read took {took:.3f} s, more than {most:.3f}': took > most,
    'operations are neither over nor under way':
      done['begun_all'] != done['completed_all'] + done['failed_all'] + left or left > 16,
    f'failed for other reasons: {done["failed_by_cause"]}':
      any(n for cause, n in done['failed_by_cause'].items() if cause not in CAUSES)}
  return '; '.join(reason for reason, bad in reasons.items() if bad)


class Table:
  def __init__(self):
    self.total = [0] * len(HEAD)
    self.line(HEAD)

  @staticmethod
  def line(cells):
    print('# ' + ' '.join(f'{cell:>13}' for cell in cells), flush=True)

  def add(self, kills, result):
    done = result['operations']
    read = done['kinds']['read']
    row = (kills, done['restarts_seen'], read['completed'], read['failed'], round(longest(result)[0] * 1000),
           done['verified'], done['unverified'], done['mismatches'])
    self.line(row)
    self.total = [max(a, b) if head == 'longest ms' else a + b for head, a, b in zip(HEAD, self.total, row)]

  def end(self):
    self.line(self.total)


def one_round(group, path, rng, kills):
  """@return result of the compute node; None: there is none"""
  for role in ROLES:
    group.start(role, path)
  if not group.waits_for('cn', 'is up') or not group.waits_for('sw0', 'is up (mn)'):
    return None
  for _ in range(kills):
    time.sleep(rng.uniform(0.05, 0.5))
    times = group.says('sw0').count('(mn, again)') + 1
    group.kill('mn')
    time.sleep(rng.choice((0, 0.1, 0.5)) * rng.random())
    group.start('mn', path)
    if rng.random() < 0.9 and not group.waits_for('sw0', '(mn, again)', times=times):
      return None
  if not group.waits_for('mn', 'is up'):
    return None
  time.sleep(0.5)
  group.interrupt()
  group.end()
  return group.result('cn')


def kills(tap, emu, ports, before, args):
  rng, number, faults, table = random.Random(args.seed), 0, [], Table()
  while number < args.kills:
    n = min(A_ROUND, args.kills - number)
    number += n
    with Folder() as folder:
      group = Group(emu, folder, before)
      result = one_round(group, write(folder, 'fabric.json', config(*ports)), rng, n)
      for role in group.running:
        group.kill(role)
      fault = judge(result, n) if result is not None else 'no result'
      faults += [f'{fault}\n{group.all_said({})}'] if fault else []
      if result is not None:
        table.add(n, result)
  table.end()
  tap.ok(not faults, f'{args.over}: memory node killed {number} times, reads end in time and find nothing '
         f'old, seed {args.seed}', '\n'.join(faults[:2]))


def main():
  args, tap = options(), Tap()
  emu = Emu(args.emu, args.root)
  process = emu.run('--duration', '10ms', emu.example('quickstart'))
  if process.returncode != 0:
    tap.skip('incarnations', 'EAL does not start: ' + why(process)[:200])
    tap.done()
  few, over = args.kills is None, args.over
  args.kills = 6 if few else args.kills
  if few or over == 'memif':
    args.over = 'memif'
    kills(tap, emu, memif('incarnations'), {}, args)
  if few or over == 'veth':
    args.over = 'veth'
    with Spaces() as spaces:
      if spaces.reason:
        tap.skip('veth', spaces.reason)
      else:
        kills(tap, emu, (spaces.ports(), carried()), spaces.before(), args)
  tap.done()


main()
