#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Scripts and programs of examples and tools: no option swallows the next one, none is given twice."""
import os
import subprocess
import sys
import tempfile

from programs import Tap, why

SCRIPTS = {
  'examples/applications.py': '--nodes', 'examples/flood.py': '--seed', 'examples/rack144.py': '--seed',
  'examples/preemption.py': '--duration', 'examples/three-hosts/loss.py': '--size',
  'tools/failover.py': '--runs',
}
RESULTS = ('examples/applications.py', 'examples/rack144.py', 'examples/three-hosts/loss.py')


def run(*command):
  return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
                        check=False)


def said(process, *words):
  return process.returncode in (1, 2) and process.stdout == '' and all(w in process.stderr for w in words)


def results(tap, root):
  """Before anything is run: --json is no file that is read, and can be written."""
  with tempfile.TemporaryDirectory() as folder:
    program = os.path.join(folder, 'emu')
    with open(program, 'w', encoding='utf-8') as file:
      file.write('#!/bin/sh\n')
    os.link(program, os.path.join(folder, 'hard'))
    for name in RESULTS:
      option = '--emu' if 'loss' in name else '--program'
      for path, words in ((program, 'is the same file as'),
                          (os.path.join(folder, 'hard'), 'is the same file as'),
                          (os.path.join(folder, 'none', 'x'), 'No such file'), (folder, 'Is a directory')):
        process = run(sys.executable, os.path.join(root, name), option, program, '--json', path)
        tap.ok(process.returncode == 1 and words in process.stderr and 'Traceback' not in process.stderr,
               f'{name} --json {os.path.basename(path)}: {words}', why(process))
    with open(program, encoding='utf-8') as file:
      tap.ok(file.read() == '#!/bin/sh\n' and len(os.listdir(folder)) == 2, 'all is as it was')


def main(root, ber, *programs):
  tap = Tap()
  for name, option in SCRIPTS.items():
    script = os.path.join(root, name)
    process = run(sys.executable, script, option, '8', f'{option}=8')
    tap.ok(said(process, option, 'is given twice'), f'{name}: {option} twice', why(process))
    process = run(sys.executable, script, option, '--help')
    tap.ok(said(process, option, 'expected one argument'), f'{name}: {option} --help', why(process))
  results(tap, root)
  for program in programs:
    name = os.path.basename(program)
    process = run(program, '--node', '--only', 'x')
    tap.ok(said(process, '--only: is an option'), f'{name}: --node --only', why(process))
    process = run(program, '--node', 'a', '--node', 'b', 'x')
    tap.ok(said(process, 'is given twice'), f'{name}: --node twice', why(process))
  process = run(ber, '--pairs', '--seed', '1', '--seed', '2')
  tap.ok(said(process, '--seed is given twice'), 'memfab-ber: --seed twice', why(process))
  with open('/dev/full', 'w', encoding='utf-8') as full:
    process = subprocess.run([ber, '--help'], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
  tap.ok(process.returncode == 1 and 'No space left' in process.stderr, 'memfab-ber --help >/dev/full')
  tap.done()


main(os.path.abspath(sys.argv[1]), *(os.path.abspath(path) for path in sys.argv[2:]))
