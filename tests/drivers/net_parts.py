#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""net_memfab as one node of several processes: two dpdk-testpmd whose ports are joined by a switch that is a
process of its own. Their links go down with it, and come up with the next one."""
import os
import sys
import tempfile
import time

DRIVER, LEFT_OUT, EMU, ROOT = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Emu, Tap
from parts import Group, memif, write
from stock import Testpmd, why_not

TAP = Tap()
WAIT = 60  # seconds: the machine may be busy
NODES = ('cn', 'mn')


def config():
  ports, links = memif('net-parts')
  for link in links.values():
    link |= {'hello': '20ms', 'silence': '1s', 'replay_max': '20ms'}
  return {'ports': ports, 'nodes': [{'name': name, 'role': 'ethernet'} for name in NODES],
          'links': [{'node': node, 'carried': link} for node, link in links.items()]}


def within(seconds, what):
  end = time.monotonic() + seconds
  while not what():
    if time.monotonic() > end:
      return False
    time.sleep(0.05)
  return True


PORT = 1  # the one that carries the link was there first


def link_is(pmd, state):
  return f'Link status: {state}' in pmd.do(f'show port info {PORT}')


def both(pmds, state):
  return within(WAIT, lambda: all(link_is(pmd, state) for pmd in pmds))


def passes(sender, receiver):
  """Frames arrive that have been sent from now on"""
  receiver.do('clear port stats all')
  before = sender.stats(PORT)['TX-packets']
  return within(WAIT, lambda: receiver.stats(PORT)['RX-packets'] > 100 and
                sender.stats(PORT)['TX-packets'] > before)


def events(pmd):
  return pmd.text.count('link state change event')


def run(sender, receiver, group, path):
  pmds = (sender, receiver)
  TAP.ok(both(pmds, 'down'), 'without a switch links are down')
  group.start('sw0', path)
  receiver.do('set fwd rxonly')
  sender.do('set fwd txonly')
  for pmd in pmds:
    pmd.do('start')
  TAP.ok(both(pmds, 'up'), 'with it they come up', group.all_said({}))
  TAP.ok(passes(sender, receiver), 'frames pass', receiver.stats(PORT))
  for life in (1, 2):
    seen = [events(pmd) for pmd in pmds]
    group.kill('sw0')
    TAP.ok(both(pmds, 'down'), f'the switch is killed, {life}: links go down',
           sender.do(f'show port info {PORT}'))
    TAP.ok(within(WAIT, lambda: all(events(p) > n for p, n in zip(pmds, seen))), 'an interrupt tells so')
    seen = [events(pmd) for pmd in pmds]
    group.start('sw0', path)
    TAP.ok(both(pmds, 'up'), 'it is started again: they come up', group.all_said({}))
    TAP.ok(within(WAIT, lambda: all(events(p) > n for p, n in zip(pmds, seen))), 'an interrupt tells so')
    TAP.ok(passes(sender, receiver), 'frames pass again', receiver.stats(PORT))
  for pmd in pmds:
    pmd.do('stop')
    said = pmd.do('show port summary all')
    TAP.ok('Number of available ports: 1' in said and 'net_memif' not in said,
           'the port that carries the link is no port of the program', said)
    TAP.ok(pmd.quit() == 0, 'testpmd leaves')


def main():
  reason = why_not('dpdk-testpmd', DRIVER, LEFT_OUT)
  if reason:
    return TAP.skip('net_memfab in several processes', reason)
  with tempfile.TemporaryDirectory() as folder:
    path, group = write(folder, 'fabric.json', config()), Group(Emu(EMU, ROOT), folder)
    with Testpmd(DRIVER, [f'net_memfab0,fabric={path},node=cn,only=1'],
                 f'--eth-peer={PORT},02:00:00:00:00:01') as sender, \
         Testpmd(DRIVER, [f'net_memfab0,fabric={path},node=mn,only=1']) as receiver:
      try:
        run(sender, receiver, group, path)
      finally:
        group.kill('sw0')
  return None


main()
TAP.done()
