#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""memfab-perf in real time: every test ends soundly, Ctrl-C ends with a report. Nothing depends on speed."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

from perf import BANDWIDTH, LATENCY, Perf, Tap, tables, why

TABLE = 'NIC statistics for port 0 '
MEASURED = 20  # packets that all ports together receive after the first table
TRIES = 4
HANGS = 600  # seconds: a test that takes so long, on however busy a machine, does not end
TESTS = [['read_lat', '-n', '50'], ['write_lat', '-D', '100ms'], ['atomic_lat', '-n', '50'],
         ['read_bw', '-n', '40', '-s', '4096'], ['write_bw', '-n', '40', '-s', '4096'],
         ['mixed', '-n', '50', '-q', '2', '--rate', '2k'],
         ['bandwidth_matrix', '-n', '20', '-s', '64', '-q', '1'],
         ['read_lat', '-n', '20', '--pattern', 'incast', '-q', 'all']]


def measured(perf, args):
  """Again where all of the time in which is measured went by without a CPU."""
  for _ in range(TRIES):
    process = perf.run(*args, perf.rack)
    if 'nothing was measured' not in process.stderr:
      break
  return process


def soundly(tap, perf):
  for args in TESTS:
    process = measured(perf, args)
    name = ' '.join(args)
    tap.ok(process.returncode == 0 and process.stderr == '', f'{name}: sound', why(process) + process.stdout)
    tap.ok('wall: what this software does on this machine' in process.stdout, f'{name}: the clock is named')
  write = tables(perf.run('write_lat', '-n', '40', perf.rack).stdout, LATENCY)[0][0]
  tap.ok(write['#iterations'] == 40 and 0 < write['t_min[usec]'] <= write['t_max[usec]'],
         'write_lat: a row', write)
  process = perf.run('write_bw', '-n', '30', perf.rack)
  tap.ok(len(tables(process.stdout, BANDWIDTH)) == 1 and not tables(process.stdout, LATENCY),
         'write_bw: what is not acknowledged has no latency here', process.stdout)


def one_lcore(tap, perf):
  eal = ['--no-huge', '-m', '256', '--no-shconf', '--no-pci', '--no-telemetry', '--file-prefix',
         f'memfab-perf-{os.getpid()}', '--log-level', 'lib.eal:critical', '-l',
         str(min(os.sched_getaffinity(0))), '--']
  process = perf.run(*eal, 'read_lat', '-n', '40', perf.rack)
  tap.ok(process.returncode == 0 and '40 operations measured' in process.stdout, 'all roles on one lcore',
         why(process))


def bad_eal(tap, perf):
  """EAL's options: the last line says what is wrong and what to do, and EAL's usage does not bury it"""
  prefix = f'memfab-perf-{os.getpid()}'
  good = ['--no-huge', '-m', '256', '--no-pci', '--no-telemetry', '--file-prefix', prefix]
  holder = subprocess.Popen([perf.program, *good, '--', '-i', perf.rack], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
  holder.stdout.read(1)  # of its prompt: EAL is up
  cases = {'--no-huge and --in-memory': (['--no-huge', '--in-memory'], 2, '--no-shconf in its place'),
           'an unknown option': (['--no-huge', '--no-such-option'], 2, 'its lines above say why'),
           'a secondary process': ([*good, '--proc-type=secondary'], 2, 'is a primary process'),
           'no hugepages': (['--huge-dir', '/nowhere', '--no-shconf', '--no-pci'], 1, '--no-huge -m 512'),
           "another one's file prefix": (good, 1, 'another process has this --file-prefix')}
  for name, (eal, code, says) in cases.items():
    process = perf.run(*eal, '--', 'read_lat', '-n', '10', perf.rack)
    last = process.stderr.splitlines()[-1]
    tap.ok(process.returncode == code and process.stdout == '' and says in last
           and last.startswith("memfab-perf: cannot start DPDK's EAL"), f'EAL: {name}', why(process))
  holder.communicate(b'quit\n', timeout=600)
  process = perf.run('--help', '--', 'read_lat', perf.rack)
  tap.ok(process.returncode == 0 and '--no-huge' in process.stdout, "EAL's own usage, if asked for",
         why(process))


def schema(tap, perf):
  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'result.json')
    process = perf.run('mixed', '-n', '40', '--out_json', path, perf.rack)
    with open(path, encoding='utf-8') as file:
      result = json.load(file)
  kinds = {(s['operation'], s['latency']) for s in result['runs'][0]['latencies']}
  tap.ok(process.returncode == 0 and kinds == {('read', 'round_trip'),
                                               ('write_ack', 'acknowledged_round_trip')},
         'mixed: writes are acknowledged', kinds)
  tap.ok(result['test']['clock'] == 'wall' and result['runs'][0]['run']['placement'] != '', 'JSON: placement')
  try:
    import jsonschema
  except ImportError:
    tap.skip('JSON: as the schema says', 'python3-jsonschema is not installed')
    return
  with open(os.path.join(perf.root, 'docs', 'perf.schema.json'), encoding='utf-8') as file:
    schema_json = json.load(file)
  errors = list(jsonschema.validators.validator_for(schema_json)(schema_json).iter_errors(result))
  tap.ok(not errors, 'JSON: as the schema says', errors[:3])


def until_measured(stdout):
  """Reads tables, the first of which comes after the warm-up, until operations have gone on after it. @return
  what was read"""
  out = ''
  while line := stdout.readline():
    out += line
    if TABLE not in line:
      continue
    whole = out.split(TABLE)[1:-1]
    received = [sum(map(int, re.findall(r'RX-packets: *(\d+)', table))) for table in whole]
    if whole and received[-1] >= received[0] + MEASURED:
      break
  return out


def interrupt(tap, perf, number):
  process = subprocess.Popen([perf.program, 'read_lat', '-D', '100', '--stats-period', '0.3', perf.rack],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)
  hangs = threading.Timer(HANGS, process.kill)
  hangs.start()
  out = until_measured(process.stdout)
  process.send_signal(number)
  out += process.stdout.read()
  err = process.stderr.read()
  process.wait()
  hangs.cancel()
  tap.ok(process.returncode == 0 and 'interrupted' in out and 'operations measured' in out,
         f'{number.name} ends the test with its report', f'exit {process.returncode}\n{err}\n{out[-2000:]}')
  tap.ok('NIC statistics for port 0' in out, '--stats-period without a prompt', out[-2000:])


def interrupt_warmup(tap, perf):
  """What has not come to be measured when it is interrupted, says so."""
  with subprocess.Popen([perf.program, 'read_lat', '--warmup', '1h', '--stats-period', '0.1', perf.rack],
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        text=True) as process:
    while 'NIC statistics' not in (line := process.stdout.readline()) and line:
      pass
    process.send_signal(signal.SIGINT)
    try:
      _, err = process.communicate(timeout=600)
    except subprocess.TimeoutExpired:
      process.kill()
      err = process.communicate()[1]
  said = [line for line in err.replace('\r', '\n').split('\n') if line.startswith('memfab-perf: ')]
  tap.ok(process.returncode == 1 and len(said) == 1 and 'interrupted in the warm-up' in said[0],
         'interrupted in the warm-up: a line says so', f'exit {process.returncode}\n{err}')


def main(program, _, root):
  perf, tap = Perf(program, root), Tap()
  process = perf.run('read_lat', '-n', '10', perf.rack)
  if 'EAL' in process.stderr:
    print(f'1..0 # SKIP {process.stderr.strip().splitlines()[-1]}')
    sys.exit(0)
  soundly(tap, perf)
  one_lcore(tap, perf)
  bad_eal(tap, perf)
  schema(tap, perf)
  for number in (signal.SIGINT, signal.SIGTERM):
    interrupt(tap, perf, number)
  interrupt_warmup(tap, perf)
  tap.done()


main(*sys.argv[1:])
