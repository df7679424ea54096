#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the command line and the fabric file may not say: exit 2, one line, and nothing is started."""
import json
import os
import subprocess
import sys
import tempfile

from emu import Emu, Tap, why

REFUSED = {
  'no file': [],
  'two files': ['FILE', 'FILE'],
  'unknown option': ['--fast', 'FILE'],
  'unknown short option': ['-x', 'FILE'],
  'option without its value': ['FILE', '--seed'],
  'a value too many': ['--check=yes', 'FILE'],
  'unknown clock': ['--clock', 'cuckoo', 'FILE'],
  'duration without unit': ['--duration', '3', 'FILE'],
  'duration 0': ['--duration', '0', 'FILE'],
  'duration too long': ['--duration', '2592001s', 'FILE'],
  'negative warm-up': ['--warmup', '-1ms', 'FILE'],
  'seed that is no number': ['--seed', '1x', 'FILE'],
  'negative seed': ['--seed', '-1', 'FILE'],
  'seed too large': ['--seed', '9223372036854775808', 'FILE'],
  'unknown role': ['--run', 'cn0,nobody', 'FILE'],
  'empty role': ['--run', 'cn0,', 'FILE'],
  'role twice': ['--run', 'cn0,cn', 'FILE'],
  'roles left out under the virtual clock': ['--clock', 'virtual', '--run', 'cn0,mn0', 'FILE'],
  'blocks by the wall clock': ['--block-by-block', 'FILE'],
  'messages of the wall clock': ['--messages', 'NOWHERE/log.csv', 'FILE'],
  'normalised by the wall clock': ['--normalised', 'FILE'],
  'seeds of the wall clock': ['--seeds', '2', 'FILE'],
  'no seed': ['--clock', 'virtual', '--seeds', '0', 'FILE'],
  'seeds beyond the last': ['--clock', 'virtual', '--seeds', '3', '--seed', '9223372036854775806', 'FILE'],
  'jobs without seeds': ['--clock', 'virtual', '--jobs', '2', 'FILE'],
  'messages of seeds': ['--clock', 'virtual', '--seeds', '2', '--messages', 'NOWHERE/log.csv', 'FILE'],
  'messages into a folder that is not there': ['--clock', 'virtual', '--messages', 'NOWHERE/result.json',
                                               'FILE'],
  'record of the virtual clock': ['--clock', 'virtual', '--record', 'FOLDER', 'FILE'],
  'replay of the virtual clock': ['--clock', 'virtual', '--replay', 'FOLDER', 'FILE'],
  'replay that is recorded': ['--replay', 'FOLDER', '--record', 'FOLDER', 'FILE'],
  'replay with a result': ['--replay', 'FOLDER', '--json', 'NOWHERE/result.json', 'FILE'],
  'replay and check': ['--replay', 'FOLDER', '--check', 'FILE'],
  'EAL options for a replay': ['-l', '0', '--', '--replay', 'FOLDER', 'FILE'],
  'EAL options for the virtual clock': ['-l', '0', '--', '--clock', 'virtual', 'FILE'],
  'result into a folder that is not there': ['--json', 'NOWHERE/result.json', 'FILE'],
  'no such fabric file': ['NOWHERE.json'],
  'folder as fabric file': ['FOLDER'],
}


def refused(process):
  return (process.returncode == 2 and process.stdout == '' and process.stderr.count('\n') == 1
          and process.stderr.endswith('\n'))


def streams(tap, emu):
  """A standard output that is closed, or that nobody reads, does not spoil the JSON, but is told of."""
  unread, pipe = os.pipe()
  os.close(unread)
  with tempfile.TemporaryDirectory() as folder:
    for name, shell in {'closed': '"$@" >&-', 'not read': '"$@"'}.items():
      path = os.path.join(folder, name)
      process = subprocess.run(['sh', '-c', shell, 'sh', emu.program, '--clock', 'virtual', '--duration',
                                '20us', '--json', path, emu.example('quickstart')],
                               stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.PIPE, text=True,
                               timeout=600, check=False)
      tap.ok(process.returncode == 1 and 'standard output: ' in process.stderr,
             f'standard output is {name}', why(process))
      with open(path, encoding='utf-8') as file:
        tap.ok('result' in json.load(file), f'standard output is {name}: the JSON is whole')
  os.close(pipe)


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  names = {'FILE': emu.example('quickstart'), 'FOLDER': os.path.join(root, 'examples'),
           'NOWHERE.json': os.path.join(root, 'nowhere.json'),
           'NOWHERE/result.json': os.path.join(root, 'nowhere', 'result.json')}
  for name, args in REFUSED.items():
    process = emu.run(*(names.get(a, a) for a in args))
    tap.ok(refused(process), name, why(process))

  folder = os.path.join(root, 'tests', 'fabric', 'bad')
  files = sorted(os.listdir(folder))
  tap.ok(len(files) >= 40, 'there are 40 faulty files and more', len(files))
  for clock in ('wall', 'virtual'):
    for name in files:
      path = os.path.join(folder, name)
      process = emu.run('--clock', clock, path)
      tap.ok(refused(process) and process.stderr.startswith(path + ':'), f'{name}, {clock} clock',
             why(process))

  process = emu.run('-xy', names['FILE'])
  tap.ok("'-x'" in process.stderr, 'the option that is not there is named', why(process))
  streams(tap, emu)
  process = emu.run('--help')
  tap.ok(process.returncode == 0 and 'Exit status' in process.stdout, '--help', why(process))
  process = emu.run('--version')
  tap.ok(process.returncode == 0 and 'memfab-emu' in process.stdout, '--version', why(process))
  for name in emu.examples():
    process = emu.run('--check', emu.example(name))
    tap.ok(process.returncode == 0 and process.stderr == '', f'{name} is good', why(process))
  process = emu.run('--check', '--run', 'scheduler,mn,cn1,sw0,cn0', emu.example('quickstart'))
  tap.ok(process.returncode == 0, 'all roles named, in any order', why(process))
  for roles, of in (('cn,sw0', "'cn0' and 'sw0'"), ('spare,mn', "'mn' and 'spare'"), ('cn,mn', ''),
                    ('sw0,spare,cn', "'cn0' and 'sw0'"), ('sw0,spare', ''), ('sw0,spare,cn,mn', '')):
    process = emu.run('--check', '--run', roles, os.path.join(emu.root, 'tests/fabric/good/backup.json'))
    tap.ok(refused(process) and of in process.stderr if of else 'with two switches' not in process.stderr,
           f'two switches, a process plays {roles}', why(process))
  tap.done()


main(*sys.argv[1:])
