#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every example runs by the virtual clock, is sound, and keeps within its bounds; shortened."""
import json
import os
import sys
import tempfile

from emu import Emu, Tap, why

TIMES = {'rack144': ('2us', '5us')}  # warm-up, duration; by the beginning of the name
OTHERS = ('10us', '200us')


def bounded(result):
  """The claims that hold for every run of EDM: D3's backlog, 3.1.4's bounded queues, nothing left behind."""
  if 'scheduler' not in result:
    return True
  backlog, sched = result['backlog'], result['scheduler']
  return (backlog['egress_memory_blocks_max'] <= backlog['egress_memory_blocks_bound']
          and sched['queue_max'] <= sched['queue_bound'] and sched['entries_left'] == 0)


def dropped(result):
  return sum(sum(causes.values()) for causes in result['drops'].values())


def table1(tap, result):
  """Table 1 and Figure 5: nothing of the time is left unexplained, to the picosecond."""
  for kind in ('read', 'write'):
    stages = result['stages'][kind]
    rows = [row for row in stages['table'] if row['ns'] != row['paper_ns']]
    tap.ok(stages['table'] and not rows, f'table1: {kind}, as in the paper', rows)
    line = stages['timeline']
    tap.ok(all(a['to_ps'] == b['from_ps'] for a, b in zip(line, line[1:])) and
           line[-1]['to_ps'] == stages['sum']['sum_ps'], f'table1: {kind}, no gap', line)
  tap.ok(result['stages']['operations_with_gaps'] == 0 and result['stages']['operations_that_differ'] == 0,
         'table1: every message alike')
  latency = result['operations']['kinds']['read']['latency']
  tap.ok(latency['min_ns'] == latency['max_ns'] == result['stages']['read']['sum']['sum_ps'] / 1000,
         'table1: the sum is what was measured', latency)


def free_ports(tap, emu):
  """A switch may have ports that nothing is at: between others, behind them, with frames."""
  nodes = [{'name': 'c', 'role': 'compute'}, {'name': 'm', 'role': 'memory'}]
  links = [{'node': 'c', 'port': 3}, {'node': 'm', 'port': 5, 'policy': 'fifo'}]
  with tempfile.TemporaryDirectory() as folder:
    for name, more in (('between', {'links': links}), ('behind', {'switch': {'ports': 8}}),
                       ('two switches', {'links': links, 'backup': {}}),
                       ('no load', {'links': links, 'workload': []})):
      path = os.path.join(folder, 'free.json')
      with open(path, 'w', encoding='utf-8') as file:
        json.dump({'nodes': nodes, 'workload': [{}], **more}, file)
      process, both = emu.result('--clock', 'virtual', '--warmup', '1us', '--duration', '20us', path)
      done = both['result']['operations']['completed_all'] if both else 0
      tap.ok(process.returncode == 0 and (done > 0 or name == 'no load'), f'free ports, {name}: sound',
             why(process))
  process = emu.run('--clock', 'virtual', '--warmup', '1us', '--duration', '20us',
                    os.path.join(emu.root, 'tests', 'fabric', 'good', 'groups.json'))
  tap.ok(process.returncode == 0, 'free ports, frames: sound', why(process))


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  free_ports(tap, emu)
  for name in emu.examples():
    warmup, duration = next((t for k, t in TIMES.items() if name.startswith(k)), OTHERS)
    process, both = emu.result('--clock', 'virtual', '--warmup', warmup, '--duration', duration,
                               emu.example(name))
    if not tap.ok(process.returncode == 0 and both is not None, f'{name}: sound', why(process)):
      continue
    result = both['result']
    kinds = result['operations']['kinds'].values()
    tap.ok(kinds and all(k['completed'] == k['begun'] > 0 for k in kinds), f'{name}: all completed', kinds)
    tap.ok(result['operations']['mismatches'] == 0 and result['frames']['missing'] == 0,
           f'{name}: no wrong data, no lost frame')
    tap.ok(bounded(result), f'{name}: within the bounds', (result.get('backlog'), result.get('scheduler')))
    if 'stages' in result:
      table1(tap, result)
    tap.ok(dropped(result) == 0, f'{name}: nothing dropped', result['drops'])
    tap.ok(process.stdout.startswith('VIRTUAL CLOCK: ') and process.stderr == '', f'{name}: report',
           why(process))
    wide = [line for line in process.stdout.splitlines() if len(line) > 100]
    tap.ok(not wide, f'{name}: report fits 100 columns', '\n'.join(wide))
  tap.done()


main(*sys.argv[1:])
