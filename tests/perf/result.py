#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What memfab-perf writes into files: JSON as docs/perf.schema.json says, HdrHistogram's text, both with
the figures of the tables; and a run of memfab-emu on the configuration of a result gives the same."""
import json
import math
import os
import sys
import tempfile

from perf import BANDWIDTH, LATENCY, Perf, Emu, Tap, tables, text_of, why

try:
  import jsonschema
except ImportError:
  jsonschema = None

RUNS = [
  ['read_lat', '-n', '50'], ['write_lat', '-n', '50'], ['atomic_lat', '-D', '50us'],
  ['read_lat', '-a', '-n', '3'],
  ['read_bw', '-n', '20', '-q', '2'], ['write_bw', '-D', '200us'],
  ['mixed', '-n', '100', '--mix', 'read,cas,swap'],
  ['mixed', '-n', '100', '--rate', '1M', '--burst', '3'], ['loaded_latency', '-D', '20us'],
  ['bandwidth_matrix', '-n', '5'], ['read_lat', '-D', '1ps'],
]


def schema_errors(schema, value):
  validator = jsonschema.validators.validator_for(schema)
  return '\n'.join(f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}"
                   for e in validator(schema).iter_errors(value))


def schemas(tap, perf):
  if jsonschema is None:
    tap.skip('results are as the schema says', 'python3-jsonschema is not installed')
    return
  with open(os.path.join(perf.root, 'docs', 'perf.schema.json'), encoding='utf-8') as file:
    schema = json.load(file)
  jsonschema.validators.validator_for(schema).check_schema(schema)
  for args in RUNS:
    process, result = perf.json(*args)
    name = ' '.join(args)
    if tap.ok(result is not None, f'{name}: valid JSON', why(process)):
      tap.ok(not schema_errors(schema, result), f'{name}: as the schema says', schema_errors(schema, result))
      tap.ok(result['sound'] == (process.returncode == 0), f'{name}: sound, as the exit status says',
             why(process))
  _, direct = perf.json('read_lat', '-n', '50', file=os.path.join(perf.root, 'examples', 'direct.json'))
  tap.ok(direct is not None and not schema_errors(schema, direct), 'no switch: as the schema says',
         direct and schema_errors(schema, direct))
  result['runs'][0]['surprise'] = 1
  tap.ok(schema_errors(schema, result) != '', 'an unknown key is refused')
  del result['runs'][0]['surprise'], result['runs'][0]['bandwidth']
  tap.ok(schema_errors(schema, result) != '', 'a missing key is refused')


def percentile(histogram, count, share):
  rank, seen = max(1, math.ceil(count * share)), 0
  for low, n in histogram:
    seen += n
    if seen >= rank:
      return low
  return None


def same_figures(tap, perf):
  """Screen and file say the same, and the histogram says it again."""
  process, result = perf.json('read_bw', '-n', '300', '-q', '3', '-s', '2000')
  run, row = result['runs'][0], tables(process.stdout, BANDWIDTH)[0][0]
  bandwidth = run['bandwidth']
  tap.ok(row['#iterations'] == run['iterations'] == 900, 'iterations', row)
  tap.ok(abs(row['BW average[MiB/sec]'] - bandwidth['average_octets_per_s'] / 1048576) < 0.001, 'average',
         bandwidth)
  tap.ok(abs(row['BW peak[MiB/sec]'] - bandwidth['peak_octets_per_s'] / 1048576) < 0.001, 'peak', bandwidth)
  seconds = (run['measured_to_ps'] - run['measured_from_ps']) * 1e-12
  tap.ok(abs(bandwidth['octets'] / seconds / bandwidth['average_octets_per_s'] - 1) < 1e-9,
         'octets over time')
  latency, line = run['latencies'][0], tables(process.stdout, LATENCY)[0][0]
  histogram, count = latency['histogram_ps'], latency['count']
  tap.ok(sum(n for _, n in histogram) == count == 900, 'the histogram has all of them', count)
  for column, key, share in (('t_typical[usec]', 'p50_ns', .5), ('99% percentile[usec]', 'p99_ns', .99),
                             ('99.9% percentile[usec]', 'p99.9_ns', .999)):
    low = percentile(histogram, count, share) / 1000
    in_bucket = low <= latency[key] <= low * (1 + 1 / 128) + 0.001
    tap.ok(abs(line[column] - latency[key] / 1000) < 0.001 and in_bucket,
           f'{key}: on the screen, in the file, in the histogram', (line, latency[key], low))
  mean = sum(low * n for low, n in histogram) / count / 1000
  tap.ok(mean <= latency['mean_ns'] <= mean * (1 + 1 / 128), 'mean', (mean, latency['mean_ns']))


def hgrm(tap, perf):
  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'x.hgrm')
    process, result = perf.json('read_lat', '-n', '2000', '--rate', '1M', '--hgrm', path)
    with open(path, encoding='utf-8') as file:
      lines = file.read().splitlines()
  head = ['Value', 'Percentile', 'TotalCount', '1/(1-Percentile)']
  tap.ok(process.returncode == 0 and lines[0].split() == head,
         'hgrm: head', why(process))
  rows = [[float(w) for w in line.split()] for line in lines[2:] if not line.startswith('#')]
  pairs = list(zip(rows, rows[1:]))
  tap.ok(len(rows) > 20 and all(a[0] <= b[0] and a[1] < b[1] and a[2] <= b[2] for a, b in pairs),
         'hgrm: ascending', rows)
  tap.ok(all(r[2] >= r[1] * 2000 - 1e-6 for r in rows), 'hgrm: as many values as the percentile says')
  tap.ok(all(abs(r[3] * (1 - r[1]) - 1) < 0.01 for r in rows[:-1]) and rows[-1][1:] == [1.0, 2000],
         'hgrm: the last line is all of them', rows[-1])
  intended = [s for s in result['runs'][0]['latencies'] if s['latency'] == 'from_intended_start'][0]
  tap.ok(abs(rows[-1][0] - intended['max_ns'] / 1000) < 0.001, 'hgrm: from the intended start', rows[-1])
  foot = [line for line in lines if line.startswith('#[')]
  tap.ok(len(foot) == 3 and foot[1].startswith('#[Max') and 'Total count    =         2000]' in foot[1],
         'hgrm: foot', foot)


def configuration(tap, perf, emu):
  """The configuration of a result is a fabric file: memfab-emu finds the same latencies."""
  for args in (['read_lat', '-D', '100us'], ['mixed', '-n', '100', '-q', '3'],
               ['read_lat', '-n', '50', '--rate', '1M']):
    _, result = perf.json(*args)
    with tempfile.TemporaryDirectory() as folder:
      path = os.path.join(folder, 'config.json')
      with open(path, 'w', encoding='utf-8') as file:
        json.dump(result['runs'][0]['config'], file)
      process, again = emu.result('--clock', 'virtual', path)
    name = ' '.join(args)
    if not tap.ok(process.returncode == 0 and again is not None, f'{name}: memfab-emu takes it',
                  why(process)):
      continue
    kinds = again['result']['operations']['kinds']
    for s in result['runs'][0]['latencies']:
      if s['latency'] in ('round_trip', 'acknowledged_round_trip'):
        tap.ok(text_of(kinds[s['operation']]['latency']['histogram_ps']) == json.dumps(s['histogram_ps']),
               f"{name}: the same histogram of {s['operation']}")


def main(program, emulator, root):
  perf, tap = Perf(program, root), Tap()
  schemas(tap, perf)
  same_figures(tap, perf)
  hgrm(tap, perf)
  configuration(tap, perf, Emu(emulator, root))
  tap.done()


main(*sys.argv[1:])
