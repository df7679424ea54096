#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A memory node is killed under load, without a word, and started again with nothing in its memory, many
times. Every read ends within its timer, with data or without; and none ever finds what was written before
the node that it reads from was started: what it finds is zero, or has been written since, word by word.

  incarnations.py EMU ROOT [--kills N] [--over memif|veth] [--seed N]

Without options a few, as a test. Prints a table.
"""
import time

from emu import stood_still
from parts import ROLES, carried, fabric, memif
from rounds import Rounds, options, over_each, reasons

TIMER = 0.3  # of reads and writes, seconds
LATE = 0.2  # what the end of a timer may be late, beside what the node had to wait for a CPU
STANDS = 2  # times: a node that stood still looks first at what has come meanwhile, and may stand still again
CAUSES = {'timeout', 'unknown', 'restarted'}


def longest(result):
  """Of reads, and what is too long. @return seconds, both"""
  read = result['operations']['kinds']['read']
  most = TIMER + LATE + STANDS * stood_still(result) / 1e12
  return max(read['latency']['max_ns'] / 1e9, read.get('failed_ps_max', 0) / 1e12), most


class Incarnations(Rounds):
  head = ('kills', 'restarts', 'reads', 'without data', 'longest ms', 'verified', 'not known', 'wrong')

  def config(self):
    """All that is submitted begins at once, so timers count from there. Few places: much is read again."""
    ports, links = (self.spaces.ports(), carried()) if self.spaces else memif('incarnations')
    made = fabric(ports, links, duration='1000s', scheduler={'x': 16})
    made['workload'][0] = {'mix': {'read': 6, 'write': 3, 'write_ack': 2, 'cas': 1}, 'depth': 16,
                           'span': '32KiB', 'size': {'dist': 'uniform', 'min': 8, 'max': 1000},
                           'lost_is_empty': True}
    made['host'] = {'read_timeout': f'{TIMER * 1000:.0f}ms', 'write_timeout': f'{TIMER * 1000:.0f}ms'}
    for link in made['links']:
      link['carried'] |= {'hello': '20ms', 'silence': '1s', 'replay_max': '20ms'}
    return made

  def play(self, group, path, rng, kills):
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

  def judge(self, result, kills):
    done = result['operations']
    left = result['phases']['end']['under_way']
    took, most = longest(result)
    return reasons({
      f'{done["mismatches"]} reads found what was written before': done['mismatches'] > 0,
      'nothing was verified': done['verified'] == 0,
      f'the client was told of {done["restarts_seen"]} restarts in {kills} kills':
        not 0 < done['restarts_seen'] <= kills + 1,  # at the end the switch may leave first
      f'a read took {took:.3f} s, more than {most:.3f}': took > most,
      'operations are neither over nor under way':
        done['begun_all'] != done['completed_all'] + done['failed_all'] + left or left > 16,
      f'failed for other reasons: {done["failed_by_cause"]}':
        any(n for cause, n in done['failed_by_cause'].items() if cause not in CAUSES)})

  def row(self, result, kills):
    done = result['operations']
    read = done['kinds']['read']
    return (kills, done['restarts_seen'], read['completed'], read['failed'],
            round(longest(result)[0] * 1000), done['verified'], done['unverified'], done['mismatches'])


def main():
  args = options('Kills the memory node of a fabric.').parse_args()

  def test(tap, emu, over, kills, spaces):
    faults = Incarnations(over, spaces).run(emu, kills, args.seed)
    tap.ok(not faults, f'{over}: memory node killed {kills} times, reads end in time and find nothing '
           f'old, seed {args.seed}', '\n'.join(faults[:2]))

  over_each('incarnations', args, 6, test)


main()
