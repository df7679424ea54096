#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory with address spaces, by the virtual clock.

  spaces.py EMU ROOT [--fabrics N] [--seed N]

Latency by processes and by entries: one up to the size of the translation cache, one beyond it, an access
to memory apart, to the picosecond. A first access takes a constant more. A call takes as long as a read, but
for the blocks that it has more, and is answered rightly though messages are lost. Random fabrics with few
pages ready, a slow path that takes its time, and nodes that are started again: what is read is what was
written, the same in another run and block by block, and all pages are accounted for. Faulty files are
refused in one line.
"""
import argparse
import json
import os
import random
import resource
import tempfile

import laws
from emu import Emu, Tap
from graphs import Runs, first_difference, stripped

DRAM = 82_000  # ps
FAULT = 12_000
WAYS = 16
# Seeds that have found something. 1221: a full host, while pieces were due again. 1264: ids that had to rest
# since long reads were refused, and then refusals that could not be told from those of an earlier use.
FOUND = (1221, 1264)
KINDS = ('read', 'write', 'write_ack', 'cas', 'fadd', 'swap', 'or', 'and')


def options():
  parser = argparse.ArgumentParser(description='Runs fabrics whose memory has address spaces.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--fabrics', type=int, default=12)
  parser.add_argument('--seed', type=int, default=1)
  return parser.parse_args()


def fabric(workload, memory=None, nodes=1, **more):
  return {'nodes': [{'name': 'cn', 'count': nodes, 'role': 'compute'},
                    {'name': 'mn', 'role': 'memory',
                     'memory': {'type': 'virtual', 'size': '16MiB', 'pages': '4KiB', 'dram': '82ns',
                                'fault': '12ns'} | (memory or {})}],
          'workload': [{'mix': {'read': 1}, 'size': 16, 'depth': 1, 'address': 'sequential',
                        'interleave': '64B', 'populate': True} | workload]} | more


def latency(result, kind='read'):
  """The least and the greatest, ps; what it has of each."""
  found = result['operations']['kinds'][kind]['latency']
  return round(found['min_ns'] * 1000), round(found['max_ns'] * 1000)


def levels(tap, runs, what, workload):
  """Each size has one latency; of all sizes there are two."""
  times, state = {}, set()
  for n in (1, 2, 8, WAYS - 1, WAYS, WAYS + 1, 2 * WAYS, 64, 500):
    result = runs.run(fabric(workload(n)), '--warmup', '2ms', '--duration', '200us')
    if not tap.ok(isinstance(result, dict), f'{n} {what}: runs', result):
      return
    least, most = latency(result)
    tap.ok(least == most and result['operations']['completed_all'] > 2 * WAYS, f'{n} {what}: one latency',
           (least, most))
    times[n] = most
    state.add(result['memory']['mn']['state_octets'])
  hit, miss = times[1], times[500]
  tap.ok(all(time == (hit if n <= WAYS else miss) for n, time in times.items()),
         f'{what}: two levels, the step is at {WAYS}', times)
  tap.ok(miss - hit == DRAM, f'{what}: a miss is an access to memory more', (hit, miss))
  tap.ok(len(state) == 1, f'{what}: the state of the fast path is always the same', state)


def first_access(tap, runs):
  """Each read is the first of its page, or none is."""
  workload = {'spaces': 4, 'pages': 500, 'operations': 1000, 'interleave': '64B'}
  times = ('--warmup', '0', '--duration', '3ms')
  both = [runs.run(fabric(workload | {'populate': populate}, {'ring': 256}), *times)
          for populate in (False, True)]
  if not tap.ok(all(isinstance(result, dict) for result in both), 'first accesses: run', both):
    return
  first, later = (latency(result)[0] for result in both)
  tap.ok(first - later == FAULT, 'a first access is a miss and a constant', (first, later))
  tap.ok(both[0]['memory']['mn']['faults'] == 1000, 'each first access is a fault', both[0]['memory'])


def mixed(rng):
  return {kind: rng.choice((0, 1, 1, 2)) for kind in KINDS} | {'read': 2}


def draw(seed):
  rng = random.Random(f'spaces {seed}')
  page = rng.choice((4096, 4096, 16384))
  spaces, pages, depth = rng.choice((1, 3, 20)), rng.choice((1, 2, 7)), rng.choice((1, 4, 32))
  most = min(rng.choice((64, 5000, 40000)), spaces * pages * page // depth // 64 * 64)
  workload = {'mix': mixed(rng), 'size': {'dist': 'uniform', 'min': 8, 'max': most}, 'depth': depth,
              'spaces': spaces, 'pages': pages, 'populate': rng.random() < 0.3,
              'interleave': rng.choice((64, 1024, page)), 'address': rng.choice(('uniform', 'sequential')),
              'delay': rng.choice(('0', '300ns'))}
  nodes = rng.choice((1, 2, 3))
  memory = {'size': page * max(64, 2 * nodes * spaces * pages), 'pages': str(page),
            'ring': rng.choice((1, 2, 64)), 'node_tasks': rng.choice((1, 4, 16)),
            'tlb': {'sets': rng.choice((1, 4)), 'ways': rng.choice((1, 16))},
            'slow': {'step': rng.choice(('5ns', '100ns')), 'zero': rng.choice(('400ns', '20us')),
                     'crossing': rng.choice(('0', '100ns', '3us'))}}
  config = fabric(workload, memory, nodes, seed=seed,
                  link={'rate': rng.choice(('25G', '100G'))}, scheduler={'order': 'pair'})
  if seed % 3 == 0:
    name = rng.choice(('cn' if nodes == 1 else 'cn0', 'mn'))
    config['faults'] = [{'class': 'node_crash', 'node': name, 'from': '400us', 'until': '430us'}]
  if seed % 4 == 1:
    config['faults'] = config.get('faults', []) + [
      {'class': 'stall', 'role': 'mn-slow', 'from': f'{rng.randrange(800)}us', 'until': '820us'}]
  return config


def wrong(result):
  operations = result['operations']
  return {key: operations[key] for key in ('mismatches', 'stray_completions') if operations.get(key, 0) != 0}


def accounted(result):
  """All pages are somewhere, and all that was allocated has an entry."""
  memory = result['memory']['mn']
  there = ('free', 'being_zeroed', 'in_ring', 'in_use')
  return all(pages['all'] == sum(pages[key] for key in there) for pages in memory['pages']) and \
    memory['entries'] <= memory['slots'] and memory['strange'] == 0


def is_same(tap, runs, seed):
  config = draw(seed)
  times = ('--warmup', '600us', '--duration', '300us')
  first = stripped(runs.run(config, *times))
  what = f'fabric {seed}: {config["workload"][0]["spaces"]} spaces of {config["workload"][0]["pages"]} pages'
  classes = {fault['class'] for fault in config.get('faults', [])}
  what += ''.join(f', {name}' for name in sorted(classes))
  if not tap.ok(isinstance(first, dict), f'{what}: runs', first):
    return
  operations = first['operations']
  tap.ok(operations['completed_all'] > 0 and not wrong(first), f'{what}: nothing is wrong',
         (operations['completed_all'], wrong(first)))
  if 'node_crash' not in classes:
    tap.ok(operations['failed_all'] == 0, f'{what}: nothing fails', operations.get('failed'))
    tap.ok(first['spaces']['ready_at_ps'] is not None and first['spaces']['failed'] == 0,
           f'{what}: all spaces are there', first['spaces'])
  tap.ok(accounted(first), f'{what}: all pages are accounted for', first['memory'])
  bad = list(laws.broken(runs.last))
  tap.ok(not bad, f'{what}: obeys the laws of a fabric', bad)
  for way in ((), ('--block-by-block',)):
    again = stripped(runs.run(config, *times, *way))
    tap.ok(again == first, f'{what}: the same {"block by block" if way else "again"}',
           first_difference(first, again))
  effective = runs.emu.run('--print-config', runs.write(config)).stdout
  again = stripped(runs.run(json.loads(effective), *times))
  tap.ok(again == first, f'{what}: the same with its effective configuration', first_difference(first, again))


def pages_that_come(tap, runs):
  """One page is ready at a time, and others take long: operations wait, and none is wrong."""
  workload = {'mix': {'read': 1, 'write': 1, 'write_ack': 1, 'fadd': 1}, 'size': 64, 'depth': 16,
              'spaces': 10, 'pages': 20, 'populate': False, 'address': 'uniform'}
  config = fabric(workload, {'ring': 1, 'slow': {'crossing': '2us'}})
  result = runs.run(config, '--warmup', '0', '--duration', '3ms')
  tap.ok(isinstance(result, dict) and result['spaces']['waited_for_pages'] > 50, 'operations wait for pages',
         result if isinstance(result, str) else result['spaces'])
  tap.ok(result['operations']['failed_all'] == 0 and not wrong(result), 'and none fails, or is wrong',
         result['operations'])
  tap.ok(result['memory']['mn']['faults'] == 200, 'each page is there in the end', result['memory']['mn'])


def again_after(tap, runs):
  """A node is started again: all it had is gone, and it gets new spaces; so does a memory node."""
  for name in ('cn', 'mn'):
    faults = [{'class': 'node_crash', 'node': name, 'from': '500us', 'until': '520us'}]
    workload = {'mix': {'read': 1, 'write_ack': 1}, 'spaces': 30, 'pages': 3, 'lost_is_empty': True}
    config = fabric(workload, faults=faults, scheduler={'order': 'pair'})
    result = runs.run(config, '--warmup', '700us', '--duration', '200us')
    if not tap.ok(isinstance(result, dict), f'{name} is started again: runs', result):
      continue
    tap.ok(result['spaces']['ready'] == 30 and result['memory']['mn']['spaces'] == 30 and
           result['memory']['mn']['entries'] == 90, f'{name} is started again: 30 spaces, no more',
           (result['spaces'], result['memory']['mn']['spaces'], result['memory']['mn']['entries']))
    tap.ok(not wrong(result) and result['operations']['kinds']['read']['completed'] > 0,
           f'{name} is started again: operations go on', result['operations'])


def leases(tap, runs):
  """Who is idle for many leases keeps what he has; who is not heard of loses it, and has it anew."""
  workload = {'mix': {'read': 1, 'write_ack': 1}, 'spaces': 20, 'pages': 2, 'delay': '2ms', 'operations': 40}
  result = runs.run(fabric(workload, {'lease': '300us'}), '--warmup', '0', '--duration', '100ms')
  if tap.ok(isinstance(result, dict), 'leases: runs', result):
    memory = result['memory']['mn']
    tap.ok(memory['leases_over'] == 0 and memory['spaces'] == 20 and result['operations']['failed_all'] == 0,
           'leases that are renewed: no space ends', (memory['leases_over'], memory['spaces']))
    # 20 spaces, each 100 us, until the last of 40 operations, 2 ms after each other.
    tap.ok(result['spaces']['leases_renewed'] >= 20 * 39 * 20, 'leases are renewed by who is idle',
           result['spaces']['leases_renewed'])
  cut = [{'class': 'link_down', 'link': 'cn', 'from': '3ms', 'until': '5ms'}]
  workload |= {'delay': '100us', 'operations': 200, 'lost_is_empty': True}
  result = runs.run(fabric(workload, {'lease': '300us'}, faults=cut), '--warmup', '0', '--duration', '100ms')
  if tap.ok(isinstance(result, dict), 'leases and a link that is down: runs', result):
    tap.ok(result['memory']['mn']['leases_over'] == 20 and result['spaces']['ready'] == 20 and
           result['memory']['mn']['spaces'] == 20 and accounted(result),
           'who is not heard of for a lease loses all, and has it anew',
           (result['memory']['mn'], result['spaces']))
    tap.ok(not wrong(result), 'and nothing is wrong', wrong(result))


STALL = 10_000_000_000  # ps


def beside_a_stall(runs, faults):
  """One node reads pages that are there, one at a time; the other one's are new all the time."""
  config = fabric({'nodes': 'a', 'spaces': 2, 'pages': 2}, {'size': '64MiB'}, faults=faults)
  config['nodes'] = [{'name': name, 'role': 'compute'} for name in 'ab'] + config['nodes'][1:]
  config['workload'].append(config['workload'][0] | {
    'nodes': 'b', 'mix': {'write_ack': 1}, 'pages': 1200, 'populate': False, 'delay': '5us'})
  return runs.run(config, '--warmup', '2ms', '--duration', '20ms')


def stalls(tap, runs):
  """The slow path stands still: who has his pages does not notice, who needs new ones waits."""
  stall = [{'class': 'stall', 'role': 'mn-slow', 'from': '5ms', 'until': '15ms'}]
  without, result = (beside_a_stall(runs, faults) for faults in ([], stall))
  if not tap.ok(isinstance(without, dict) and isinstance(result, dict), 'a slow path that stands still: runs',
                (without, result)):
    return
  tap.ok(result['faults']['stall'] == 1, 'it stood still', result['faults'])
  waited = latency(result, 'write_ack')[1]
  tap.ok(STALL * 0.9 < waited < STALL * 1.1, 'who needs new pages waits as long', waited)
  reads = [entry['operations']['kinds']['read'] for entry in (without, result)]
  same = [(latency(entry)[0], entry['operations']['kinds']['read']['latency']['p50_ns'])
          for entry in (without, result)]
  # Who waits asks again, so a read may find a message of his before it on a link.
  tap.ok(same[0] == same[1] and latency(result)[1] < latency(without)[1] + DRAM,
         'who has his pages reads as fast as ever', reads)
  tap.ok(reads[1]['completed'] > 0.999 * reads[0]['completed'] > 10000, 'and as often',
         [entry['completed'] for entry in reads])
  tap.ok(result['operations']['failed_all'] == 0 and not wrong(result) and accounted(result),
         'nothing fails, nothing is wrong', result['operations'])
  effective = json.loads(runs.emu.run('--print-config', runs.write(fabric({}, faults=stall))).stdout)
  tap.ok(effective['faults'][0]['role'] == ['mn-slow'], 'it is in the effective configuration',
         effective['faults'])


def limits(tap, runs):
  """What a node may have: it is refused more, and the other one has all that it wants."""
  mine = {'nodes': 'a', 'spaces': 4, 'pages': 8, 'range': 8, 'populate': False, 'depth': 4}
  for limit, value in (('pages', 64 << 10), ('entries', 20)):
    config = fabric(mine, limits={limit: value})
    config['nodes'] = [{'name': name, 'role': 'compute'} for name in 'ab'] + config['nodes'][1:]
    config['workload'].append(config['workload'][0] | {'nodes': 'b', 'spaces': 1, 'mix': {'write_ack': 1}})
    result = runs.run(config, '--warmup', '0', '--duration', '1ms')
    if not tap.ok(isinstance(result, dict), f'limits.{limit}: runs', result):
      continue
    memory, kinds = result['memory']['mn'], result['operations']['kinds']
    other = 'entries' if limit == 'pages' else 'pages'
    tap.ok(memory['beyond_limits'][limit] > 0 == memory['beyond_limits'][other],
           f'limits.{limit}: who is beyond it is counted', memory['beyond_limits'])
    has = memory['faults' if limit == 'pages' else 'entries']
    tap.ok(has == 16 + 8, f'limits.{limit}: he has as much as he may, in whole ranges', memory)
    tap.ok(kinds['write_ack']['completed'] > 500 and kinds['write_ack']['failed'] == 0,
           f'limits.{limit}: the other one is unharmed', kinds['write_ack'])
    effective = json.loads(runs.emu.run('--print-config', runs.write(config)).stdout)
    tap.ok(list(effective['limits']) == [limit], f'limits.{limit}: in the effective configuration',
           effective['limits'])


BLOCK = 2560  # ps, at 25 Gb/s


def call_times(tap, runs):
  """A request of two blocks more over two links, behind each other; an answer of 16 octets more, its head."""
  times = {}
  for kind, size in (('call', 64), ('read', 80), ('call', 1000), ('read', 1024)):
    result = runs.run(fabric({'mix': {kind: 1}, 'size': size, 'interleave': '1KiB'}, link={'rate': '25G'}),
                      '--warmup', '1ms', '--duration', '100us')
    if not tap.ok(isinstance(result, dict), f'{kind} of {size} octets: runs', result):
      return
    times[kind, size] = latency(result, kind)
  tap.ok(all(times['call', size] == tuple(time + 4 * BLOCK for time in times['read', whole])
             for size, whole in ((64, 80), (1000, 1024))), 'a call takes as long as a read', times)


def draw_calls(seed):
  rng = random.Random(f'calls {seed}')
  size, interleave = rng.choice(((8, 64), (64, 1024), (100, 128), (1024, 16384), (2048, 4096), (4096, 16384)))
  workload = {'mix': {'call': 3, 'read': 1, 'write_ack': 2, 'write': 1, 'fadd': 1}, 'size': size,
              'depth': rng.choice((1, 8)), 'spaces': rng.choice((1, 10)), 'pages': 5,
              'interleave': interleave,
              'populate': rng.random() < 0.5, 'address': rng.choice(('uniform', 'sequential', 'zipf'))}
  memory = {'size': '8MiB', 'pages': '16KiB', 'ring': rng.choice((1, 64)),
            'answer': rng.choice((4096, 65504))}
  config = fabric(workload, memory, rng.choice((1, 2)), seed=seed, link={'rate': '25G'},
                  scheduler={'order': 'pair', 'chunk': rng.choice((256, 4096))},
                  host={'retries': 8, 'retry_timeout': '20us'}, switch={'grant_timeout': {'virtual': '15us'}})
  if seed % 2 == 0:  # what is sent again comes behind what was asked after it, so one is under way at a time
    config['workload'][0] |= {'mix': {'call': 3, 'read': 1, 'write_ack': 2, 'fadd': 1}, 'depth': 1}
    config['faults'] = [{'class': 'lose', 'link': '*', 'rate': 2e-3, 'from': '600us', 'until': '1100us'}]
  return config


def calls(tap, runs):
  """What is lost is sent again, and what is answered is right; the same again and block by block."""
  again = 0
  for seed in range(8):
    config = draw_calls(seed)
    first = stripped(runs.run(config, '--warmup', '600us', '--duration', '500us'))
    what = f'calls {seed}: of {config["workload"][0]["size"]} octets'
    if not tap.ok(isinstance(first, dict), f'{what}: runs', first):
      continue
    done, of_node = first['operations'], first['memory']['mn']
    again += first['once']['answered_again']
    tap.ok(done['kinds']['call']['completed'] > 20 and done['failed_all'] == 0 and not wrong(first) and
           done['verified'] > 0, f'{what}: all are answered, and rightly', done)
    tap.ok(of_node['calls']['answered'] >= done['kinds']['call']['completed'] and
           of_node['calls']['pending'] == 0 and accounted(first), f'{what}: counted', of_node)
    bad = list(laws.broken(runs.last))
    tap.ok(not bad, f'{what}: obeys the laws of a fabric', bad)
    other = stripped(runs.run(config, '--warmup', '600us', '--duration', '500us', '--block-by-block'))
    tap.ok(other == first, f'{what}: the same block by block', first_difference(first, other))
  tap.ok(again > 10, 'what was lost was answered again', again)


def churn(tap, runs):
  """Spaces that all share come and go with their pages; the same block by block and from what is printed."""
  workload = {'mix': {'read': 2, 'write_ack': 2, 'cas': 1, 'fadd': 1}, 'size': 64, 'depth': 4, 'spaces': 2,
              'pages': 4, 'churn': .2, 'address': 'zipf', 'interleave': None, 'populate': None}
  config = fabric({}, nodes=3)
  config['workload'][0] = {key: value for key, value in (config['workload'][0] | workload).items()
                           if value is not None}
  times = ('--warmup', '0', '--duration', '200us')
  first = stripped(runs.run(config, *times))
  if not tap.ok(isinstance(first, dict), 'churn: runs', first):
    return
  tasks, operations = first['memory']['mn']['tasks'], first['operations']
  tap.ok(min(tasks['done'].values()) > 0 and operations['denied'] > 0 and operations['failed_all'] == 0
         and 0 < operations['tasks_done'] < operations['tasks'] and not wrong(first),
         'churn: each task is done, some are refused, and nothing fails', (tasks, operations))
  tap.ok(operations['denied'] < operations['completed_all'] / 2, 'churn: most accesses find their pages',
         operations['denied'])
  blocks = stripped(runs.run(config, *times, '--block-by-block'))
  tap.ok(blocks == first, 'churn: the same block by block', first_difference(first, blocks))
  printed = runs.emu.run('--print-config', runs.write(config))
  again = stripped(runs.run(json.loads(printed.stdout), *times))
  tap.ok(again == first, 'churn: the same from the file that is printed', first_difference(first, again))


TERABYTES = 'clio/terabytes'


def examples(tap, emu):
  folder = os.path.join(emu.root, 'examples', 'clio')
  for name in sorted(os.listdir(folder)):
    process, out = emu.result('--clock', 'virtual', os.path.join(folder, name))
    good = out is not None and out['result']['operations']['completed_all'] > 0 and \
      out['result']['operations']['failed_all'] == 0
    tap.ok(good, f'examples/clio/{name} runs', process.stderr)
  most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
  tap.ok(most < 1 << 20, '4 TiB of pages within 1 GiB of the host', f'{most} KiB')


def ranges(tap, runs):
  """Pages are allocated so many at a time; longer ranges take the slow path more steps."""
  took = []
  for pages, requests in ((1, 130), (64, 3), (100, 2), (1000, 1)):
    workload = {'spaces': 2, 'pages': 130, 'range': pages, 'populate': False}
    result = runs.run(fabric(workload), '--warmup', '2ms', '--duration', '20us')
    if not tap.ok(isinstance(result, dict), f'ranges of {pages} pages: run', result):
      return
    of_node, times = result['memory']['mn'], result['spaces']['allocations']
    tap.ok(of_node['retries']['allocations'] == times['count'] == 2 * requests and of_node['slots'] == 260,
           f'ranges of {pages} pages: {requests} a space', (of_node['retries'], times['count']))
    took.append(times['max_ns'])
  tap.ok(took[0] < took[1] < took[3], 'longer ranges take longer', took)


def client(tap, runs):
  """What the client takes is added to each operation; memory without spaces has no such client."""
  both = [runs.run(fabric({'mix': {kind: 1}}, timing={'client': f'{ns}ns'}), '--warmup', '1ms', '--duration',
                   '100us') for kind in ('read', 'write_ack') for ns in (0, 250)]
  if not tap.ok(all(isinstance(result, dict) for result in both), 'time of the client: runs', both):
    return
  times = [latency(result, kind) for result in both for kind in result['operations']['kinds']]
  tap.ok(all(with_client == (least + 250000, most + 250000)
             for (least, most), with_client in zip(times[::2], times[1::2])), 'time of the client', times)


def by_trace(tap, runs, folder):
  """Addresses of a trace are places in the region of each client: two clients name the same ones."""
  path, pages = os.path.join(folder, 'addresses.csv'), set()
  rows = ['start_ps,kind,src,dst,octets,request_octets,addr']
  draw = random.Random(5)
  for i in range(600):
    kind, client = draw.choice(('read', 'write_ack', 'fadd')), draw.randrange(2)
    octets = 8 if kind == 'fadd' else draw.randrange(1, 5000)
    addr = draw.randrange((64 << 10) - octets) & (~7 if kind == 'fadd' else ~0)
    rows.append(f'{i * 2000000},{kind},{client},3,{octets},8,{addr}')
    pages |= {(client, page) for page in range(addr >> 12, (addr + octets - 1 >> 12) + 1)}
  with open(path, 'w', encoding='utf-8') as file:
    file.write('\n'.join(rows) + '\n')
  config = fabric({}, nodes=3)
  config['workload'] = [{'nodes': ['cn0', 'cn1'], 'trace': path, 'spaces': 2, 'pages': 8, 'depth': 64,
                         'verify': True},
                        {'nodes': 'cn2', 'mix': {'read': 1}, 'pages': 1, 'operations': 100, 'depth': 1}]
  result = runs.run(config, '--warmup', '0', '--duration', '3ms')
  if tap.ok(isinstance(result, dict), 'addresses of a trace: runs', result):
    done = result['operations']
    tap.ok(done['completed_all'] == 700 and done['failed_all'] == 0 and not wrong(result),
           'addresses of a trace: all is done, and what is read was written', done)
    faults = result['memory']['mn']['faults']
    tap.ok(faults == len(pages) + 1, 'addresses of a trace: as many pages are used as it names',
           (faults, len(pages)))
  config['workload'][0]['pages'] = 7
  process = runs.emu.run('--clock', 'virtual', runs.write(config))
  tap.ok('workload[0].trace: its addresses are within ' in process.stderr and process.stderr.count('\n') == 1,
         'addresses of a trace: beyond the region', process.stderr)


STALLED = {'class': 'stall', 'from': '1us', 'until': '2us'}
# What is changed, and what is said of it, in one line.
FAULTY = (
  ({'memory': {'pages': '3KiB'}}, 'nodes[1].memory.pages: \'3KiB\' is no size of a page'),
  ({'memory': {'pages': {}, 'size': None}}, 'nodes[1].memory.pages: has 0 sizes of pages'),
  ({'memory': {'pages': {'4KiB': '1MiB', '4096': '1MiB'}, 'size': None}}, 'is there twice'),
  ({'memory': {'pages': {'4KiB': '1MiB'}, 'size': '1MiB'}}, "'size' has no effect"),
  ({'memory': {'pages': 5}}, 'nodes[1].memory.pages: must be a size'),
  ({'memory': {'size': 20000}}, 'no whole number of pages'),
  ({'memory': {'bucket': 3}}, 'nodes[1].memory.bucket'),
  ({'memory': {'tlb': {'sets': 3}}}, 'nodes[1].memory.tlb.sets'),
  ({'memory': {'slow': {'stp': '1ns'}}}, 'nodes[1].memory.slow.stp: unknown key'),
  ({'memory': {'type': 'flat'}}, 'has no effect: the memory\'s type is not "virtual"'),
  ({'memory': {'node_tasks': 2000}}, 'nodes[1].memory.node_tasks'),
  ({'workload': {'spaces': 9000}}, 'workload[0].spaces'),
  ({'workload': {'pages': 5000}}, 'workload[0].pages: clients of node \'mn\' need'),
  ({'workload': {'page': 8192}}, 'workload[0].page: node \'mn\' has no pages of 8192'),
  ({'workload': {'pages': 4, 'span': '1MiB'}}, 'workload[0].span'),
  ({'workload': {'interleave': 100}}, 'workload[0].interleave'),
  ({'workload': {'ycsb': 'A'}}, 'ycsb'),
  ({'backup': {'name': 'sw1'}}, 'backup: goes with memory of the type "virtual"'),
  ({'regions': [{'name': 'r', 'size': '4KiB'}]}, 'regions'),
  ({'host': {'once': False}}, 'once is false'),
  ({'stack': 'rocev2'}, 'nodes'),
  ({'workload': {'range': 0}}, 'workload[0].range'),
  ({'faults': [STALLED | {'role': 'mx-slow'}]}, "faults[0].role: there is no node 'mx'"),
  ({'faults': [STALLED | {'role': 'cn-slow'}]}, "faults[0].role: node 'cn' is not a virtual memory node"),
  ({'faults': [STALLED | {'role': ['mn-slow', 'cn']}]}, "faults[0].role[0]: there is no node 'mn-slow'"),
  ({'faults': [STALLED | {'role': ['mn-slow', 'mn-slow']}]}, "node 'mn' is named twice"),
  ({'faults': [STALLED | {'role': 'mn-slow', 'switch': 0}]}, 'faults[0].switch'),
  ({'faults': [{'class': 'skew', 'role': 'mn-slow', 'ppm': 1}]}, "there is no node 'mn-slow'"),
  ({'workload': {'churn': 2}}, 'workload[0].churn'),
  ({'workload': {'churn': .5, 'range': 4}}, 'workload[0].range: has no effect'),
  ({'workload': {'churn': .5, 'verify': True}}, 'workload[0].verify'),
  ({'workload': {'churn': .5, 'mix': {'write': 1}}}, 'workload[0].mix: "write" is refused without a word'),
  ({'workload': {'churn': .5, 'spaces': 8192, 'pages': 1}}, "spaces: with 'churn' there may be 8191"),
  ({'timing': {'client': '2ms'}}, 'timing.client'),
  ({'memory': {'answer': 17}}, 'nodes[1].memory.answer'),
  ({'memory': {'answer': 0}}, 'nodes[1].memory.answer'),
  ({'memory': {'answer': 65520}}, 'nodes[1].memory.answer'),
  ({'workload': {'mix': {'call': 1}, 'size': 4096}},
   'workload[0].size: "call" needs one size of at most 4080'),
  ({'workload': {'mix': {'call': 1}, 'size': {'dist': 'uniform', 'min': 8, 'max': 64}}}, 'workload[0].size'),
  ({'workload': {'mix': {'call': 1}, 'size': 192}}, 'would not be within'),
  ({'memory': {'type': 'flat', 'pages': None, 'fault': None}, 'workload': {'mix': {'call': 1}}},
   'workload[0].mix: "call" needs targets'),
)


def faulty(tap, emu, folder):
  path = os.path.join(folder, 'faulty.json')
  for change, said in FAULTY:
    config = fabric({})
    if 'memory' in change:
      memory = config['nodes'][1]['memory'] | change['memory']
      config['nodes'][1]['memory'] = {key: value for key, value in memory.items() if value is not None}
    if 'workload' in change:
      config['workload'][0] = {'mix': {'read': 1}} | change['workload']
    config |= {key: value for key, value in change.items() if key not in ('memory', 'workload')}
    with open(path, 'w', encoding='utf-8') as file:
      json.dump(config, file)
    process = emu.run('--check', path)
    tap.ok(process.returncode != 0 and said in process.stderr and len(process.stderr.splitlines()) == 1,
           f'refused: {json.dumps(change)}', process.stderr)


def main():
  given = options()
  tap, emu = Tap(), Emu(given.emu, given.root)
  with tempfile.TemporaryDirectory() as folder:
    runs = Runs(emu, folder)
    levels(tap, runs, 'processes', lambda n: {'spaces': n, 'pages': 1})
    levels(tap, runs, 'entries', lambda n: {'spaces': 1, 'pages': n})
    first_access(tap, runs)
    ranges(tap, runs)
    by_trace(tap, runs, folder)
    client(tap, runs)
    call_times(tap, runs)
    calls(tap, runs)
    pages_that_come(tap, runs)
    again_after(tap, runs)
    leases(tap, runs)
    stalls(tap, runs)
    limits(tap, runs)
    churn(tap, runs)
    for seed in (*range(given.seed, given.seed + given.fabrics), *FOUND):
      is_same(tap, runs, seed)
    examples(tap, emu)
    faulty(tap, emu, folder)
  tap.done()


if __name__ == '__main__':
  main()
