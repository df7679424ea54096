#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
'''Whole fabrics at bit error rates: tables of what operations make of them (docs/bit-errors.md).

usage: fabrics.py MEMFAB-EMU MEMFAB-CHAOS [DURATION]      of virtual time, with its unit: 4ms
'''
import json
import os
import subprocess
import sys
import tempfile

RATES = [0, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4]


def fabric(rate, check, duration, disable, retries):
  host = {'read_timeout': '100us', 'write_timeout': '100us'}
  if retries:
    host.update(retries)
  file = {
    'seed': 11,
    'proto': {'check': check},
    'clock': {'virtual': {'warmup': '20us', 'duration': duration, 'drain': '20ms'}},
    'nodes': [{'name': 'c', 'role': 'compute', 'count': 8}, {'name': 'm', 'role': 'memory', 'count': 4}],
    'host': host,
    'switch': {'grant_timeout': '40us', 'hold_timeout': '5us'},
    'workload': [{'mix': {'read': 2, 'write_ack': 1}, 'size': 64, 'depth': 16, 'span': '64KiB'}],
  }
  if retries: # no order of a pair is promised, which verifying counts on: the history is searched for one
    file['workload'][0]['verify'] = False
  if disable is not None:
    file['link'] = {'disable': disable}
  if rate > 0:
    file['faults'] = [{'class': 'bit', 'rate': rate, 'idle': False}]
  return file


def run(emu, chaos, file):
  with tempfile.TemporaryDirectory() as folder:
    path, out, history = (os.path.join(folder, name) for name in ('fabric.json', 'result.json', 'run.hist'))
    with open(path, 'w', encoding='utf-8') as f:
      json.dump(file, f)
    commands = [[emu, '--clock', 'virtual', '--json', out, path]]
    if not file['workload'][0].get('verify', True):
      commands[0][1:1] = ['--history', f'{history},room=2GiB']
      commands.append([chaos, '--history', history])
    for command in commands:
      done = subprocess.run(command, capture_output=True, text=True, check=False)
      if done.returncode != 0:
        sys.exit(f'{json.dumps(file)}\n{done.stdout[-1000:]}{done.stderr}')
    with open(out, encoding='utf-8') as f:
      return json.load(f)['result']


def can_retry(emu):
  '''Whether there are retries, and how they are asked for.'''
  keys = {'retries': 3, 'retry_timeout': '30us'}
  with tempfile.NamedTemporaryFile('w', suffix='.json') as f:
    json.dump(fabric(0, 16, '10us', None, keys), f)
    f.flush()
    done = subprocess.run([emu, '--check', f.name], capture_output=True, check=False)
  return keys if done.returncode == 0 else None


def goodput(result):
  return sum(k['goodput_gbps'] for k in result['operations']['kinds'].values())


def row(rate, check, result, whole):
  ops, none = result['operations'], {'checked': 0, 'damaged': 0, 'aborted': 0, 'undetected': 0}
  checks, disabled = result.get('checks', none), result.get('disabled', {'links': []})
  done = ops['completed_all'] + ops['failed_all']
  read = ops['kinds']['read']['latency']
  cells = [f'{rate:.0e}' if rate else 'none', str(check), str(result.get('faults', {}).get('bit', 0)),
           f'{checks["checked"]:,}', str(checks['damaged'] + checks['aborted']), str(checks['undetected']),
           f'{done:,}', f'{ops["failed_all"]:,} ({100 * ops["failed_all"] / done:.2g} %)',
           f'{goodput(result):.2f}', f'{100 * goodput(result) / whole:.1f} %', f'{read["p50_ns"]:.0f}',
           f'{read["p99_ns"]:.0f}', str(sum(link['disabled'] for link in disabled['links']))]
  print('| ' + ' | '.join(cells) + ' |', flush=True)


def table(emu, chaos, duration, title, disable, retries):
  head = ['rate', 'check', 'bits wrong', 'checked', 'damaged', 'undetected', 'operations', 'failed', 'Gb/s',
          'of that without', 'read p50, ns', 'p99, ns', 'links disabled']
  print(f'\n## {title}\n\n| ' + ' | '.join(head) + ' |\n|' + ' --- |' * len(head))
  for check in (16, 32):
    whole = None
    for rate in RATES:
      result = run(emu, chaos, fabric(rate, check, duration, disable, retries))
      whole = whole or goodput(result)
      row(rate, check, result, whole)


def main():
  (emu, chaos), duration = sys.argv[1:3], sys.argv[3] if len(sys.argv) > 3 else '4ms'
  retries = can_retry(emu)
  print(f'12 nodes at 25 Gb/s, 64 B, two reads to a write, 16 of a node under way; {duration}, seed 11')
  table(emu, chaos, duration, 'Operations fail', None, None)
  table(emu, chaos, duration, 'Links are disabled', {'bad': 4, 'within': '1ms'}, None)
  if retries:
    table(emu, chaos, duration, 'Operations are sent again', None, retries)


main()
