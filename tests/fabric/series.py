#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""report.series: steps add up to the totals of the result exactly, change nothing else of it, and are the
same block by block. With --wall under the wall clock, where nothing depends on speed; skipped without EAL."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from emu import Emu, Tap, differences, need_eal, why

TAP, EMU, ROOT = Tap(), Emu(*sys.argv[1:3]), sys.argv[2]
VIRTUAL = ('--clock', 'virtual')
TIMES = (*VIRTUAL, '--warmup', '10us', '--duration', '50us')
FILES = ('quickstart', 'incast', 'table1', 'stacks/pfc', 'stacks/pfabric', 'stacks/dctcp', 'stacks/cxl',
         'stacks/ethernet', 'stacks/ird', 'topologies/fat-tree', 'topologies/leaf-spine',
         '../tests/fabric/good/backup', '../tests/fabric/good/everything', '../tests/fabric/good/ycsb')
STEP = 3_000_000  # ps: the warm-up and the measured time are no multiples of it
LISTS = ('memory_octets', 'frame_octets', 'read_octets', 'written_octets')


def fabric(name):
  with open(EMU.example(name), encoding='utf-8') as file:
    return json.load(file)


def with_series(config, every='3us'):
  return {**config, 'report': {**config.get('report', {}), 'series': {'every': every}}}


def run(config, *args, times=TIMES, beside='quickstart'):
  """The process, and its result. beside: an example; what it names by relative paths is found."""
  folder = os.path.abspath(os.path.dirname(EMU.example(beside)))
  with tempfile.TemporaryDirectory() as place:  # not in the tree, which other tests list at the same time
    for each in os.listdir(folder):
      os.symlink(os.path.join(folder, each), os.path.join(place, each))
    path = os.path.join(place, 'series of a test.json')
    with open(path, 'w', encoding='utf-8') as file:
      json.dump(config, file)
    process, found = EMU.result(*times, *args, path)
  return process, found and found['result']


def rest(result):
  return {key: value for key, value in result.items() if key not in ('config', 'series')}


def total(result, keys, first=None, last=None):
  """Octets of all links in some steps."""
  return sum(sum(link[key][first:last])
             for each in result['series'] for link in each['links'] for key in keys)


def adds_up(name, result):
  """Steps against the totals that the rest of the result has by itself."""
  series, when = result['series'][0], result['time']
  at = series['at_ps']
  TAP.ok(at[0] == 0 and at[-1] == when['ended_ps'] and all(a < b for a, b in zip(at, at[1:])),
         f'{name}: steps from the begin of the run to its end', at)
  TAP.ok(all(b - a <= series['every_ps'] for a, b in zip(at, at[1:])), f'{name}: no step is too long', at)
  ends = [when[key] for key in ('measured_from_ps', 'measured_to_ps')]
  if not TAP.ok(all(end in at for end in ends), f'{name}: what is measured begins and ends with a step', at):
    return
  wrong = [(key, o) for part in ('links', 'memories') for o in series[part] for key in LISTS
           if key in o and (sum(o[key]) != o[key + '_all'] or len(o[key]) != len(at) - 1)]
  TAP.ok(not wrong, f'{name}: each series has its total', wrong[:3])
  first, last = (at.index(end) for end in ends)
  mine = total(result, ('memory_octets', 'frame_octets'), first, last)
  theirs = 8 * sum(link['memory_blocks'] + link['frame_blocks'] for link in result['links'].values())
  if 'backup' not in result['config']:  # both links of a node carry the same, and `links` counts that once
    TAP.ok(mine == theirs, f'{name}: links of the measured time', (mine, theirs))
    blocks = 8 * result['control']['memory_blocks']
    TAP.ok(total(result, ('memory_octets',)) == blocks, f'{name}: memory blocks of the whole run',
           (total(result, ('memory_octets',)), blocks))
  longest = result.get('bridge', {}).get('counters', {}).get('queue_max_octets', 0)
  mine = max(max(link.get('queue_max_octets', [0])) for link in series['links'])
  TAP.ok(mine == longest, f'{name}: the longest queue of all steps', (mine, longest))


def rate_holds(name, result):
  """No link carries more than its rate in a step, but for the block that is under way at its begin."""
  at = result['series'][0]['at_ps']
  wrong = []
  for link in result['series'][0]['links']:
    block = 64_000 / link['rate_gbps']
    for begin, end, memory, frames in zip(at, at[1:], link['memory_octets'], link['frame_octets']):
      if (memory + frames) / 8 * block > end - begin + block:
        wrong.append((link['from'], link['to'], begin, memory + frames))
  TAP.ok(not wrong, f'{name}: no link is faster than its rate', wrong[:3])


def each():
  for name in FILES:
    config = fabric(name)
    process, plain = run(config, beside=name)
    if not TAP.ok(plain is not None, f'{name}: runs', why(process)):
      continue
    process, steps = run(with_series(config), beside=name)
    if not TAP.ok(steps is not None, f'{name}: with a series', why(process)):
      continue
    TAP.ok(rest(plain) == rest(steps), f'{name}: nothing else changes',
           '\n'.join(list(differences(rest(plain), rest(steps)))[:5]))
    adds_up(name, steps)
    rate_holds(name, steps)
    _, blocks = run(with_series(config), '--block-by-block', beside=name)
    TAP.ok(blocks is not None and blocks['series'] == steps['series'], f'{name}: block by block',
           '\n'.join(list(differences(blocks['series'][0], steps['series'][0]))[:5]) if blocks else '')


PAIR = {'nodes': [{'name': 'cn', 'role': 'compute'}, {'name': 'mn', 'role': 'memory'}]}


def memories():
  """All that completed was read or written once, where nothing is lost."""
  for stack in ('edm', 'rocev2', 'tcp', 'cxl'):
    load = {'mix': {'read': 1, 'write_ack': 1}, 'size': 192, 'operations': 200}
    config = with_series({**PAIR, 'stack': stack, 'workload': [load]})
    process, result = run(config, times=(*VIRTUAL, '--warmup', '10us'))
    if not TAP.ok(result is not None and process.returncode == 0, f'{stack}: a load with an end',
                  why(process)):
      continue
    adds_up(f'{stack}, a load with an end', result)
    memory = result['series'][0]['memories'][0]
    TAP.ok(memory['read_octets_all'] + memory['written_octets_all'] == 200 * 192,
           f'{stack}: each octet read or written once', memory)
  _, result = run(with_series({**PAIR, 'workload': [{'mix': {'cas': 1}, 'operations': 50}]}))
  memory = result['series'][0]['memories'][0]
  TAP.ok(memory['read_octets_all'] == memory['written_octets_all'] == 400, 'atomics read and write',
         memory)


def grids():
  """Steps longer than the run, of the length of the run, short ones; a node that is started again."""
  config = fabric('quickstart')
  for every, steps in (('1h', 3), ('60us', 3), ('10us', 6), ('100ns', 600)):
    _, result = run(with_series(config, every))
    at = result['series'][0]['at_ps']
    TAP.ok(steps <= len(at) - 1 <= steps + 12, f'every {every}: as many steps', len(at))
    adds_up(f'every {every}', result)
  config['faults'] = [{'class': 'node_crash', 'node': 'cn0', 'from': '20us', 'until': '25us'},
                      {'class': 'node_crash', 'node': 'mn0', 'from': '30us', 'until': '35us'}]
  process, result = run(with_series(config))
  if TAP.ok(result is not None, 'nodes are started again', why(process)):
    adds_up('nodes are started again', result)


def refusals():
  process, _ = run(with_series(PAIR | {'workload': [{'mix': {'read': 1}}]}, '1ns'), times=VIRTUAL)
  said = process.stderr
  TAP.ok(process.returncode == 1 and 'report.series.every: ' in said and 'try "' in said
         and said.count('\n') == 1, 'too many steps', why(process))
  every = said.split('try "')[1].split('"')[0] if 'try "' in said else '1ms'
  process, result = run(with_series(PAIR | {'workload': [{'mix': {'read': 1}, 'delay': '10us'}]}, every),
                        times=VIRTUAL)
  TAP.ok(process.returncode == 0 and result is not None, f'what was proposed fits: {every}', why(process))
  load = {'mix': {'read': 1}, 'operations': 50, 'delay': '10us'}
  _, result = run(with_series(PAIR | {'workload': [load]}, '1ns'), times=(*VIRTUAL, '--warmup', '0'))
  at = result['series'][0]['at_ps']
  TAP.ok(len(at) > 60000 and at[-1] == result['time']['ended_ps'],
         'where the end is not known, the last step is long', (len(at), at[-1]))


def said():
  process, result = run(with_series(fabric('stacks/pfc')))
  TAP.ok(result is not None and all(text in process.stdout for text in ('Series', 'longest queue',
                                                                        'from sw0 to mn')),
         'the report says where it is', process.stdout[-3000:])


def interrupted(clock):
  """Ctrl-C: what there is adds up."""
  with tempfile.TemporaryDirectory() as folder:
    path, target = os.path.join(folder, 'fabric.json'), os.path.join(folder, 'result.json')
    config = with_series(fabric('quickstart'), '10ms')
    with open(path, 'w', encoding='utf-8') as file:
      json.dump(config, file)
    process = subprocess.Popen([EMU.program, '--clock', clock, '--duration', '60s', '--json', target, path],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    process.wait(600)
    if not os.path.exists(target):
      TAP.ok(False, f'{clock}: interrupted', process.returncode)
      return
    with open(target, encoding='utf-8') as file:
      result = json.load(file)['result']
  whole(f'{clock}, interrupted', result)


def whole(name, result):
  """Of any clock: all steps together."""
  series = result['series'][0]
  at = series['at_ps']
  TAP.ok(at[0] == 0 and at[-1] == result['time']['ended_ps'] and len(at) > 2, f'{name}: the whole run',
         at[:3] + at[-2:])
  blocks = 8 * result['control']['memory_blocks']
  TAP.ok(total(result, ('memory_octets',)) == blocks, f'{name}: memory blocks of the whole run',
         (total(result, ('memory_octets',)), blocks))
  TAP.ok(total(result, ('memory_octets', 'frame_octets')) > 0, f'{name}: something was sent')
  ends = [result['time'][key] for key in ('measured_from_ps', 'measured_to_ps')]
  if TAP.ok(all(end in at for end in ends), f'{name}: what is measured begins and ends with a step', at):
    mine = total(result, ('memory_octets', 'frame_octets'), *(at.index(end) for end in ends))
    theirs = 8 * sum(link['memory_blocks'] + link['frame_blocks'] for link in result['links'].values())
    TAP.ok(mine == theirs, f'{name}: links of the measured time', (mine, theirs))
  wrong = [(key, o) for part in ('links', 'memories') for o in series[part] for key in LISTS
           if key in o and (sum(o[key]) != o[key + '_all'] or min(o[key]) < 0)]
  TAP.ok(not wrong, f'{name}: each series has its total', wrong[:3])
  TAP.ok(all('rate_gbps' not in link and 'queue_max_octets' not in link for link in series['links'])
         or result['clock'] == 'virtual', f'{name}: nothing of the virtual clock')


def wall():
  need_eal(TAP, EMU, 'series of the wall clock')
  times = ('--clock', 'wall', '--warmup', '20ms', '--duration', '200ms')
  for name in ('quickstart', 'stacks/rocev2', 'topologies/leaf-spine'):
    config = fabric(name)
    if 'stack' in config:
      config['stack'] = 'rocev2'  # others are for the virtual clock
    process, result = run(with_series(config, '5ms'), times=times, beside=name)
    if TAP.ok(result is not None, f'{name}, wall clock: a result', why(process)):
      whole(f'{name}, wall clock', result)
  interrupted('wall')


if '--wall' in sys.argv:
  wall()
else:
  each()
  memories()
  grids()
  refusals()
  said()
  interrupted('virtual')
TAP.done()
