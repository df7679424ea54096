#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""memfab-report as a person runs it: tiny sets of figures, whole and in shards; results; bad input."""
import csv
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

REPORT, EMU, PERF, ROOT = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Emu, Tap, why

try:
  import jsonschema
except ImportError:
  jsonschema = None

TAP = Tap()
SHARDED = ('table1', '5', '512')  # EDM alone, but for a part of Table 1


def report(*args, timeout=600):
  return subprocess.run([REPORT, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                        timeout=timeout, check=False)


def figures(folder, *args):
  return report('figures', '--size', 'tiny', '--emu', EMU, '-o', folder, *args)


def read(*path):
  with open(os.path.join(*path), encoding='utf-8') as file:
    return file.read()


def errors(schema, value):
  validator = jsonschema.validators.validator_for(schema)
  return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}"
          for e in validator(schema).iter_errors(value)]


def of_schema(content):
  if jsonschema is None:
    return TAP.skip('figures.json is as its schema says', 'python3-jsonschema is not installed')
  schema = json.loads(read(ROOT, 'docs', 'report.schema.json'))
  bad = errors(schema, content)
  TAP.ok(not bad, 'figures.json is as its schema says', '\n'.join(bad[:9]))
  content['result']['figures'][0]['points'][0]['surprise'] = 1
  TAP.ok(errors(schema, content), 'the schema refuses what it does not know')


def rows(folder):
  with open(os.path.join(folder, 'figures.csv'), encoding='utf-8', newline='') as file:
    return list(csv.DictReader(file))


def whole(folder):
  """A set in one go. What is missing is named, and is why the exit status is 1."""
  process = figures(folder, '--only', *SHARDED, '8a')
  content = json.loads(read(folder, 'figures.json'))
  points = [p for figure in content['result']['figures'] for p in figure['points']]
  lost = [p for p in points if p['missing']]
  TAP.ok(process.returncode == (1 if lost else 0), 'the exit status says whether cells are missing',
         why(process))
  said = process.stderr.splitlines()
  TAP.ok(all(any(p['figure'] in line and p['series'] in line and p['missing'] in line for line in said)
             for p in lost), 'every missing cell is named with its reason', process.stderr)
  TAP.ok(all(p['missing'] is None for p in points if p['series'] == 'edm'), 'none of EDM is missing',
         lost[:3])
  for p in points:
    if p['figure'] in ('table1', '5') and p['series'] == 'edm' and p['published']:
      if abs(p['mean'] - p['published']) > 0.01:
        TAP.ok(False, f'{p["panel"]}, {p["x"]}: as in the paper', p)
  TAP.ok(len(rows(folder)) == len(points), 'a line of CSV a cell')
  TAP.ok({line['id'] for line in csv.DictReader(read(folder, 'runs.csv').splitlines())}
         == content['result']['runs'].keys(), 'every run in the CSV')
  page = read(folder, 'figures.html')
  TAP.ok(all(word not in page for word in ('http:', 'https:', '<script', '@import', 'url(//')), 'the page '
                                                                                                'fetches '
                                                                                                'nothing')
  of_schema(content)


def clio(folder):
  """All figures of a system. What is published is said to be, and where."""
  process = figures(folder, '--only', 'clio')
  content = json.loads(read(folder, 'figures.json'))
  keys = [figure['key'] for figure in content['result']['figures']]
  TAP.ok(process.returncode == 0 and keys == ['clio-4', 'clio-5', 'clio-6', 'clio-12', 'clio-13'],
         '--only clio: all of its figures', why(process))
  points = [p for figure in content['result']['figures'] for p in figure['points']]
  TAP.ok(not any(p['missing'] for p in points), '--only clio: no cell is missing', process.stderr)
  TAP.ok(all(figure['source'] and figure['why'] for figure in content['result']['figures']),
         '--only clio: sources, and why it differs')
  levels_of_clio(points)
  counts_of_clio(points)
  of_schema(content)


def values(points, figure, panel, series=None, x=None):
  return [p['mean'] for p in points if (p['figure'], p['panel']) == (figure, panel)
          and series in (None, p['series']) and x in (None, p['x'])]


def levels_of_clio(points):
  """Two latencies with the step at the size of the TLB, an access to DRAM (82 ns) apart."""
  for figure, sizes in (('clio-4', (1, 16, 17)), ('clio-5', (1, 16, 32))):
    for kind in ('read', 'write'):
      found = [values(points, figure, 'latency', kind, size) for size in sizes]
      TAP.ok(all(len(one) == 1 for one in found) and found[0] == found[1]
             and abs(found[2][0] - found[1][0] - 82) < 1e-6, f'{figure}: two levels of a {kind}', found)
  for figure, panel in (('clio-5', 'step'), ('clio-6', 'more')):
    found = values(points, figure, panel, x='miss over hit, accesses to DRAM')
    TAP.ok(len(found) == 2 and all(abs(one - 1) < 1e-9 for one in found), f'{figure}: a miss', found)
  found = values(points, 'clio-6', 'more', x='first access over miss, cycles')
  TAP.ok(len(found) == 2 and all(abs(one - 3) < 1e-9 for one in found), 'clio-6: a first access', found)


def counts_of_clio(points):
  """Allocation: longer ranges take longer, and no request has a retry below half."""
  for series in ('as the compute node sees it', 'slow path alone'):
    found = values(points, 'clio-12', 'addresses: time', series)
    TAP.ok(0 < found[0] < found[-1], f'clio-12: {series}', found)
  found = values(points, 'clio-12', 'physical pages', x='first accesses that found none')
  TAP.ok(found == [0], 'clio-12: the ring has a page each time', found)
  half = values(points, 'clio-13', 'retries a request', x='to 50 %')
  full = values(points, 'clio-13', 'retries a request', x='99 %')
  TAP.ok(half == [0, 0, 0] and 0 < full[0] < full[1] < full[2], 'clio-13: retries', (half, full))


def edm(folder):
  """Of the other system, a few of many parts."""
  process = figures(folder, '--only', 'edm', '--shard', '1/400')
  found = json.loads(read(folder, 'plan.json'))
  TAP.ok(process.returncode == 0 and found['figures'] == ['table1', '5', '6', '7', '8a', 'mechanisms', '8b',
                                                          'sensitivity', '512'], '--only edm: its figures',
         why(process))


def shards(folder):
  """The same in three parts, made in any order, is the same."""
  parts = [os.path.join(folder, f'part{i}') for i in (3, 1, 2)]
  for part in parts:
    process = figures(part, '--only', *SHARDED, '--shard', f'{part[-1]}/3')
    TAP.ok(process.returncode == 0 and not os.path.exists(os.path.join(part, 'figures.html')),
           f'shard {part[-1]}/3', why(process))
  one, merged = os.path.join(folder, 'one'), os.path.join(folder, 'merged')
  process = figures(one, '--only', *SHARDED, '--jobs', '1')
  again = report('merge', *parts, '-o', merged)
  TAP.ok(again.returncode == process.returncode and again.stderr == process.stderr, 'merged as in one go',
         why(again))
  same = [json.loads(read(f, 'figures.json'))['result'] for f in (one, merged)]
  TAP.ok(same[0] == same[1], 'the same cells')
  TAP.ok(read(one, 'figures.csv') == read(merged, 'figures.csv'), 'the same CSV')
  TAP.ok(read(one, 'runs.csv') == read(merged, 'runs.csv'), 'the same runs')
  sections = [read(f, 'figures.html').partition('<section id="origin">')[0] for f in (one, merged)]
  TAP.ok(sections[0] == sections[1], 'the same page, but for the machine')
  broken(folder, parts)


def batch(folder):
  """The examples for batch systems."""
  options = ('--size', 'tiny', '--only', '5', '--emu', EMU)

  def started(name, *args, **more):
    return subprocess.run([os.path.join(ROOT, 'examples', 'batch', name), *args, *options], check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
                          env={**os.environ, 'MEMFAB_REPORT': REPORT, **more})
  tasks = [started('slurm.sh', folder, SLURM_ARRAY_TASK_ID=i, SLURM_ARRAY_TASK_COUNT='2') for i in '12']
  TAP.ok(all(task.returncode == 0 for task in tasks), 'Slurm: the tasks of an array',
         '\n'.join(map(why, tasks)))
  process = report('merge', os.path.join(folder, 'shard-1'), os.path.join(folder, 'shard-2'), '-o', folder)
  TAP.ok(process.returncode == 0, 'Slurm: merged', why(process))
  if shutil.which('parallel') is None:
    return TAP.skip('GNU parallel', 'it is not installed')
  process = started('parallel.sh', '2', os.path.join(folder, 'parallel'))
  TAP.ok(process.returncode == 0, 'GNU parallel', why(process))


def one_line(process, says, status=2):
  return process.returncode == status and says in process.stderr and process.stderr.count('\n') == 1


def broken(folder, parts):
  target = os.path.join(folder, 'target')
  for given, says in ((parts[:2], 'shard 2/3 is missing'), (parts + parts[:1], 'named twice'),
                      ([folder], 'not a finished shard')):
    process = report('merge', *given, '-o', target)
    TAP.ok(one_line(process, says) and not os.path.exists(target), f'merge: {says}', why(process))
  process = report('merge', *parts, '-o', parts[1])
  TAP.ok(one_line(process, 'is the same file as') and 'figures.html' not in os.listdir(parts[1]),
         'merge into one of the shards', why(process))
  mine = json.loads(read(parts[0], 'plan.json'))['mine']
  os.unlink(os.path.join(parts[0], 'runs', mine[0] + '.json'))
  process = report('merge', *parts, '-o', target)
  TAP.ok(one_line(process, f'{mine[0]}.json: missing'), 'merge: a shard that lost a run', why(process))


def usage(folder):
  quick = ('--only', 'table1')
  blocked = os.path.join(folder, 'file')
  with open(blocked, 'w', encoding='utf-8') as file:
    file.write('[1]')
  for args, says in (
      ((), 'required'), (('draw',), 'invalid choice'), (('figures', '--size', 'big'), 'invalid choice'),
      (('figures', '--shard', '4/3'), 'not i/n'), (('figures', '--shard', '0/3'), 'not i/n'),
      (('figures', '--shard', 'x'), 'not i/n'), (('figures', '--jobs', '0'), 'not a number above 0'),
      (('figures', '--jobs', '1_0'), 'not a number above 0'),
      (('figures', '--jobs', ' 2'), 'not a number above 0'),
      (('figures', '--timeout', '1e-1_0'), 'not a number above 0'),
      (('figures', '--timeout', '+5'), 'not a number above 0'),
      (('figures', '--only', '9'), 'unknown figure "9"'), (('figures', '--only'), 'expected'),
      (('figures', '--emu', blocked), 'no such program'), (('show', '/nonexistent'), 'No such file'),
      (('show', blocked), 'neither a result'), (('show', blocked, blocked), 'named twice'),
      (('figures', *quick, '--size', 'tiny', '--emu', EMU, '-o', blocked), blocked)):
    process = report(*args)
    TAP.ok(one_line(process, says), f'bad input: {" ".join(args)[:60]}', why(process))
  for args in (('--help',), ('figures', '--help'), ('--version',)):
    process = report(*args)
    TAP.ok(process.returncode == 0 and process.stdout, ' '.join(args), why(process))


def without_program(folder):
  """A program that fails, one that writes nothing, one that does not end."""
  path = os.path.join(folder, 'emu')
  for script, says in (('echo "it is Tuesday" >&2; exit 2', 'it is Tuesday: exit 2'), ('true', 'wrote no '
                                                                                               'result'),
                       ('sleep 60', 'took longer than 0.5 s')):
    with open(path, 'w', encoding='utf-8') as file:
      file.write(f'#!/bin/sh\n{script}\n')
    os.chmod(path, 0o755)
    process = report('figures', '--size', 'tiny', '--only', '5', '--emu', path, '-o', folder, '--timeout',
                     '0.5')
    TAP.ok(process.returncode == 1 and says in process.stderr, f'a program that does: {script[:20]}',
           why(process))


def interrupted(folder):
  """Ctrl-C: the page has what was made."""
  process = subprocess.Popen([REPORT, 'figures', '--quick', '--only', '8b', '--emu', EMU, '-o', folder],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
  end = time.monotonic() + 60
  while time.monotonic() < end and not glob.glob(os.path.join(folder, 'runs', '*.json')):
    time.sleep(0.05)
  process.send_signal(signal.SIGINT)
  out, err = process.communicate(timeout=600)
  TAP.ok(process.returncode == 130 and 'was not run' in err and 'figures.html' in out, 'Ctrl-C',
         f'{out}\n{err[-999:]}')


def show(folder):
  """Results of both programs side by side."""
  emu = Emu(EMU, ROOT)
  mine, theirs = (os.path.join(folder, name) for name in ('emu.json', 'perf.json'))
  example = emu.example('quickstart')
  emu.run('--clock', 'virtual', '--warmup', '5us', '--duration', '50us', '--json', mine, example)
  subprocess.run([PERF, 'read_lat', '--clock', 'virtual', '-n', '20', '-a', '--out_json', theirs, example],
                 stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=600)
  process = report('show', mine, theirs, '-o', folder)
  TAP.ok(process.returncode == 0, 'show', why(process))
  content = json.loads(read(folder, 'show.json'))
  result = json.loads(read(mine))['result']
  shown = next(r for r in content['runs'] if r['file'] == 'emu.json')
  key = ('read', 'from submission to completion')
  latency = next(l for l in shown['latencies'] if (l['operation'], l['from_to']) == key)
  p99 = result['operations']['kinds']['read']['latency']['p99_ns']
  TAP.ok(latency['p99_ns'] == p99, 'show: the percentiles', (latency, p99))
  TAP.ok(len([r for r in content['runs'] if r['file'] == 'perf.json']) > 10, 'show: every size')
  TAP.ok('<svg' in read(folder, 'show.html') and 'http' not in read(folder, 'show.html'), 'show: the page')


with tempfile.TemporaryDirectory() as scratch:
  for test in (whole, clio, edm, shards, batch, usage, without_program, interrupted, show):
    place = os.path.join(scratch, test.__name__)
    os.mkdir(place)
    test(place)
TAP.done()
