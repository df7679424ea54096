#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every operation that was offered is counted as what became of it; load and saturation."""
import os
import sys
import tempfile

from emu import Emu, Tap, why
from messages import logged, write

PHASES = ('warmup', 'steady', 'drain')


def fabric(load, drain='1ms', **workload):
  return {'nodes': [{'name': 'n', 'role': 'both', 'count': 8}], 'link': {'rate': '100G'},
          'scheduler': {'x': 16},
          'clock': {'virtual': {'warmup': '10us', 'duration': '40us', 'drain': drain}},
          'workload': [{'loop': 'open', 'load': load, **workload}]}


SHORT = {'mix': {'read': 1, 'write': 1}, 'size': 64}
MIXED = {'mix': {'read': 1, 'write_ack': 1}, 'span': '2MiB',
         'size': {'dist': 'list', 'values': [64, 1460, 9000, 100000], 'weights': [80, 12, 7, 1]}}


def run(emu, folder, name, config, *args):
  process, both = emu.result('--clock', 'virtual', *args, write(folder, f'{name}.json', config))
  return process, both and both['result']


def total(result, what, key):
  return sum(result['phases'][phase][what][key] for phase in PHASES)


def nothing_lost(tap, name, result):
  phases, end = result['phases'], result['phases']['end']
  over = total(result, 'messages', 'completed') + total(result, 'messages', 'failed')
  tap.ok(total(result, 'messages', 'offered') == over + end['under_way'] + end['never_begun'],
         f'{name}: offered is completed, failed, under way or never begun', phases)
  over = total(result, 'octets', 'completed') + total(result, 'octets', 'failed')
  tap.ok(total(result, 'octets', 'offered') == over + end['octets_under_way'], f'{name}: the same in octets',
         phases)
  tap.ok(phases['drain']['messages']['offered'] == 0 and
         [phases[p]['to_ps'] for p in PHASES[:2]] == [phases[p]['from_ps'] for p in PHASES[1:]],
         f'{name}: phases follow each other', phases)
  tap.ok(total(result, 'messages', 'completed') == result['operations']['completed_all'] and
         phases['steady']['messages']['offered'] - end['never_begun'] <=
         sum(kind['begun'] for kind in result['operations']['kinds'].values()),
         f'{name}: as the operations say', (phases, result['operations']))


def drained(emu, tap, folder):
  """Everything that was offered completes, sooner or later."""
  for load in (0.3, 1.3):
    name = f'load {load}'
    process, result = run(emu, folder, 'drained', fabric(load, **SHORT))
    if tap.ok(process.returncode == 0, f'{name}: sound', why(process)):
      nothing_lost(tap, name, result)
      end = result['phases']['end']
      tap.ok(end['under_way'] == end['never_begun'] == 0, f'{name}: all is over', end)


def cut_off(emu, tap, folder):
  """The drain is too short, the clients have room for two operations."""
  process, result = run(emu, folder, 'cut', fabric(1.3, drain='100ns', depth=2, **SHORT))
  if tap.ok(process.returncode == 1 and result, 'cut off: unsound', why(process)):
    nothing_lost(tap, 'cut off', result)
    end = result['phases']['end']
    # How many, the arrivals say: what was offered does not depend on what became of it.
    _, whole = run(emu, folder, 'whole', fabric(1.3, depth=2, **SHORT))
    tap.ok(end['never_begun'] > 100 and 0 < end['under_way'] <= 16, 'cut off: some is under way, or waits',
           end)
    for phase in PHASES[:2]:
      tap.ok(result['phases'][phase]['messages']['offered'] == whole['phases'][phase]['messages']['offered'],
             f'cut off: {phase}, as many were offered as in a run that was not',
             (result['phases'], whole['phases']))
    tap.ok(f"{end['under_way']} under way" in process.stdout and
           f"{end['never_begun']:,} never begun" in process.stdout, 'cut off: the report says so')


def loads(emu, tap, folder):
  """Blocks that were foreseen are those that are counted; payload is what the clients say."""
  # Long operations hold up the short ones of their pair (D9): eight nodes carry 0.7 of those.
  for name, what, most in (('64 B', SHORT, 0.85), ('mixed', MIXED, 0.5)):
    for offered, saturated in ((0.3, False), (most, False), (1.3, True)):
      process, result = run(emu, folder, 'loads', fabric(offered, '5ms', **what), '--duration', '200us')
      if not tap.ok(process.returncode == 0, f'{name}, load {offered}: sound', why(process)):
        continue
      load = result['load']
      tap.ok(load['saturated'] == saturated, f'{name}, load {offered}: saturated is {saturated}', load)
      tap.ok(abs(load['offered']['wire'] - offered) < 0.01 * offered, f'{name}, load {offered}: offered',
             load)
      if saturated:
        tap.ok(most < load['achieved']['wire'] <= 1, f'{name}, load {offered}: achieved', load)
        continue
      # What the arrivals of one seed are, and no other difference: the share of the blocks is that of the
      # operations that were offered to those that were to be expected.
      near = 0.02 if name == '64 B' else 0.3
      tap.ok(abs(load['achieved']['wire_mean'] / offered - 1) < near, f'{name}, load {offered}: achieved',
             load)
      share = load['achieved']['payload'] / load['achieved']['wire']
      tap.ok(abs(share / (load['offered']['payload'] / load['offered']['wire']) - 1) < near / 2,
             f'{name}, load {offered}: share of the payload', load)


def trace(emu, tap, folder):
  """The blocks of given messages are foreseen to the block, but for those at the ends."""
  config = fabric(0.5, **SHORT)
  _, _, table = logged(emu, folder, write(folder, 'log.json', config))
  table.sort(key=lambda line: line['intended_ps'])
  with open(os.path.join(folder, 'trace.csv'), 'w', encoding='utf-8') as file:
    print('start_ps,kind,src,dst,octets,request_octets', file=file)
    for line in table:
      print(line['intended_ps'], line['kind'], line['client'][1:], line['target'][1:],
            line['size_octets'], 8, sep=',', file=file)
  config['workload'] = [{'trace': 'trace.csv'}]
  process, result = run(emu, folder, 'trace', config)
  if tap.ok(process.returncode == 0 and result, 'trace: sound', why(process)):
    nothing_lost(tap, 'trace', result)
    load, sent = result['load'], sum(line['size_octets'] for line in table)
    tap.ok(result['phases']['steady']['octets']['offered'] == sent > 0, 'trace: octets')
    tap.ok(all(abs(load['achieved'][key] / load['offered'][key] - 1) < 0.02 for key in
               ('wire', 'wire_mean', 'payload')), 'trace: load', load)


def never_carried(emu, tap, folder):
  """No link carries a load above 1, and be the time too short to tell it from chance."""
  for offered, saturated in ((0.3, False), (1.3, True)):
    process, result = run(emu, folder, 'never', fabric(offered, '5ms', **SHORT), '--duration', '100ns')
    load = result['load'] if result else {}
    grown = load and load['flow']['waiting_at_end'] - load['flow']['waiting_at_begin']
    tap.ok(process.returncode == 0 and load['saturated'] is saturated,
           f'100 ns, load {offered}: saturated is {saturated} though {grown} more wait',
           why(process) + str(load))


def closed(emu, tap):
  _, both = emu.result('--clock', 'virtual', '--duration', '50us', emu.example('quickstart'))
  load = both['result']['load']
  tap.ok('saturated' not in load and 'offered' not in load and load['achieved']['wire'] > 0,
         'a closed loop offers what is taken', load)


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  with tempfile.TemporaryDirectory() as folder:
    drained(emu, tap, folder)
    cut_off(emu, tap, folder)
    loads(emu, tap, folder)
    never_carried(emu, tap, folder)
    trace(emu, tap, folder)
  closed(emu, tap)
  tap.done()


if __name__ == '__main__':
  main(*sys.argv[1:])
