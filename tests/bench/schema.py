#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What memfab-bench writes is what docs/bench.schema.json says, and its lines hang together: names,
references, fabric files, goals. Nothing is measured.

  schema.py BENCH_SAMPLE MEMFAB_BENCH MEMFAB_EMU ROOT
"""
import copy
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fabric'))
from emu import Tap  # noqa: E402

try:
  import jsonschema
except ImportError:
  print('1..0 # SKIP python3-jsonschema is not installed')
  sys.exit(0)


def run(*args):
  return subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
                        check=False)


def test_schema(tap, sample, root):
  with open(os.path.join(root, 'docs', 'bench.schema.json'), encoding='utf-8') as file:
    schema = json.load(file)
  check = jsonschema.validators.validator_for(schema)
  check.check_schema(schema)
  fabric = os.path.join(root, 'tests', 'bench', 'read64.json')
  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'bench.json')
    process = run(sample, path, fabric)
    tap.ok(process.returncode == 0, 'lines of every kind', process.stderr)
    with open(path, encoding='utf-8') as file:
      result = json.load(file)

  def errors(value):
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in
            check(schema).iter_errors(value)]

  tap.ok(not errors(result), 'as the schema says', '\n'.join(errors(result)))
  lines = {line['name']: line for line in result['lines']}
  tap.ok(lines['met']['median'] == 3 and lines['met']['goal']['met'] is True, 'a goal that is met',
         lines['met'])
  tap.ok([b.get('ratio') for b in lines['met']['beside']] == [1, None, None], 'ratios', lines['met'])
  tap.ok(lines['missed']['goal']['met'] is False, 'a goal that is missed', lines['missed'])
  tap.ok('median' not in lines['noisy'] and 'met' not in lines['noisy']['goal'], 'noise has no figure')
  tap.ok(lines['met']['fabric']['file'] == 'read64.json' and lines['met']['fabric']['pairs'] == 1,
         'the fabric of a line', lines['met'])

  for what, change in (
      ('a line without its status', lambda r: r['lines'][0].pop('status')),
      ('an unknown key', lambda r: r['lines'][0].update(surprise=1)),
      ('a figure of a noisy host', lambda r: lines_of(r)['noisy'].update(median=1, min=1, max=1)),
      ('a measured line without its median', lambda r: r['lines'][0].pop('median')),
      ('no commit', lambda r: r['run'].pop('commit'))):
    bad = copy.deepcopy(result)
    change(bad)
    tap.ok(errors(bad), f'refused: {what}')


def lines_of(result):
  return {line['name']: line for line in result['lines']}


def test_lines(tap, bench, emu, root):
  process = run(bench, '--list')
  names = [line.split()[0] for line in process.stdout.splitlines()]
  tap.ok(process.returncode == 0 and len(names) > 40, 'there are lines', process.stderr)
  tap.ok(len(set(names)) == len(names), 'no name twice')
  for part in ('pcs', 'proto', 'mux', 'sched', 'host', 'switch', 'fabric', 'virtual'):
    tap.ok(any(name.startswith(part + '.') for name in names), f'lines of {part}')
  tap.ok(run(bench, '--only', 'nothing.*').returncode == 2, 'a name that is none')
  folder = os.path.join(root, 'tests', 'bench')
  for name in sorted(f for f in os.listdir(folder) if f.endswith('.json')):
    process = run(emu, '--check', os.path.join(folder, name))
    tap.ok(process.returncode == 0, f'{name} is a fabric file', process.stderr)


def main(sample, bench, emu, root):
  tap = Tap()
  test_schema(tap, sample, root)
  test_lines(tap, bench, emu, root)
  tap.done()


main(*sys.argv[1:])
