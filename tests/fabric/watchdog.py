#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Processes that are stopped for a while, as by a debugger or a hypervisor: the process says so itself, its
partners bear it, and lose their link where it takes too long, and all goes on. Skipped where EAL cannot
start."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from emu import Emu, Tap, need_eal
from parts import ROLES, Folder, Group, fabric, memif, pause, write

STOP = 1.0  # seconds
SILENCE = 0.4  # of a link, seconds
BORNE = 10  # times that, while its partner lives


def stopped_after(emu, seconds):
  """What a process says that is stopped so long after its start, and what its watchdog has seen."""
  with tempfile.TemporaryDirectory() as folder:
    out = os.path.join(folder, 'result.json')
    with subprocess.Popen([emu.program, '--duration', f'{2 * seconds}s', '--json', out,
                           emu.example('quickstart')],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
      time.sleep(seconds)
      pause(STOP, process)
      said = process.communicate(timeout=600)[1]
    with open(out, encoding='utf-8') as file:
      return said, json.load(file)['result']['watchdog']


def alone(tap, emu):
  """One process: none of its roles is to blame."""
  for after in (2, 20, 60):  # seconds, until which a busy machine may not have begun
    said, seen = stopped_after(emu, after)
    if seen['paused'] > 0:
      break
  tap.ok(seen['paused'] >= 1 and seen['paused_ps_max'] >= (STOP - 0.2) * 1e12, 'it was stopped, and knows',
         seen)
  tap.ok(seen['stalled'] == seen['asleep'] == 0 and 'stalled' not in said, 'no role is blamed for it',
         (seen, said))


def partner(tap, emu):
  """A memory node is stopped, for longer than silence and then for longer than that is borne."""
  config = fabric(*memif('pause'), duration='600s')
  config['host'] = {'read_timeout': '300ms', 'write_timeout': '300ms'}
  for link in config['links']:
    link['carried'] |= {'hello': '20ms', 'silence': f'{SILENCE * 1000:.0f}ms', 'replay_max': '5ms'}
  with Folder() as folder:
    group, path = Group(emu, folder), write(folder, 'fabric.json', config)
    for role in ROLES:
      group.start(role, path)
    tap.ok(group.waits_for('cn', 'is up') and group.waits_for('sw0', 'is up (mn)'), 'all are there')
    time.sleep(0.5)
    group.running['mn'].send_signal(signal.SIGSTOP)
    stopped, before = time.monotonic(), group.said('sw0')
    time.sleep(BORNE * SILENCE / 2)
    said, took = group.said('sw0')[len(before):], time.monotonic() - stopped
    if took < 0.9 * BORNE * SILENCE:
      tap.ok(' is down' not in said, 'its silence is borne', said)
    else:
      tap.skip('its silence is borne', f'this test slept for {took:.1f} s')
    tap.ok(group.waits_for('sw0', 'port sw-mn is down: nothing comes from the partner'),
           'and not for ever', group.said('sw0'))
    time.sleep(0.5)
    group.running['mn'].send_signal(signal.SIGCONT)
    tap.ok(group.waits_for('sw0', 'is up (mn, again)'), 'it is there again', group.said('sw0'))
    time.sleep(1)
    group.interrupt()
    status = group.end()
    results = [group.result(role) for role in ('cn', 'mn')]
    if not tap.ok(None not in status.values() and None not in results, 'all end with a report',
                  group.all_said(status)):
      return
  done, seen = results[0]['operations'], results[1]['watchdog']
  tap.ok(done['failed_by_cause']['timeout'] > 0 and done['mismatches'] == 0 < done['verified'],
         'operations ended without it, and no read is wrong', done)
  tap.ok(seen['paused'] >= 1 and seen['stalled'] == 0, 'it knows', seen)


def main():
  emu, tap = Emu(sys.argv[1], sys.argv[2]), Tap()
  need_eal(tap, emu, 'processes that are stopped')
  alone(tap, emu)
  partner(tap, emu)
  tap.done()


main()
