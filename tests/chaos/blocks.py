#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The random fabrics of memfab-chaos in spans and block by block: how many results differ, and where first.
Not part of make test, which compares the fabrics of tests/fabric/cuts.c.

  blocks.py EMU CHAOS ROOT [--first SEED] [--last SEED] [--backup] [--classes A,B]
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

FORMS = ((), ('--block-by-block',))


def arguments():
  p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  for name in ('emu', 'chaos', 'root'):
    p.add_argument(name)
  p.add_argument('--first', type=int, default=1)
  p.add_argument('--last', type=int, default=100)
  p.add_argument('--backup', action='store_true', help='each fabric has two switches')
  p.add_argument('--classes', help='faults of these classes only')
  return p.parse_args()


def base(a, folder):
  """What the fabrics are drawn from."""
  path = os.path.join(a.root, 'examples', 'chaos.json')
  if not a.backup:
    return path
  with open(path, encoding='utf-8') as file:
    config = json.load(file)
  path = os.path.join(folder, 'base.json')
  with open(path, 'w', encoding='utf-8') as file:
    json.dump(config | {'backup': {}}, file)
  return path


def run(program, *args):
  return subprocess.run([program, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                        check=False)


def result(a, path, form, folder):
  out = os.path.join(folder, 'result.json')
  process = run(a.emu, '--clock', 'virtual', *form, '--json', out, path)
  try:
    with open(out, encoding='utf-8') as file:
      return json.load(file)['result']
  except (OSError, ValueError):
    sys.exit(f'{path}: {process.stderr.strip()}')


def differences(x, y, at=''):
  if isinstance(x, dict) and isinstance(y, dict):
    for key in sorted(x.keys() | y.keys()):
      yield from differences(x.get(key), y.get(key), f'{at}.{key}')
  elif x != y:
    yield f'{at[1:]}: {str(x)[:40]}, block by block {str(y)[:40]}'


def main(a):
  differ = 0
  with tempfile.TemporaryDirectory() as folder:
    drawn_from, path = base(a, folder), os.path.join(folder, 'case.json')
    for seed in range(a.first, a.last + 1):
      classes = ('--classes', a.classes) if a.classes else ()
      printed = run(a.chaos, '--print', '--seed', str(seed), *classes, drawn_from)
      if printed.returncode != 0:
        sys.exit(printed.stderr.strip())
      with open(path, 'w', encoding='utf-8') as file:
        file.write(printed.stdout)
      found = list(differences(*(result(a, path, form, folder) for form in FORMS)))
      differ += bool(found)
      if found:
        print(f'seed {seed}: {len(found)} differ, {found[0]}', flush=True)
  print(f'{differ} of {a.last - a.first + 1} fabrics differ')


main(arguments())
