#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Wall clock: quickstart in real time, Ctrl-C, and results by the schema. Skipped where EAL cannot start."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from emu import Emu, Tap, stood_still, why

STARTS = 300  # seconds that starting may take on a busy machine


def check_schema(tap, root, result):
  try:
    import jsonschema
  except ImportError:
    tap.skip('as the schema says', 'python3-jsonschema is not installed')
    return
  with open(os.path.join(root, 'docs', 'result.schema.json'), encoding='utf-8') as file:
    schema = json.load(file)
  errors = [e.message[:200] for e in
            jsonschema.validators.validator_for(schema)(schema).iter_errors(result)]
  tap.ok(not errors, 'as the schema says', '\n'.join(errors))


def patient(emu, name, folder, **workload):
  """An example whose timers and drain are for what is lost, however long it waits for a CPU."""
  with open(emu.example(name), encoding='utf-8') as file:
    config = json.load(file)
  config.setdefault('host', {}).update(read_timeout='300s', write_timeout='300s')
  config.setdefault('switch', {}).update(grant_timeout='300s', hold_timeout='300s')
  config.setdefault('clock', {}).setdefault('wall', {})['drain'] = '300s'
  config['workload'][0] |= workload
  if 'trace' in config['workload'][0]:
    config['workload'][0]['trace'] = os.path.join(os.path.dirname(emu.example(name)),
                                                  config['workload'][0]['trace'])
  path = os.path.join(folder, f'{name}.json')
  with open(path, 'w', encoding='utf-8') as file:
    json.dump(config, file)
  return path


def quickstart(tap, emu, root, folder):
  process, both = emu.result('--duration', '1s', patient(emu, 'quickstart', folder))
  if not tap.ok(process.returncode == 0 and both is not None, 'quickstart is sound', why(process)):
    return
  result = both['result']
  tap.ok(process.stdout.startswith('WALL CLOCK: '), 'labelled as what it is', process.stdout[:200])
  tap.ok(process.stderr == '', 'quiet', process.stderr)
  kinds = result['operations']['kinds']
  tap.ok(set(kinds) == {'read', 'write', 'cas'} and all(k['completed'] == k['begun'] > 0
                                                        for k in kinds.values()), 'all completed', kinds)
  tap.ok(result['operations']['mismatches'] == 0 and result['operations']['verified'] > 0,
         'every result verified')
  frames = result['frames']
  tap.ok(frames['sent'] == frames['received'] > 0, 'no frame lost', frames)
  measured = result['time']['measured_to_ps'] - result['time']['measured_from_ps']
  late = stood_still(result)  # what began, or was over, that much later
  if both['run']['oversubscribed'] and measured < 0.5e12:
    tap.skip('measured for as long as was asked', f'{measured / 1e9:.0f} ms: others had the CPUs')
  else:
    tap.ok(0.5e12 - late < measured < 3e12 + late, 'measured for as long as was asked',
           (result['time'], late))
  check_schema(tap, root, both)


def enough(emu, path, durations):
  """Longer where so short a time was not enough for a hundred operations."""
  for duration in durations:
    process, both = emu.result('--duration', duration, path)
    if both is None or both['result']['operations']['begun_all'] > 100:
      break
  return process, both


def workloads(tap, emu, root, folder):
  """A store and a trace in real time: all of it completes, and is what was written."""
  for name, durations in {'ycsb-a': ('300ms', '3s', '30s'), 'trace': ('50ms',)}.items():
    process, both = enough(emu, patient(emu, name, folder), durations)
    if not tap.ok(process.returncode == 0 and both is not None, f'{name} is sound', why(process)):
      continue
    done = both['result']['operations']
    tap.ok(done['begun_all'] == done['completed_all'] > 100 and done['verified'] > 0 == done['mismatches'],
           f'{name}: all completed and verified', done)
    check_schema(tap, root, both)


def limited(tap, emu, folder):
  """Clients that stop after so many operations end the run, long before its duration."""
  path = patient(emu, 'long-reads-25g', folder, operations=200)
  process, both = emu.result('--warmup', '100ms', '--duration', '1000s', path)
  ends = process.returncode in (0, 1) and both is not None
  if not tap.ok(ends, 'a limit of operations: ends', why(process)):
    return
  done, at = both['result']['operations'], both['result']['time']
  tap.ok(done['begun_all'] == done['completed_all'] == 200, 'a limit of operations: all are done', done)
  tap.ok(at['measured_to_ps'] < 500e12, 'a limit of operations: is not waited for more', at)


def interrupted(args, number, seconds):
  """A run that is sent a signal after so long, and what it said; None: it did not end."""
  process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
  time.sleep(seconds)
  process.send_signal(number)
  try:
    return process, *process.communicate(timeout=STARTS)
  except subprocess.TimeoutExpired:
    process.kill()
    process.communicate()
    return None


def interrupt(tap, emu, number):
  """Ctrl-C ends the run soon, with a report and a sound result."""
  with tempfile.TemporaryDirectory() as folder:
    path, fabric = os.path.join(folder, 'result.json'), patient(emu, 'quickstart', folder)
    for seconds in (2, 20, 60):  # until which a busy machine may not have begun to measure
      ended = interrupted([emu.program, '--duration', '1000s', '--json', path, fabric], number, seconds)
      if ended is None or ended[0].returncode == 0:
        break
    if ended is None:
      tap.ok(False, f'{number.name} ends the run', 'it did not')
      return
    process, out, err = ended
    text = ''
    if os.path.exists(path):
      with open(path, encoding='utf-8') as file:
        text = file.read()
  tap.ok(process.returncode == 0 and 'interrupted' in out, f'{number.name} ends the run with a report',
         f'exit {process.returncode}\n{err}\n{out[-500:]}')
  tap.ok(text != '' and json.loads(text)['run']['interrupted'] is True, f'{number.name}: result', text[:200])


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  process = emu.run('--duration', '10ms', '--warmup', '0', emu.example('quickstart'))
  if 'EAL' in process.stderr:
    print(f'1..0 # SKIP {process.stderr.strip().splitlines()[-1]}')
    sys.exit(0)
  with tempfile.TemporaryDirectory() as folder:
    quickstart(tap, emu, root, folder)
    workloads(tap, emu, root, folder)
    limited(tap, emu, folder)
  for number in (signal.SIGINT, signal.SIGTERM):
    interrupt(tap, emu, number)
  tap.done()


main(*sys.argv[1:])
