#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""net_memfab as one node of several processes: two dpdk-testpmd whose ports are joined by a switch that is a
process of its own. Their links go down with it, and come up with the next one. Both nodes in one testpmd;
a testpmd whose file is another one."""
import os
import sys
import tempfile
import time

DRIVER, LEFT_OUT, EMU, ROOT = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Emu, Tap
from parts import Group, memif, write
from stock import Testpmd, loadable, why_not

TAP = Tap()
DRIVER = loadable(DRIVER)
WAIT = 300  # seconds: the machine may be busy
NODES = ('cn', 'mn')


def config(name='net-parts'):
  ports, links = memif(name)
  ports[2]['device'] = ports[2]['device'].replace('net_memif0', 'net_memif1')  # both may be in one process
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


def told(pmds, seen, group):
  """Seconds from the switch's word that both links are up until a program is told"""
  group.waits_for('sw0', ' is up (', times=2)
  begin = time.monotonic()
  within(WAIT, lambda: any(events(p) > n for p, n in zip(pmds, seen)))
  return time.monotonic() - begin


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
  first = []
  for life in (1, 2, 3):
    seen = [events(pmd) for pmd in pmds]
    group.kill('sw0')
    TAP.ok(both(pmds, 'down'), f'the switch is killed, {life}: links go down',
           sender.do(f'show port info {PORT}'))
    TAP.ok(within(WAIT, lambda: all(events(p) > n for p, n in zip(pmds, seen))), 'an interrupt tells so')
    seen = [events(pmd) for pmd in pmds]
    group.start('sw0', path)
    first.append(told(pmds, seen, group))
    TAP.ok(both(pmds, 'up'), 'it is started again: they come up', group.all_said({}))
    TAP.ok(within(WAIT, lambda: all(events(p) > n for p, n in zip(pmds, seen))), 'an interrupt tells so')
    TAP.ok(passes(sender, receiver), 'frames pass again', receiver.stats(PORT))
  # Not when the gate of memifs opens the next time, as it does each second: once at least of so many times.
  TAP.ok(min(first) < 0.3, 'at once', first)
  print(f'# told after {first} s')
  for pmd in pmds:
    pmd.do('stop')
    said = pmd.do('show port summary all')
    TAP.ok('Number of available ports: 1' in said and 'net_memif' not in said,
           'the port that carries the link is no port of the program', said)
    TAP.ok(pmd.quit() == 0, 'testpmd leaves')


def both_here(folder):
  """Two nodes in one process, each a fabric of its own; the switch is in another one"""
  path, group = write(folder, 'both.json', config('net-both')), Group(Emu(EMU, ROOT), folder)
  vdevs = [f'net_memfab{i},fabric={path},node={node},only=1' for i, node in enumerate(NODES)]
  with Testpmd(DRIVER, vdevs, '--eth-peer=1,02:00:00:00:00:01', '--eth-peer=3,02:00:00:00:00:00') as pmd:
    try:
      group.start('sw0', path)
      pmd.do('set fwd rxonly')  # somebody has to turn them
      pmd.do('start')
      TAP.ok(within(WAIT, lambda: all('Link status: up' in pmd.do(f'show port info {i}') for i in (1, 3))),
             'two nodes in one process: links come up', group.all_said({}))
      pmd.do('stop')
      pmd.do('clear port stats all')
      pmd.do('set fwd io')
      pmd.do('start tx_first')
      TAP.ok(within(WAIT, lambda: all(pmd.stats(i)['RX-packets'] > 1000 for i in (1, 3))), 'frames go round',
             [pmd.stats(i) for i in (1, 3)])
      pmd.do('stop')
      pmd.do('set fwd rxonly')
      pmd.do('start')
      TAP.ok(within(WAIT, lambda: all(pmd.stats(i)['TX-packets'] == pmd.stats(4 - i)['RX-packets']
                                      for i in (1, 3))), 'none is lost', [pmd.stats(i) for i in (1, 3)])
      pmd.do('stop')
      listed = pmd.telemetry('/memfab/list')
      names = [pmd.telemetry(f'/memfab/node,fabric={number}')['names'] for number in listed]
      TAP.ok(sorted(names) == [[node] for node in NODES], 'each is a fabric of its own', [listed, names])
      said = pmd.do(f'port attach net_memfab2,fabric={path},node={NODES[0]},only=1')
      TAP.ok('has a port already' in said, 'a node has one port', said)
      said = pmd.do(f'port attach net_memfab2,fabric={path},node={NODES[0]}')
      TAP.ok('is open already, with other options' in said, 'not all roles beside nodes alone', said)
      TAP.ok(pmd.quit() == 0, 'testpmd leaves')
    finally:
      group.kill('sw0')


def refused(folder):
  """Another file: both sides say so"""
  mine = config('net-refused')
  path, group = write(folder, 'mine.json', mine), Group(Emu(EMU, ROOT), folder)
  mine['scheduler'] = {'chunk': 2048}
  with Testpmd(DRIVER, [f'net_memfab0,fabric={write(folder, "other.json", mine)},node=cn,only=1']) as pmd:
    try:
      group.start('sw0', path)
      pmd.do('start')
      within(WAIT, lambda: 'another fabric file' in pmd.text)
      lines = [line for line in pmd.text.split('\n') if 'another fabric file' in line]
      TAP.ok(lines and "memfab: link of cn, node's end, port cn " in lines[0],
             'another file: testpmd says so', pmd.text[-2000:])
      TAP.ok(group.waits_for('sw0', 'another fabric file'), 'and so does the switch', group.all_said({}))
      TAP.ok(pmd.quit() == 0, 'testpmd leaves')
    finally:
      group.kill('sw0')


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
    both_here(folder)
    refused(folder)
  return None


main()
TAP.done()
