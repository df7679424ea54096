#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program that has all of a memory node is killed, and started again; then the memory node is."""
import os
import subprocess
import sys
import tempfile

ROOT, EMU, PROGRAM = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Emu, Tap, need_eal
from parts import Group, memif, write

TAP = Tap()
KILLS = 3
WAIT = 300  # seconds: the machine may be busy


def config():
  """There is not one space or page more than the program takes. No lease ends while it runs."""
  ports, links = memif('spaces')
  for link in links.values():
    link |= {'hello': '20ms', 'silence': '1s', 'replay_max': '20ms'}
  memory = {'type': 'virtual', 'pages': {'4KiB': '512KiB'}, 'spaces': 16, 'lease': '1h'}
  return {'ports': ports, 'host': {'read_timeout': '2s', 'write_timeout': '2s'},
          'nodes': [{'name': 'cn0', 'role': 'compute'}, {'name': 'mn0', 'role': 'memory', 'memory': memory}],
          'links': [{'node': f'{node}0', 'carried': link} for node, link in links.items()]}


def start(path):
  return subprocess.Popen([PROGRAM, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def main():
  need_eal(TAP, Emu(EMU, ROOT), 'spaces that are lost')
  with tempfile.TemporaryDirectory() as folder:
    group, path = Group(Emu(EMU, ROOT), folder), write(folder, 'fabric.json', config())
    group.start('sw0', path)
    group.start('mn0', path)
    program = start(path)
    for kill in range(KILLS):
      TAP.ok(program.stdout.readline() == 'full\n', f'it has all, {kill} kills before', group.all_said({}))
      program.kill()
      program.communicate()
      program = start(path)
    TAP.ok(program.stdout.readline() == 'full\n', 'it has all', group.all_said({}))
    group.kill('mn0')
    group.start('mn0', path)
    out, err = program.communicate(timeout=WAIT)
    TAP.ok(program.returncode == 0 and out == 'full\n', 'it has all of a memory node that was started again',
           f'{program.returncode} {err}\n{group.all_said({})}')
    for role in group.running:
      group.kill(role)
  TAP.done()


main()
