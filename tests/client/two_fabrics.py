#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two fabrics in one process, both over memif: devices, buffers and the gate of memifs are apart."""
import os
import re
import subprocess
import sys
import tempfile

ROOT, EMU, PROGRAM = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Emu, Tap, need_eal, why
from parts import Group, memif, write

TAP = Tap()
WAIT = 300  # seconds: the machine may be busy


def config(number, device):
  """A node here, and all else in a process of its own."""
  ports, links = memif(f'two-{number}')
  ports[0]['device'] = ports[0]['device'].replace('net_memif0', device)
  return {'ports': ports[:2], 'memory': {'size': '1MiB'},
          'host': {'read_timeout': '60s', 'write_timeout': '60s'},
          'nodes': [{'name': 'cn0', 'role': 'compute'}, {'name': 'mn0', 'role': 'memory'}],
          'links': [{'node': 'cn0', 'carried': links['cn']}, {'node': 'mn0'}]}


def main():
  need_eal(TAP, Emu(EMU, ROOT), 'two fabrics in one process')
  with tempfile.TemporaryDirectory() as folder:
    paths = [write(folder, f'{i}.json', config(i, f'net_memif{i}')) for i in (0, 1)]
    clash = write(folder, 'clash.json', config(2, 'net_memif1'))
    # The first one is left, which ends its others, and opened again.
    twice = {'sw0,mn0': ['sh', '-c', '"$@"; exec "$@"', 'twice']}
    groups = [Group(Emu(EMU, ROOT), folder, before) for before in (twice, {})]
    try:
      for number, (group, path) in enumerate(zip(groups, paths)):
        group.start('sw0,mn0', path, name=f'others-{number}')
      out = subprocess.run([PROGRAM, *paths, clash], capture_output=True, text=True, timeout=WAIT,
                           check=False)
      TAP.ok(out.returncode == 0, 'a node of two fabrics', f'{out.stdout}\n{why(out)}')
      TAP.ok('net_memif1' in out.stdout and 'belongs to somebody else' in out.stdout,
             'a device belongs to one of them', out.stdout)
      longest = re.search(r'longest (\S+) s', out.stdout)
      print(f'# {longest and longest.group(0)}')
      status = [group.end() for group in groups]
      TAP.ok(all(code == 0 for one in status for code in one.values()), 'the others end with it',
             [group.all_said(one) for group, one in zip(groups, status)])
    finally:
      for group in groups:
        for role in group.running:
          group.kill(role)
  TAP.done()


main()
