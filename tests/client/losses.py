#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program's target is killed, and started again: what its operations and memfab_losses() say."""
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT, EMU, PROGRAM = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Emu, Tap, need_eal
from parts import Group, memif, write

TAP = Tap()
KILLS = 3
WAIT = 300  # seconds: the machine may be busy


def config():
  """As the other tests of several processes have it, with the names of the program."""
  ports, links = memif('losses')
  for link in links.values():
    link |= {'hello': '20ms', 'silence': '1s', 'replay_max': '20ms'}
  return {'ports': ports, 'memory': {'size': '1MiB'},
          'host': {'read_timeout': '200ms', 'write_timeout': '200ms'},
          'nodes': [{'name': 'cn0', 'role': 'compute'}, {'name': 'mn0', 'role': 'memory'}],
          'links': [{'node': f'{node}0', 'carried': link} for node, link in links.items()]}


def main():
  need_eal(TAP, Emu(EMU, ROOT), 'a target that is killed')
  with tempfile.TemporaryDirectory() as folder:
    group, path = Group(Emu(EMU, ROOT), folder), write(folder, 'fabric.json', config())
    group.start('sw0', path)
    group.start('mn0', path)
    with subprocess.Popen([PROGRAM, path, str(KILLS)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as program:
      TAP.ok(program.stdout.readline() == 'ready\n', 'all are there', group.all_said({}))
      for kill in range(KILLS):
        time.sleep(0.3)
        group.kill('mn0')
        time.sleep(0.5)
        group.start('mn0', path)
        TAP.ok(group.waits_for('sw0', '(mn0, again)', times=kill + 1), 'it is there again', group.said('sw0'))
      out, err = program.communicate(timeout=WAIT)
    for role in group.running:
      group.kill(role)
  try:
    seen = json.loads(out)
  except ValueError:
    seen = None
  if TAP.ok(seen is not None, 'the program goes on, and ends', f'{program.returncode} {err}'):
    print(f'# {seen}', flush=True)
    TAP.ok(seen['losses'] >= KILLS and seen['host_down'] > 0, 'it is told', seen)
    TAP.ok(seen['wrong'] == 0, 'what it had not been told of was there', seen)
    TAP.ok(seen['timed_out'] > 0 == seen['other'], 'reads without an answer end by their timer', seen)
  TAP.done()


main()
