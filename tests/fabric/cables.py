#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cables are pulled by hand: the devices of three processes, each in a network namespace of its own, are set
down, deleted and made again, taken to another namespace and back, given another address or too small an MTU;
processes are stopped for a while. After each the operations of the compute node go on, none is wrong, nobody
ends, and nobody says more than a few lines. Skipped where there are no namespaces.

  cables.py EMU ROOT [--times N] [--seed N]

Without options each of these once, as a test; else N times something at random, for up to ten seconds.
"""
import argparse
import collections
import random
import re
import time

from emu import Emu, Tap, need_eal
from parts import NODES, ROLES, WAIT, Folder, Group, Spaces, carried, fabric, pause, shell, write
from reader import Reader

SOME = 200  # operations that have to complete behind each
LINES = 2  # that a process may say of a change: gone, and there again; and so many more
A_SECOND = 4  # a second until operations go on: a link that loses all that is long comes back in vain


def options():
  parser = argparse.ArgumentParser(description='Pulls cables.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--times', type=int)
  parser.add_argument('--seed', type=int, default=int(time.time()))
  return parser.parse_args()


def config(spaces):
  made = fabric(spaces.ports(), carried(), duration='1000s')
  made['workload'][0] |= {'depth': 16, 'span': '128KiB'}
  made['host'] = {'read_timeout': '500ms', 'write_timeout': '500ms'}
  for link in made['links']:
    link['carried'] |= {'hello': '20ms', 'silence': '1s', 'replay_max': '20ms'}
  return made


class Cables:
  """What is done to a device of a link, or to a process, for a time."""

  def __init__(self, spaces, group):
    self.spaces, self.group = spaces, group
    self.devices = [(role, f'{node}{i}') for node in NODES for i, role in enumerate((node, 'sw0'))]

  def ip(self, role, command):
    process = shell(f'ip -n {self.spaces.space[role]} {command}')
    if process.returncode != 0:
      raise RuntimeError(f'{role}: ip {command}: {process.stderr}')

  def down(self, role, device, seconds):
    self.ip(role, f'link set {device} down')
    time.sleep(seconds)
    self.ip(role, f'link set {device} up')

  def deleted(self, role, device, seconds):
    node = device[:-1]
    self.ip(role, f'link delete {device}')
    time.sleep(seconds)
    self.spaces.pair(self.spaces.space[node], f'{node}0', self.spaces.space['sw0'], f'{node}1')

  def taken_away(self, role, device, seconds):
    other = 'mn' if role == 'cn' else 'cn'
    self.ip(role, f'link set {device} netns {self.spaces.space[other]} name away')
    time.sleep(seconds)
    self.ip(other, f'link set away netns {self.spaces.space[role]} name {device}')
    self.ip(role, f'link set {device} up')

  def small(self, role, device, seconds):
    self.ip(role, f'link set {device} mtu 200')
    time.sleep(seconds)
    self.ip(role, f'link set {device} mtu 1500')

  def another_address(self, role, device, _):
    self.ip(role, f'link set {device} address 02:00:00:00:00:{random.randrange(256):02x}')

  def stopped(self, role, _, seconds):
    pause(seconds, self.group.running[role])

  KINDS = (down, deleted, taken_away, small, another_address, stopped)

  def each(self):
    for number, kind in enumerate(self.KINDS):
      for seconds in (0.01, 2):
        role, device = self.devices[(number + (seconds > 1)) % len(self.devices)]
        yield kind, role, device, seconds

  def some(self, times, rng):
    for _ in range(times):
      yield rng.choice(self.KINDS), *rng.choice(self.devices), rng.choice((0.01, 0.1, 1, 10)) * rng.random()


class Watcher:
  """Whether operations go on."""

  def __init__(self, group):
    self.group = group
    found = re.search(r'dpdk-telemetry\.py -f (\S+)', group.said('cn'))
    self.reader = Reader(found[1])
    self.lines = collections.Counter()

  def operations(self):
    return self.reader.get('fabric')['operations']

  def goes_on(self):
    end, before = time.monotonic() + WAIT, self.operations()['completed_all']
    while time.monotonic() < end and self.operations()['completed_all'] < before + SOME:
      time.sleep(0.05)
    return self.operations()['completed_all'] >= before + SOME

  def new_lines(self):
    """The most that a process has said since it was asked last."""
    now = collections.Counter({role: self.group.said(role).count('\n') for role in ROLES})
    new, self.lines = now - self.lines, now
    return max(new.values(), default=0)

  def why_not(self, since):
    """@return what is wrong after something that began then (monotonic time), or nothing"""
    ended = [role for role in ROLES if self.group.running[role].poll() is not None]
    if ended:
      return f'{ended} ended'
    if not self.goes_on():
      return 'operations do not go on'
    seconds = time.monotonic() - since  # on a busy machine the commands themselves take long
    time.sleep(0.2)
    if self.operations()['mismatches'] > 0:
      return 'reads are wrong'
    lines = self.new_lines()
    return f'{lines} lines' if lines > 2 * LINES + A_SECOND * seconds else ''


def pull(tap, emu, spaces, args):
  rng, faults, did = random.Random(args.seed), [], collections.Counter()
  with Folder() as folder:
    group = Group(emu, folder, spaces.before())
    path, cables = write(folder, 'fabric.json', config(spaces)), Cables(spaces, group)
    for role in rng.sample(ROLES, len(ROLES)):
      group.start(role, path, *(['--telemetry'] if role == 'cn' else []))
    if not tap.ok(group.waits_for('cn', 'is up') and group.waits_for('sw0', 'is up (mn)'), 'begins',
                  group.all_said({})):
      return
    watcher = Watcher(group)
    watcher.goes_on()
    watcher.new_lines()
    for kind, role, device, seconds in cables.some(args.times, rng) if args.times else cables.each():
      since = time.monotonic()
      kind(cables, role, device, seconds)
      did[kind.__name__] += 1
      reason = watcher.why_not(since)
      if reason:
        faults.append(f'{device} of {role} {kind.__name__} for {seconds:.2f} s: {reason}\n'
                      f'{group.all_said({})}')
        break
    watcher.reader.close()
    group.interrupt()
    status, result = group.end(), group.result('cn')
  tap.ok(not faults, f'operations go on behind each, seed {args.seed}', '\n'.join(faults))
  tap.ok(None not in status.values() and result is not None, 'all end with a report', status)
  print(f'# {dict(did)}')


def main():
  args, tap = options(), Tap()
  emu = Emu(args.emu, args.root)
  need_eal(tap, emu, 'cables')
  with Spaces() as spaces:
    if spaces.reason:
      tap.skip('cables', spaces.reason)
    else:
      pull(tap, emu, spaces, args)
  tap.done()


main()
