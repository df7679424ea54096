#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Several seeds: each run is what it is by itself, and what they say together is right."""
import json
import math
import os
import sys
import tempfile

from accounting import SHORT, fabric
from emu import Emu, Tap, text_of, why
from messages import write

T95 = {1: 12.7062, 3: 3.18245, 40: 2.02108}  # Student's t, from tables


def at(value, path):
  for key in path.split('/'):
    value = value[key]
  return value


def right(figure, values):
  n = len(values)
  mean = sum(values) / n
  deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
  wanted = T95[n - 1] * deviation / math.sqrt(n)
  return (figure['n'] == n and figure['values'] == values and abs(figure['mean'] - mean) <= 1e-9 * abs(mean)
          and abs(figure['ci95'] - wanted) <= 5e-4 * wanted and wanted > 0)


def results(both):
  return [text_of(one['result']) for one in both['seeds']]


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  base = ['--clock', 'virtual', '--duration', '20us', '--warmup', '5us', '--normalised', '--seed', '7']
  paths = ['operations/kinds/read/latency/mean_ns', 'messages/all/normalised/mean',
           'load/flow/completed_gbps']

  process, one = emu.result(*base, '--seeds', '4', '--jobs', '1', emu.example('quickstart'))
  tap.ok(process.returncode == 0 and one and len(one['seeds']) == 4, 'four seeds', why(process))
  for jobs in ('3', '9'):
    process, more = emu.result(*base, '--seeds', '4', '--jobs', jobs, emu.example('quickstart'))
    tap.ok(results(more) == results(one) and text_of(more['over_seeds']) == text_of(one['over_seeds']),
           f'{jobs} at a time: the same', why(process))
  for i, text in enumerate(results(one)):
    _, alone = emu.result(*base[:-1], str(7 + i), emu.example('quickstart'))
    tap.ok(text_of(alone['result']) == text, f'seed {7 + i}: as by itself')
  for path in paths:
    values = [at(seed['result'], path) for seed in one['seeds']]
    tap.ok(len(set(values)) == 4 and right(one['over_seeds'][path], values), f'{path}: mean and interval',
           one['over_seeds'][path])
  first = one['seeds'][0]['result']['messages']['sizes'][-1]
  tap.ok(one['over_seeds'][f"messages/sizes/{first['from_octets']}/latency/max_ns"]['values'][0] ==
         first['latency']['max_ns'], 'sizes go by the first of them')

  for n in (2, 41):
    process, many = emu.result(*base, '--seeds', str(n), emu.example('quickstart'))
    tap.ok(process.returncode == 0 and
           right(many['over_seeds'][paths[0]], [at(seed['result'], paths[0]) for seed in many['seeds']]),
           f'{n} seeds: interval', why(process))
  process, single = emu.result(*base, '--seeds', '1', emu.example('quickstart'))
  tap.ok(single['over_seeds'][paths[0]]['ci95'] is None and results(single) == results(one)[:1], 'one seed')

  with tempfile.TemporaryDirectory() as folder:
    config = write(folder, 'cut.json', fabric(1.3, drain='100ns', depth=2, **SHORT))
    process, cut = emu.result('--clock', 'virtual', '--seeds', '3', config)
    tap.ok(process.returncode == 1 and len(cut['seeds']) == 3 and 'seed 2: ' in process.stderr,
           'runs that are not sound are told', why(process))
    try:
      import jsonschema
    except ImportError:
      tap.skip('as the schema says', 'python3-jsonschema is not installed')
    else:
      with open(os.path.join(root, 'docs', 'seeds.schema.json'), encoding='utf-8') as file:
        schema = json.load(file)
      bad = [e.message for both in (one, single) for e in
             jsonschema.validators.validator_for(schema)(schema).iter_errors(both)]
      tap.ok(not bad, 'as the schema says', bad[:3])
  tap.done()


main(*sys.argv[1:])
