#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces whose MTU is below the file's `mtu`, at one end, at both, or on the way between them; and
interfaces that are down. A process takes the lower MTU of its own interface with a line; what is lower on
the way is found by the handshake, and the link is up when it is gone, not before. Skipped where there are no
namespaces.

  mtus.py EMU ROOT
"""
import sys
import time

from emu import Emu, Tap, need_eal
from parts import ROLES, WAIT, Folder, Group, Spaces, carried, fabric, shell, write

SIZE = 4096
DURATION = '500ms'


class Case:
  """Three processes over veth pairs of a namespace each."""

  def __init__(self, tap, emu, spaces, folder):
    self.tap, self.spaces = tap, spaces
    self.group = Group(emu, folder, spaces.before())
    made = fabric(spaces.ports(), carried(), DURATION)
    made['workload'][0] |= {'size': SIZE, 'mix': {'read': 1, 'write': 1, 'write_ack': 1}}
    self.path = write(folder, 'fabric.json', made)

  def ip(self, role, command):
    process = shell(f'ip -n {self.spaces.space[role]} {command}')
    if process.returncode != 0:
      raise RuntimeError(f'{role}: ip {command}: {process.stderr}')

  def start(self):
    for role in ROLES:
      self.group.start(role, self.path)

  def lines(self, role, text):
    return [line for line in self.group.said(role).splitlines() if text in line]

  def ends_well(self, what, ups=1):
    """All operations of full size complete, and no link has been down."""
    status = self.group.end()
    done = (self.group.result('cn') or {}).get('operations', {})
    self.tap.ok(list(status.values()) == [0, 0, 0], f'{what}: all end well', self.group.all_said(status))
    self.tap.ok(done.get('completed_all', 0) > 0 == done.get('failed_all') and done['begun_all']
                == done['completed_all'],
                f'{what}: no operation fails', done)
    self.tap.ok(len(self.lines('cn', 'is up (sw0')) == ups, f'{what}: the link does not flap',
                self.group.said('cn'))


def at_ends(tap, emu, what, mtu):
  """@param mtu  by role and device"""
  with Spaces() as spaces, Folder() as folder:
    case = Case(tap, emu, spaces, folder)
    for (role, device), value in mtu.items():
      case.ip(role, f'link set {device} mtu {value}')
    case.start()
    case.ends_well(what)
    for (role, device), value in mtu.items():
      lines = case.lines(role, 'MTU')
      tap.ok(len(lines) == 1 and f'iface={device} has an MTU of {value}, below the port\'s 1500' in lines[0],
             f'{what}: {role} says so once', case.group.said(role))
    for role in set(ROLES) - {role for role, _ in mtu}:
      tap.ok(not case.lines(role, 'MTU'), f'{what}: {role} has nothing to say', case.group.said(role))


def too_low(tap, emu):
  with Spaces() as spaces, Folder() as folder:
    case = Case(tap, emu, spaces, folder)
    case.ip('cn', 'link set cn0 mtu 100')
    case.group.start('cn', case.path)
    status = case.group.end()
    refusal = 'ports.cn: net_af_packet0,iface=cn0: its interface has an MTU of 100; a link needs 126'
    tap.ok(status['cn'] == 1 and len(case.lines('cn', refusal)) == 1,
           'an MTU that no link can do with is refused', case.group.said('cn'))


def bridges(case):
  """Joins the pairs of each link in the namespace between them: by two bridges, and a pair from one to the
  other. A bridge drops what is too long for the way on, as a switch does, or one end of a tunnel."""
  for node in ('cn', 'mn'):
    case.ip('wire', f'link add {node}-0 type veth peer name {node}-1')
    for end in range(2):
      case.ip('wire', f'link add br-{node}{end} type bridge mcast_snooping 0')
      for device in (f'wire-{node}{end}', f'{node}-{end}'):
        case.ip('wire', f'link set {device} master br-{node}{end}')
      for device in (f'br-{node}{end}', f'{node}-{end}'):
        case.ip('wire', f'link set {device} up')


def set_way(case, mtu):
  for end in range(2):
    case.ip('wire', f'link set cn-{end} mtu {mtu}')


def on_the_way(tap, emu, what):
  with Spaces(apart=True) as spaces, Folder() as folder:
    case = Case(tap, emu, spaces, folder)
    bridges(case)
    set_way(case, 1450)
    case.start()
    found = [case.group.waits_for(role, 'short frames pass') for role in ('cn', 'sw0')]
    time.sleep(2)
    for role, port in (('cn', 'port cn '), ('sw0', 'port sw-cn ')):
      lines = case.lines(role, 'short frames pass')
      tap.ok(all(found) and len(lines) == 1 and port in lines[0]
             and 'set "mtu" of this port to 1446' in lines[0],
             f'{what}: {role} says once what to set', case.group.said(role))
    tap.ok(not case.lines('cn', 'is up'), f'{what}: the link does not come up', case.group.said('cn'))
    tap.ok(case.lines('mn', 'is up'), f'{what}: the other one does', case.group.said('mn'))
    set_way(case, 1500)
    case.ends_well(f'{what}, raised')


def down(tap, emu):
  """An interface that is down, and one whose other end is, are named; and then it goes on."""
  with Spaces() as spaces, Folder() as folder:
    case = Case(tap, emu, spaces, folder)
    case.ip('cn', 'link set cn0 down')
    case.start()
    tap.ok(case.group.waits_for('cn', 'iface=cn0 is down: ip link set cn0 up'), 'down: is named',
           case.group.said('cn'))
    tap.ok(case.group.waits_for('cn', '(its interface is down)', WAIT), 'down: is waited for with a word',
           case.group.said('cn'))
    tap.ok(case.group.waits_for('sw0', 'iface=cn1 has no carrier'), 'down: its other end knows, too',
           case.group.said('sw0'))
    tap.ok(not case.lines('mn', 'carrier') and not case.lines('mn', 'is down:'),
           'down: others say nothing of it',
           case.group.said('mn'))
    case.ip('cn', 'link set cn0 up')
    tap.ok(case.group.waits_for('cn', 'iface=cn0 is up again'), 'down: and that it is back',
           case.group.said('cn'))
    case.ends_well('down, and up')


def main():
  tap, emu = Tap(), Emu(sys.argv[1], sys.argv[2])
  need_eal(tap, emu, 'mtus')
  with Spaces() as spaces:
    reason = spaces.reason
  if reason:
    tap.skip('mtus', reason)
  else:
    at_ends(tap, emu, '1450 at a node', {('cn', 'cn0'): 1450})
    at_ends(tap, emu, '1420 at a switch', {('sw0', 'cn1'): 1420})
    at_ends(tap, emu, '1450 and 1420', {('cn', 'cn0'): 1450, ('sw0', 'cn1'): 1420})
    too_low(tap, emu)
    on_the_way(tap, emu, 'on the way')
    down(tap, emu)
  tap.done()


main()
