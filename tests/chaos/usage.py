#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command line of memfab-chaos; that a seed is a case; and the cases that campaigns have found."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = sys.argv[2]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Tap, why

REFUSED = {
  'no file': [],
  'two files': ['FILE', 'FILE'],
  'unknown option': ['--fast', 'FILE'],
  'no runs': ['--runs', '0', 'FILE'],
  'no minutes': ['--minutes', '0', 'FILE'],
  'seed that is no number': ['--seed', '1x', 'FILE'],
  'no jobs': ['--jobs', '0', 'FILE'],
  'unknown class': ['--classes', 'lose,flood!', 'FILE'],
  'a class twice': ['--classes', 'lose,bit,lose', 'FILE'],
  'empty class': ['--classes', 'lose,', 'FILE'],
  'a case of a seed': ['--case', '--seed', '1', 'FILE'],
  'a case of many runs': ['--case', '--runs', '2', 'FILE'],
  'printed many times': ['--print', '--runs', '2', 'FILE'],
  'link with a file': ['--link', 'FILE'],
  'link with classes': ['--link', '--classes', 'lose'],
  'a planted bug': ['--plant', 'check_skipped', 'FILE'],
  'no such file': ['NOWHERE.json'],
  'no JSON': [os.path.join(ROOT, 'README.md')],
}


def mended(root):
  """Cases that campaigns have found and that are mended: all but those that are open."""
  return sorted(path for path in glob.glob(os.path.join(root, 'tests', 'fabric', 'chaos', '*.json'))
                if not os.path.basename(path).startswith('open-'))


def known_tests(root):
  """Cases of Criterion, tests of meson and cases of campaigns, by name."""
  names = set(os.listdir(os.path.join(root, 'tests', 'fabric', 'chaos')))
  for folder, _, files in os.walk(os.path.join(root, 'tests')):
    for file in files:
      if file.endswith('.c'):
        with open(os.path.join(folder, file), encoding='utf-8') as text:
          names.update(re.findall(r'^\w*(?:Test|TEST)\((?:\w+, )?(\w+)', text.read(), re.M))
      elif file.endswith('.py'):
        names.add('emu-' + file[:-3])
      elif file == 'meson.build':
        with open(os.path.join(folder, file), encoding='utf-8') as text:
          names.update(re.findall(r"test\('([\w-]+)'", text.read()))
  return names


def fault_table(root, tap):
  """Each name in the table of all faults is there."""
  with open(os.path.join(root, 'docs', 'fault-tolerance.md'), encoding='utf-8') as text:
    section = text.read().split('## Every fault\n')[1].split('\n## ')[0]
  with open(os.path.join(root, 'docs', 'fabric-file.md'), encoding='utf-8') as text:
    classes = set(re.findall(r'^\| `([a-z_]+)` \|', text.read(), re.M))
  rows = [line.split('|')[1:-1] for line in section.splitlines() if line.startswith('| ')][2:]
  tests, wrong = known_tests(root), []
  for fault, _, files, kinds, shown in rows:
    files, kinds, shown = (re.findall('`([^`]+)`', cell) for cell in (files, kinds, shown))
    wrong += [name for name in files if not os.path.exists(os.path.join(root, name))]
    wrong += [name for name in kinds if name not in classes] + [name for name in shown if name not in tests]
    wrong += [] if files and shown else [fault]
  tap.ok(len(rows) > 15 and not wrong, 'docs/fault-tolerance.md: the names in its table are there', wrong)


def main(program, root):
  tap = Tap()
  base = os.path.join(root, 'examples', 'chaos.json')
  names = {'FILE': base, 'NOWHERE.json': os.path.join(root, 'nowhere.json')}

  def run(*args):
    return subprocess.run([program, *(names.get(a, a) for a in args)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=600, check=False)

  for name, args in REFUSED.items():
    process = run(*args)
    tap.ok(process.returncode == 2 and process.stdout == '' and process.stderr.count('\n') == 1, name,
           why(process))
  for option, text in {'--help': 'Exit status', '--version': 'memfab-chaos'}.items():
    process = run(option)
    tap.ok(process.returncode == 0 and text in process.stdout, option, why(process))
  printed = [run('--print', '--seed', '7', base) for _ in range(2)]
  case = json.loads(printed[0].stdout)
  tap.ok(printed[0].stdout == printed[1].stdout and case['seed'] == 7, 'a seed is a case')
  tap.ok(run('--print', '--seed', '8', base).stdout != printed[0].stdout, 'another seed another one')
  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'case.json')
    with open(path, 'w', encoding='utf-8') as file:
      json.dump(case, file)
    process = run('--case', path)
    tap.ok(process.returncode == 0 and 'nothing is wrong' in process.stdout, 'a case is run', why(process))
    twins = os.path.join(folder, 'twins.json')
    with open(base, encoding='utf-8') as file, open(twins, 'w', encoding='utf-8') as out:
      json.dump(json.load(file) | {'backup': {}}, out)
    process = run('--runs', '30', '--classes', 'link_down,node_crash,switch_crash', '--out', folder, twins)
    cut = re.search(r'(\d+) messages cut at a switch', process.stdout)
    tap.ok(process.returncode == 0 and cut and int(cut[1]) > 10,
           'two switches: messages are cut in the middle',
           why(process))
  process = run('--runs', '3', base)
  tap.ok(process.returncode == 0 and ' compared' in process.stdout, 'three runs', why(process))
  process = run('--link', '--runs', '3')
  tap.ok(process.returncode == 0 and 'connections' in process.stdout, 'three runs of links', why(process))
  fault_table(root, tap)
  for path in mended(root):
    name = os.path.basename(path)
    process = run('--case', path)
    tap.ok(process.returncode == 0, f'{name}: mended', why(process))
  tap.done()


main(*sys.argv[1:])
