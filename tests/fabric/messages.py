#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The log of messages: it says of each message what the result says of all of them."""
import csv
import json
import math
import os
import sys
import tempfile

from emu import Emu, Tap, why

COLUMNS = ['client', 'target', 'kind', 'size_octets', 'status', 'intended_ps', 'start_ps', 'first_ps',
           'last_ps', 'done_ps', 'alone_ps']


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


def alone(emu, tap, folder):
  """A client that does one thing after the other has the fabric for itself."""
  nodes = [{'name': 'c', 'role': 'compute'}, {'name': 'm', 'role': 'memory', 'count': 2},
           {'name': 'far', 'role': 'memory'}]
  links = [{'node': '*'}, {'node': 'far', 'rate': '100G', 'propagation': '1us'}]
  sizes = {'dist': 'list', 'values': [1, 64, 1460, 70000, 200000]}
  for stack, bandwidth in ((None, None), ('ethernet', None), (None, '7G'), ('ethernet', '7G')):
    # An unacknowledged write is over for its client before it has arrived.
    for mix, delay in (({'read': 1, 'cas': 1}, '0'),
                       ({'read': 1, 'write': 1, 'write_ack': 1, 'or': 1}, '1ms')):
      name = f"{stack or 'edm'}, {', '.join(mix)}, alone{', memory of ' + bandwidth if bandwidth else ''}"
      config = {'nodes': nodes, 'links': links,
                'clock': {'virtual': {'warmup': '2ms', 'duration': '50ms'}},
                'workload': [{'mix': mix, 'size': sizes, 'depth': 1, 'delay': delay}]}
      if stack:
        config['stack'] = stack
      if bandwidth:
        config['memory'] = {'bandwidth': bandwidth}
      process, result, table = logged(emu, folder, '--normalised', write(folder, 'alone.json', config))
      if not tap.ok(process.returncode == 0 and table, f'{name}: runs', why(process)):
        continue
      found = result['messages']
      tap.ok(all(figure == 1 for kind in found['kinds'].values() for figure in kind['normalised'].values()),
             f'{name}: normalised is 1', found)
      far = {line['alone_ps'] for line in table if line['target'] == 'far'}
      near_ = {line['alone_ps'] for line in table if line['target'] != 'far'}
      tap.ok(len(table) > 40 and len(far) > 4 and far.isdisjoint(near_),
             f'{name}: another link, another latency', (far, near_))


def percentile(values, share):
  return sorted(values)[math.ceil(share * len(values)) - 1]


def figures_of(figures, values, unit, suffix=''):
  wanted = {'mean': sum(values) / len(values), 'min': min(values), 'max': max(values),
            'p50': percentile(values, .5), 'p99': percentile(values, .99), 'p99.9': percentile(values, .999)}
  return all(-1e-9 <= figures[key + suffix] * unit / value - 1 <= (1 / 16384 if key[0] == 'p' else 1e-9)
             for key, value in wanted.items())


def normalised(emu, tap, folder, name, config):
  """What the result says of all messages is what the log says of each."""
  process, result, table = logged(emu, folder, '--normalised', write(folder, 'normalised.json', config))
  if not tap.ok(process.returncode == 0 and table, f'{name}, normalised: runs', why(process)):
    return
  found = result['messages']
  groups = [('all', found['all'], table)]
  for kind, group in found['kinds'].items():
    groups.append((kind, group, [line for line in table if line['kind'] == kind]))
  for group in found['sizes']:
    low, high = group['from_octets'], group['to_octets']
    groups.append((f'from {low} B', group, [line for line in table if low <= line['size_octets'] <= high]))
  for what, group, lines in groups:
    took = [line['last_ps'] - line['intended_ps'] for line in lines]
    ratio = [t / line['alone_ps'] for t, line in zip(took, lines)]
    tap.ok(group['count'] == len(lines) and group['octets'] == sum(line['size_octets'] for line in lines) and
           figures_of(group['latency'], took, 1000, '_ns') and figures_of(group['normalised'], ratio, 1) and
           near(group['alone_mean_ns'], mean([line['alone_ps'] for line in lines])),
           f'{name}, normalised: {what}', (group, len(lines), ratio[:5]))
  for key in ('kinds', 'sizes'):
    part = found[key].values() if key == 'kinds' else found[key]
    tap.ok(sum(group['count'] for group in part) == found['whole'] == len(table),
           f'{name}, normalised: {key}')
  distinct = {(line['kind'], line['size_octets']) for line in table}
  tap.ok(found['measured_alone'] == len(distinct), f'{name}, normalised: each kind and size once',
         (found['measured_alone'], len(distinct)))
  tap.ok(found['all']['normalised']['min'] >= 1 and found['all']['normalised']['mean'] > 1.01,
         f'{name}, normalised: load makes slower', found['all'])


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
    same_as_result(emu, tap, folder, 'with normalised latency', '--normalised',
                   write(folder, 'open.json', open_loop()))
    normalised(emu, tap, folder, 'open loop', open_loop())
    alone(emu, tap, folder)
  tap.done()


if __name__ == '__main__':
  main(*sys.argv[1:])
