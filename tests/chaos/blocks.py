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

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fabric'))

from emu import Emu, differences, why

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


def main(a):
  differ, emu = 0, Emu(a.emu, a.root)
  with tempfile.TemporaryDirectory() as folder:
    drawn_from, path = base(a, folder), os.path.join(folder, 'case.json')
    for seed in range(a.first, a.last + 1):
      classes = ('--classes', a.classes) if a.classes else ()
      printed = subprocess.run([a.chaos, '--print', '--seed', str(seed), *classes, drawn_from],
                               stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
      if printed.returncode != 0:
        sys.exit(printed.stderr.strip())
      with open(path, 'w', encoding='utf-8') as file:
        file.write(printed.stdout)
      results = []
      for form in FORMS:
        process, both = emu.result('--clock', 'virtual', *form, path)
        if both is None:
          sys.exit(f'seed {seed}: {why(process)}')
        results.append(both['result'])
      found = list(differences(*results))
      differ += bool(found)
      if found:
        print(f'seed {seed}: {len(found)} differ, {found[0]}', flush=True)
  print(f'{differ} of {a.last - a.first + 1} fabrics differ')


main(arguments())
