#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every role is killed at random times, without a word, and started again. The others stay alive, what they
had begun ends, and operations go on.

  kills.py EMU ROOT [--kills N] [--over memif|veth] [--roles sw0,mn,cn] [--seed N]

Without options a few, as a test; a thousand take ten minutes. Over memif the partner's end unmaps the memory
that a port is polled in, so there it is many that count.
"""
import random
import resource
import time

from parts import ROLES, Folder, Group, carried, fabric, memif, write
from rounds import A_ROUND, options, over_each

TIMER = 500  # ms, of operations
UP = 1  # s in which a client whose link is back has to have something done
TRIES = 4  # where the processes get no CPU, so that operations time out or none is done
CAUSES = {'timeout', 'unknown', 'restarted', 'resource'}  # the last: the switch still has demands of before


def config(ports, links):
  """Who comes back knows nothing of what was before, so nothing is verified."""
  made = fabric(ports, links, duration='1000s')
  made['workload'][0]['verify'] = False
  made['host'] = {'read_timeout': f'{TIMER}ms', 'write_timeout': f'{TIMER}ms'}
  for link in made['links']:
    link['carried'] |= {'hello': '20ms', 'silence': '1s', 'replay_max': '20ms'}
  return made


class Round:
  """Three processes, and what is done to them."""

  def __init__(self, group, path, rng, roles):
    self.group, self.path, self.rng, self.roles = group, path, rng, roles
    self.ended = []  # who has, though nobody had killed him
    for role in rng.sample(ROLES, len(ROLES)):
      group.start(role, path)

  def look(self, when, but=None):
    for role, process in self.group.running.items():
      if role != but and process.poll() is not None:
        self.ended.append(f'{role} ended with {process.returncode} {when}\n{self.group.said(role)[-2000:]}')
        self.group.start(role, self.path)

  def kill(self):
    """At any time of a connection, its handshake included; and back soon, or later."""
    role = self.rng.choice(self.roles)
    time.sleep(self.rng.choice((0.05, 0.3, 0.8)) * self.rng.random())
    self.look(f'before {role} was killed')
    self.group.kill(role)
    time.sleep(self.rng.choice((0, 0.1, 0.4)) * self.rng.random())
    self.look(f'when {role} was killed', role)
    self.group.start(role, self.path)

  def survivor(self):
    """The compute node has seen the end of its last link, and lives: its operations end, and go on.
    @return why not, or nothing"""
    for _ in range(TRIES):
      fault = self.survives()
      stood = self.group.stood()
      if not fault or stood <= UP / 2:
        break
      print(f'# processes stood still for {stood:.3f} s: again', flush=True)
      for role in ROLES:
        self.group.start(role, self.path)
    return fault and f'{fault}, stood still for {stood:.3f} s'

  def survives(self):
    if not self.group.waits_for('cn', 'is up'):
      return 'the link does not come up'
    time.sleep(0.5)
    self.group.kill('sw0')
    self.group.start('sw0', self.path)
    if not self.group.waits_for('cn', 'again'):
      return 'the link does not come back'
    up = time.monotonic()
    time.sleep(UP)
    self.look('when all were to live')
    since = time.monotonic() - up
    self.group.interrupt()
    status = self.group.end()
    result = self.group.result('cn')
    if result is None or None in status.values():
      return f'no result: {status}'
    done, time_of = result['operations'], result['time']
    idle = (time_of['ended_ps'] - done['last_done_ps']) / 1e12
    left = result['phases']['end']['under_way']
    if done['begun_all'] != done['completed_all'] + done['failed_all'] + left or left > 8:
      return f'begun, and neither over nor under way: {done}'
    if any(count for cause, count in done['failed_by_cause'].items() if cause not in CAUSES):
      return f'failed for other reasons: {done["failed_by_cause"]}'
    return f'nothing done for {idle} s, up for {since}' if idle >= since else ''

  def newcomer(self):
    """A compute node that begins now does its work, and all end. @return why not, or nothing"""
    for _ in range(TRIES):
      if not self.group.waits_for('mn', 'is up'):
        return 'the link of the memory node does not come up'
      self.group.kill('cn')
      self.group.start('cn', self.path, '--duration', '200ms')
      status = self.group.end()
      result = self.group.result('cn')
      if not self.starved(status, result):
        break
      for role in ROLES:
        self.group.start(role, self.path)
    if any(status.values()) or None in status.values() or result is None:
      return f'they do not end well: {status}, stood still for {self.group.stood():.3f} s'
    return '' if result['operations']['completed_all'] > 0 else 'nothing was done'

  def starved(self, status, result):
    """Whether nothing is wrong but timeouts of operations, while a process on their way got no CPU."""
    if result is None or status != {'cn': 1, 'sw0': 0, 'mn': 0} or self.group.stood() <= TIMER / 2e3:
      return False
    return {cause for cause, count in result['operations']['failed_by_cause'].items() if count} == {'timeout'}


def kills(tap, emu, what, ports, before, most, args):
  """So many kills in rounds; the first reason of each kind why it is not good is told."""
  rng = random.Random(args.seed)
  crashes, faults, number = [], [], 0
  while number < most:
    with Folder() as folder:
      group = Group(emu, folder, before)
      turn = Round(group, write(folder, 'fabric.json', config(*ports)), rng, args.roles)
      try:
        for _ in range(min(A_ROUND, most - number)):
          turn.kill()
          number += 1
        fault = turn.survivor() if rng.random() < 0.5 else turn.newcomer()
        faults += [f'{fault}\n{group.all_said({})}'] if fault else []
      finally:
        for role in group.running:
          group.kill(role)
      crashes += turn.ended
    print(f'# {what}: {number} kills, {len(crashes)} ended with them, {len(faults)} rounds without a good '
          'end', flush=True)
  seed = f'seed {args.seed}'
  tap.ok(not crashes, f'{what}: {number} kills, and nobody else ends, {seed}', '\n'.join(crashes[:5]))
  tap.ok(not faults, f'{what}: operations end, and go on, {seed}', '\n'.join(faults[:2]))


def main():
  parser = options('Kills the processes of a fabric.')
  parser.add_argument('--roles', default=','.join(ROLES))
  args = parser.parse_args()
  args.roles = args.roles.split(',')
  # Who crashes ends at once, and is not killed while his memory is written to a file.
  resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))

  def test(tap, emu, over, number, spaces):
    ports = (spaces.ports(), carried()) if spaces else memif('kills')
    kills(tap, emu, over, ports, spaces.before() if spaces else {}, number, args)

  over_each('kills', args, 6, test)


main()
