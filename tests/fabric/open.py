#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Known errors: fabrics of tests/fabric/open in which reads return wrong data. Each is expected to fail. One
that does not any more fails this test, and goes to tests/fabric/chaos.

    open.py PROGRAM ROOT
"""
import os
import sys

from emu import Emu, why


def main(program, root):
  emu, folder = Emu(program, root), os.path.join(root, 'tests', 'fabric', 'open')
  names = sorted(os.listdir(folder))
  for number, name in enumerate(names, 1):
    process = emu.run('--clock', 'virtual', os.path.join(folder, name))
    print(f'{"not " if process.returncode else ""}ok {number} - {name} # TODO a known error', flush=True)
    if 'wrong data' not in process.stderr:
      print(f'# not as described: {why(process)}')
      sys.exit(1)
  print(f'1..{len(names)}')


main(*sys.argv[1:])
