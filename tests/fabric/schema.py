#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Results are what docs/result.schema.json says, and the configuration in them gives them again."""
import json
import os
import sys
import tempfile

from emu import Emu, Tap, text_of, why

try:
  import jsonschema
except ImportError:
  print('1..0 # SKIP python3-jsonschema is not installed')
  sys.exit(0)

RUNS = [('virtual', 'quickstart'), ('virtual', 'table1'), ('virtual', 'preemption-25g-fair'),
        ('virtual', 'ycsb-a'), ('virtual', 'direct'), ('virtual', 'incast')]
# Of tests/fabric/good: what these have makes parts of the result that no example has.
PARTS = ['access', 'backup', 'test_patterns']
FAULTS = {'nodes': [{'name': 'c', 'role': 'compute'}, {'name': 'm', 'role': 'memory'}],
          'link': {'disable': 4}, 'workload': [{'mix': {'read': 1}, 'size': 64}],
          'faults': [{'class': 'bit', 'rate': 1e-6}, {'class': 'node_crash', 'node': 'm', 'from': '20us',
                                                      'until': '25us'}]}


def errors(schema, value):
  validator = jsonschema.validators.validator_for(schema)
  return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in
          validator(schema).iter_errors(value)]


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  with open(os.path.join(root, 'docs', 'result.schema.json'), encoding='utf-8') as file:
    schema = json.load(file)
  jsonschema.validators.validator_for(schema).check_schema(schema)
  for clock, name in RUNS:
    process, result = emu.result('--clock', clock, '--normalised', '--warmup', '10us', '--duration', '100us',
                                 emu.example(name))
    if tap.ok(process.returncode == 0 and result is not None, f'{name}, {clock} clock', why(process)):
      bad = errors(schema, result)
      tap.ok(not bad, f'{name}, {clock} clock: as the schema says', '\n'.join(bad))

  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'faults.json')
    with open(path, 'w', encoding='utf-8') as file:
      json.dump(FAULTS, file)
    tiers = [os.path.join(root, 'tests', 'fabric', 'tiers', p + '.json')
             for p in ('one', 'rack', 'servers', 'direct')]
    for path in [path] + tiers + \
        [os.path.join(root, 'tests', 'fabric', 'good', p + '.json') for p in PARTS]:
      process, part = emu.result('--clock', 'virtual', '--warmup', '5us', '--duration', '60us', path)
      bad = errors(schema, part) if part is not None else [why(process)]
      tap.ok(process.returncode == 0 and not bad, f'{os.path.basename(path)}: as the schema says',
             '\n'.join(bad))

  # What the schema does not know it refuses: else the test would say nothing. Sections that are made of
  # tables of counters (lib/base/mf_counter.h) take further counters, and nothing else.
  result['result']['backlog']['surprise'] = 1
  tap.ok(errors(schema, result), 'an unknown key is refused')
  del result['result']['backlog']['surprise']
  for section in ['scheduler', 'switch']:
    result['result'][section]['surprise'] = 1
    tap.ok(not errors(schema, result), f'{section}: a further counter', errors(schema, result))
    for value in ['1', -1, None]:
      result['result'][section]['surprise'] = value
      tap.ok(errors(schema, result), f'{section}: {value!r} is no counter')
    del result['result'][section]['surprise']
  result['result']['switch']['surprise'] = 1.5
  tap.ok(errors(schema, result), 'switch: 1.5 is no counter')
  del result['result']['switch']['surprise'], result['result']['backlog']
  tap.ok(errors(schema, result), 'a missing key is refused')

  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'config.json')
    _, first = emu.result('--clock', 'virtual', '--duration', '50us', emu.example('quickstart'))
    with open(path, 'w', encoding='utf-8') as file:
      file.write(text_of(first['result']['config']))
    process, again = emu.result('--clock', 'virtual', path)
    tap.ok(again is not None and text_of(first['result']) == text_of(again['result']),
           'the configuration of a result gives the same result', why(process))
  tap.done()


main(*sys.argv[1:])
