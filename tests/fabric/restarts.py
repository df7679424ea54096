#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory nodes that are lost under load, with all that was on its way to them, and come back: their clients
are told, blame no read for it, and go on. Skipped where EAL cannot start."""
import random
import sys
import time

from emu import Emu, Tap, need_eal
from parts import ROLES, Folder, Group, Spaces, carried, fabric, memif, shell, write


def plain(config):
  """Writes that complete when they have left, few places, many of them under way: what is lost is missed."""
  config['workload'][0] = {'mix': {'read': 4, 'write': 4, 'cas': 1}, 'size': 64, 'span': '4KiB', 'depth': 32}


def ycsb(config):
  config['workload'][0] = {'ycsb': 'A', 'records': 100, 'depth': 32}


def for_long(ports, links, change):
  """It goes on until it is told to end; what is lost is soon missed."""
  config = fabric(ports, links, '600s')
  change(config)
  config['host'] = {'read_timeout': '1s', 'write_timeout': '1s'}
  return config


WHILE = 0.7  # seconds from the last restart to the end, in which the client hears of it


def nobody_at_fault(tap, what, group, at_least):
  """Ends all, after a while."""
  time.sleep(WHILE)
  group.interrupt()
  status = group.end()
  results = [group.result(role) for role in ('cn', 'mn')]
  if not tap.ok(None not in status.values() and None not in results, f'{what}: all end with a report',
                group.all_said(status)):
    return
  done = results[0]['operations']
  told = f'{what}: the client is told, and what was under way fails'
  if done['restarts_seen'] == at_least - 1 and group.stood() > WHILE / 2:
    tap.skip(told, f'the processes stood still for {group.stood():.3f} s')
  else:
    tap.ok(done['restarts_seen'] >= at_least and done['failed_by_cause']['restarted'] > 0, told,
           (group.stood(), done))
  tap.ok(done['mismatches'] == 0 < done['verified'], f'{what}: no read is wrong', done)
  sent = results[1]['links']['to_switch']['memory_blocks']
  tap.ok(sent > 100, f'{what}: the memory node answers again', f'{sent} blocks')


def killed(tap, emu, what, change):
  """The memory node dies, and comes back with nothing in it."""
  with Folder() as folder:
    path = write(folder, 'fabric.json', for_long(*memif('restarts'), change))
    group, again, rng = Group(emu, folder), 'is up (mn, again)', random.Random(2)
    for role in ROLES:
      group.start(role, path)
    tap.ok(group.waits_for('cn', 'is up') and group.waits_for('sw0', 'is up (mn)'), f'{what}: begins')
    for kill in range(3):
      time.sleep(rng.uniform(0.3, 0.6))
      group.kill('mn')
      time.sleep(rng.uniform(0, 0.2))
      group.start('mn', path)
      tap.ok(group.waits_for('sw0', again, times=kill + 1), f'{what}: comes back', group.said('sw0'))
    nobody_at_fault(tap, what, group, 3)


def cable(tap, emu):
  """The memory node's link is lost for as long as it takes to be noticed, twice."""
  with Spaces() as spaces, Folder() as folder:
    if spaces.reason:
      tap.skip('cable', spaces.reason)
      return
    path = write(folder, 'fabric.json', for_long(spaces.ports(), carried(), plain))
    group = Group(emu, folder, spaces.before())
    for role in ROLES:
      group.start(role, path)
    tap.ok(group.waits_for('cn', 'is up') and group.waits_for('sw0', 'is up (mn)'), 'cable: begins')
    for times in (1, 2):
      time.sleep(0.5)
      shell(f'ip -n {spaces.space["sw0"]} link set mn1 down')
      tap.ok(group.waits_for('sw0', 'port sw-mn is down', times=times), 'cable: it is noticed',
             group.said('sw0'))
      shell(f'ip -n {spaces.space["sw0"]} link set mn1 up')
      tap.ok(group.waits_for('sw0', 'is up (mn, again)', times=times), 'cable: it is there again',
             group.said('sw0'))
    nobody_at_fault(tap, 'cable', group, 2)


def main():
  emu, tap = Emu(sys.argv[1], sys.argv[2]), Tap()
  need_eal(tap, emu, 'memory nodes that are lost')
  killed(tap, emu, 'killed', plain)
  killed(tap, emu, 'killed, a store', ycsb)
  cable(tap, emu)
  tap.done()


if __name__ == '__main__':
  sys.exit(main())
