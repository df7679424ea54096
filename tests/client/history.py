#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What programs do on a fabric is recorded (MEMFAB_HISTORY), and the check judges it.

  history.py ROOT CHECK EXAMPLE...
"""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT, CHECK, *EXAMPLES = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Tap, why
from histories import Checker, altered, reads

FABRIC = os.path.join(ROOT, 'examples', 'client', 'fabric.json')
SPACES = os.path.join(ROOT, 'examples', 'client', 'spaces.json')
WITH_SPACES = ('log', 'table')
ARGS = {'chase': ['--number', '500'], 'idle': ['--number', '1'], 'kv': ['--number', '500', '--threads', '3'],
        'lock': ['--number', '300', '--threads', '3'], 'log': ['--number', '300', '--threads', '2'],
        'table': ['--number', '200', '--threads', '2']}


def run(program, history, *args, fabric=FABRIC):
  return subprocess.run([program, *args, fabric], env={**os.environ, 'MEMFAB_HISTORY': history},
                        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)


def main():
  tap, checker = Tap(), Checker(CHECK)
  with tempfile.TemporaryDirectory() as folder:
    for program in EXAMPLES:
      name = os.path.basename(program)
      history = os.path.join(folder, f'{name}.hist')
      process = run(program, history, *ARGS[name], fabric=SPACES if name in WITH_SPACES else FABRIC)
      if 'EAL' in process.stderr:
        tap.skip(name, 'EAL cannot start')
        continue
      if not tap.ok(process.returncode == 0, f'{name}: runs', why(process)):
        continue
      checker.passes(tap, name, history, least=500)
      altered(tap, checker, name, folder, history)
      with open(history, 'rb') as file:
        spaces = {space for _, _, space, _ in reads(file.read())}
      tap.ok((0 in spaces) != (name in WITH_SPACES), f'{name}: names the spaces of its operations', spaces)
    process = run(EXAMPLES[0], os.path.join(folder, 'small') + ',room=64KiB', *ARGS['chase'])
    tap.ok(process.returncode == 0 and 'room was full' in process.stderr, 'no more room: is said',
           why(process))
    copy = shutil.copy(FABRIC, os.path.join(folder, 'copy.json'))
    process = run(EXAMPLES[0], copy, *ARGS['chase'], fabric=copy)
    with open(copy, encoding='utf-8') as file, open(FABRIC, encoding='utf-8') as whole:
      tap.ok(process.returncode == 1 and 'is the same file as FABRIC' in process.stderr
             and file.read() == whole.read(), 'a history over the fabric file: is refused', why(process))
  for history, text in (('', 'no name'), ('/no/such/folder/x', 'No such file'), ('x,room=1', '64KiB')):
    process = run(EXAMPLES[0], history, *ARGS['chase'])
    tap.ok(process.returncode == 1 and text in process.stderr and process.stderr.count('\n') == 1,
           f"MEMFAB_HISTORY='{history}': is refused", why(process))
  tap.done()


main()
