#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The log of messages: it says of each message what the result says of all of them."""
import csv
import json
import os
import sys
import tempfile

from emu import Emu, Tap, why

COLUMNS = ['client', 'target', 'kind', 'size_octets', 'status', 'intended_ps', 'start_ps', 'first_ps',
           'last_ps', 'done_ps']


def write(folder, name, config):
  path = os.path.join(folder, name)
  with open(path, 'w', encoding='utf-8') as file:
    json.dump(config, file)
  return path


def logged(emu, folder, *args):
  """The process, its result, and its log as lines of numbers."""
  path = os.path.join(folder, 'messages.csv')
  process, both = emu.result('--clock', 'virtual', '--messages', path, *args)
  with open(path, encoding='utf-8', newline='') as file:
    table = list(csv.DictReader(file))
  for line in table:
    for key in line:
      if key.endswith('_ps') or key.endswith('_octets'):
        line[key] = int(line[key]) if line[key] else None
  return process, both and both['result'], table


def mean(values):
  return sum(values) / len(values) / 1000


def in_order(line):
  """A write completes at its sender when it has left; all else when its data is there."""
  times = [line[key] for key in ('intended_ps', 'start_ps', 'first_ps', 'last_ps')]
  if line['kind'] != 'write':
    times.append(line['done_ps'])
  return None not in times and times == sorted(times)


def near(a, b):
  return abs(a - b) < 1e-6 * max(abs(a), abs(b))


def same_as_result(emu, tap, folder, name, *args):
  process, result, table = logged(emu, folder, *args)
  if not tap.ok(process.returncode == 0 and table, f'{name}: runs', why(process)):
    return
  tap.ok(list(table[0]) == COLUMNS, f'{name}: columns', list(table[0]))
  bad = [line for line in table if line['status'] != 'ok' or not in_order(line)]
  tap.ok(not bad, f'{name}: every message is whole, its times in order', bad[:3])
  for kind, seen in result['operations']['kinds'].items():
    lines = [line for line in table if line['kind'] == kind]
    took = mean([line['done_ps'] - line['start_ps'] for line in lines])
    tap.ok(len(lines) == seen['completed'] and near(took, seen['latency']['mean_ns']),
           f'{name}: {kind}, number and latency', (len(lines), took, seen['completed'], seen['latency']))
    if 'from_intended_start' in seen:
      took = mean([line['done_ps'] - line['intended_ps'] for line in lines])
      tap.ok(near(took, seen['from_intended_start']['mean_ns']), f'{name}: {kind}, from the intended start')
  writes = [line for line in table if line['kind'] in ('write', 'write_ack')]
  if writes:
    effect = result['delivery']['writes']['effect']
    took = mean([line['last_ps'] - line['start_ps'] for line in writes])
    tap.ok(len(writes) == effect['count'] and near(took, effect['mean_ns']),
           f'{name}: writes, effect at the memory node', (len(writes), took, effect))
  _, _, blocks = logged(emu, folder, '--block-by-block', *args)
  tap.ok(blocks == table, f'{name}: the same block by block')


def open_loop():
  """Transfers of several messages, one after the other at a receiver."""
  return {'nodes': [{'name': 'c', 'role': 'compute', 'count': 3}, {'name': 'm', 'role': 'memory'}],
          'clock': {'virtual': {'warmup': '20us', 'duration': '200us'}},
          'workload': [{'mix': {'read': 1, 'write': 1, 'write_ack': 1, 'fadd': 1}, 'loop': 'open',
                        'size': {'dist': 'list', 'values': [1, 64, 700, 5000, 150000],
                                 'weights': [4, 4, 4, 4, 1]}, 'load': 0.6}]}


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  with tempfile.TemporaryDirectory() as folder:
    same_as_result(emu, tap, folder, 'quickstart', '--duration', '100us', emu.example('quickstart'))
    same_as_result(emu, tap, folder, 'open loop', write(folder, 'open.json', open_loop()))
  tap.done()


if __name__ == '__main__':
  main(*sys.argv[1:])
