#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processes of a fabric are stopped (SIGSTOP) for one to three seconds: each role in turn, then all at once,
as where a machine is suspended; with one and with two switches, over memif and over veth. Slow is not dead:
no link goes down, and no operation fails whose timer is longer than the stop. Where timers are shorter
operations end by them, and in no other way. Then what is dead is dead: a process that is killed, at once; a
cable that is cut, over veth, when nothing has come for long enough.

  stops.py EMU ROOT [--stops N] [--over memif|veth] [--switches 1|2] [--seed N]

Without options each role once and all once, over both, with one and with two switches, and with short timers.
Skipped where EAL cannot start; over veth, where there are no namespaces.
"""
import argparse
import random
import signal
import time

import two_switches as twin
from emu import Emu, Tap, need_eal
from parts import WAIT, ROLES, Folder, Group, Spaces, carried, fabric, memif, pause, shell, write

ALL = 'all'
LONG, SHORT = '30s', '500ms'  # timers of operations
BY_TIMER = {'timeout', 'unknown'}  # reads; what else may have been done
UP = {1: (('cn', 'is up'), ('sw0', 'is up (mn)')),
      2: tuple((node, f'is up ({switch})') for node in ('cn', 'mn') for switch in twin.SWITCHES)}


def options():
  parser = argparse.ArgumentParser(description='Stops the processes of a fabric for a while.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--stops', type=int)
  parser.add_argument('--over', choices=('memif', 'veth'))
  parser.add_argument('--switches', type=int, choices=(1, 2))
  parser.add_argument('--seed', type=int, default=int(time.time()))
  return parser.parse_args()


def config(switches, spaces, timer):
  if switches == 1:
    made = fabric(*((spaces.ports(), carried()) if spaces else memif('stops')), duration='1000s')
  else:
    made = fabric(twin.veth() if spaces else twin.memif('stops'), {}, duration='1000s')
    made['links'], made['backup'] = twin.carried('sw0'), {'links': twin.carried('sw1')}
  made['clock']['wall']['warmup'] = '1s'  # in which two switches and nodes agree on an epoch
  made['host'] = {'read_timeout': timer, 'write_timeout': timer}
  made['workload'][0] |= {'depth': 8, 'span': '64KiB'}
  return made


def failed(result):
  """Of what was begun behind the warm-up."""
  phases = result['phases']
  return phases['steady']['messages']['failed'] + phases['drain']['messages']['failed']


class Stops:
  """A fabric whose processes are stopped one after the other."""

  def __init__(self, group, rng):
    self.group, self.rng = group, rng

  def stop(self, role):
    """@param role  or ALL"""
    stopped = list(self.group.running) if role == ALL else [role]
    seconds = (5 if role == ALL else 1) + 2 * self.rng.random()
    pause(seconds, *(self.group.running[name] for name in stopped))
    time.sleep(0.3 + 0.5 * self.rng.random())
    return seconds

  def end(self):
    """The client before those that it needs, or what it has under way fails for their leaving."""
    self.group.interrupt('cn')
    self.group.running['cn'].wait(WAIT)
    self.group.interrupt(*(role for role in self.group.running if role != 'cn'))
    return self.group.end()

  def faults(self, short):
    """@return why it was not good, a line each"""
    result = self.group.result('cn')
    if result is None:
      return ['no result']
    done = result['operations']
    causes = {cause for cause, count in done['failed_by_cause'].items() if count}
    down = [f'{role}: {line}' for role in self.group.running for line in self.group.said(role).splitlines()
            if ' is down' in line and ' has left' not in line]
    bad = {'nothing was verified': done['verified'] == 0,
           f'{done["mismatches"]} reads found wrong data': done['mismatches'] > 0,
           f'{failed(result)} operations failed: {done["failed_by_cause"]}': not short and failed(result) > 0,
           f'failed by {causes - BY_TIMER}': short and bool(causes - BY_TIMER),
           f'{done["restarts_seen"]} restarts seen': done['restarts_seen'] > 0}
    return [reason for reason, true in bad.items() if true] + down


def stops(tap, emu, what, switches, roles, spaces, rng, timer=LONG):
  with Folder() as folder:
    group = Group(emu, folder, spaces.before() if spaces else {})
    path, played = write(folder, 'fabric.json', config(switches, spaces, timer)), Stops(group, rng)
    for role in ROLES if switches == 1 else (*twin.SWITCHES, 'mn', 'cn'):
      group.start(role, path)
    try:
      if not tap.ok(all(group.waits_for(role, text) for role, text in UP[switches]), f'{what}: begins',
                    group.all_said({})):
        return
      time.sleep(2)
      did = ', '.join(f'{role} {played.stop(role):.1f} s' for role in roles)
      status = played.end()
    finally:
      for process in group.running.values():
        process.send_signal(signal.SIGCONT)
        process.kill()
    faults = played.faults(timer == SHORT)
    tap.ok(not faults, f'{what}: {len(roles)} stops, slow is not dead',
           '\n'.join([*faults, group.all_said(status)]))
  print(f'# {what}: {did}', flush=True)


def dead(tap, what, group, spaces):
  """The memory node's cable, and then its process. How long it takes is printed: others may have the CPUs."""
  began = time.monotonic()
  if spaces:
    shell(f'ip -n {spaces.space["mn"]} link set mn0 down')
    tap.ok(group.waits_for('sw0', 'port sw-mn is down: nothing comes from the partner'),
           f'{what}: a dead cable is dead', group.said('sw0'))
    print(f'# {what}: a dead cable, {time.monotonic() - began:.2f} s', flush=True)
    shell(f'ip -n {spaces.space["mn"]} link set mn0 up')
    tap.ok(group.waits_for('sw0', 'is up (mn, again)'), f'{what}: and back', group.said('sw0'))
    time.sleep(0.5)
  began = time.monotonic()
  group.running['mn'].kill()  # whom nobody has waited for yet
  tap.ok(group.waits_for('sw0', "port sw-mn is down: the partner's process is gone"),
         f'{what}: a dead process is dead', group.said('sw0'))
  print(f'# {what}: a dead process, {time.monotonic() - began:.2f} s', flush=True)


def dies(tap, emu, what, spaces):
  with Folder() as folder:
    group = Group(emu, folder, spaces.before() if spaces else {})
    path = write(folder, 'fabric.json', config(1, spaces, LONG))
    for role in ROLES:
      group.start(role, path)
    try:
      if tap.ok(all(group.waits_for(role, text) for role, text in UP[1]), f'{what}: all are there',
                group.all_said({})):
        dead(tap, what, group, spaces)
    finally:
      for role in group.running:
        group.kill(role)


def each(tap, emu, args, switches, over):
  rng = random.Random(args.seed)
  all_roles = ('sw0', 'mn', 'cn', ALL) if switches == 1 else ('sw0', 'sw1', 'mn', 'cn', ALL)
  roles = [rng.choice(all_roles) for _ in range(args.stops)] if args.stops else all_roles
  what = f'{over}, {"one switch" if switches == 1 else "two switches"}'
  if over == 'memif':
    stops(tap, emu, what, switches, roles, None, rng)
    if not args.stops and switches == 1:
      stops(tap, emu, f'{what}, short timers', switches, roles, None, rng, SHORT)
      dies(tap, emu, what, None)
    return
  with (Spaces if switches == 1 else twin.Veth)() as spaces:
    if spaces.reason:
      tap.skip(what, spaces.reason)
    else:
      stops(tap, emu, what, switches, roles, spaces, rng)
      if not args.stops and switches == 1:
        dies(tap, emu, what, spaces)


def main():
  args, tap = options(), Tap()
  emu = Emu(args.emu, args.root)
  need_eal(tap, emu, 'processes that are stopped')
  print(f'# seed {args.seed}', flush=True)
  for over in [args.over] if args.over else ['memif', 'veth']:
    for switches in [args.switches] if args.switches else [1, 2]:
      each(tap, emu, args, switches, over)
  tap.done()


main()
