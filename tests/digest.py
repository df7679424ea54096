#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Digests of what the virtual clock says, so that a change that should change no result can show it.

    digest.py PROGRAM > tests/digests.txt     # renews all of them
    digest.py PROGRAM --check                 # compares, and speaks TAP

A line has the name of a file, how it is run, the exit status, and the digest of `result` without `config`.
New keys of the fabric file stand in `config`, and change no digest. The files are the examples, the good
files of the tests, and random stars of every stack. A change that changes results on purpose renews the
lines in a commit of its own, which says why.
"""
import argparse
import hashlib
import json
import os
import random
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'fabric'))
from emu import Emu, Tap, text_of

FOLDERS = ('examples', 'examples/stacks', 'examples/client', 'examples/testpmd', 'examples/three-hosts',
           'examples/topologies', 'tests/fabric/good', 'tests/fabric/whole', 'tests/fabric/switches',
           'tests/fabric/tiers')
TIMES = ('--warmup', '2us', '--duration', '20us')
BRIEF = ('--warmup', '1us', '--duration', '3us')
LARGE = ('rack144', 'scale')  # files of many nodes run for the brief time, and in spans alone
STARS = 50
HARMED = 999  # number of the first star of a stack whose links are harmed: three of each stack
LICENCE = '# SPDX-License-Identifier: BSD-3-Clause'
STACKS = ('ethernet', 'rocev2', 'tcp', 'dctcp', 'pfabric', 'pfc', 'ird', 'cxl', 'fastpass')
UNSTAGED = ('ird', 'cxl', 'fastpass')  # they tell no stages
KINDS = {'ethernet': ('read', 'write_ack'), 'cxl': ('read', 'write', 'write_ack')}
ALL_KINDS = ('read', 'write', 'write_ack', 'cas', 'fadd', 'swap', 'or', 'and')
FAULTS = (
  {'class': 'bit', 'rate': 1e-5}, {'class': 'sync', 'rate': 1e-4}, {'class': 'type', 'rate': 1e-4},
  {'class': 'cut', 'rate': 1e-3}, {'class': 'lose', 'rate': 1e-3}, {'class': 'duplicate', 'rate': 1e-3},
  {'class': 'delay', 'rate': 1e-3, 'time': '400ns'}, {'class': 'reorder', 'rate': 1e-3, 'time': '300ns'},
  {'class': 'flood', 'rate': 0.05, 'node': 'c', 'to': 'm'}, {'class': 'spoof', 'rate': 0.02, 'node': 'c'},
  {'class': 'garbage', 'rate': 0.02, 'node': 'c'},
  {'class': 'link_down', 'link': 'c', 'from': '9us', 'until': '10us'},
  {'class': 'node_crash', 'node': 'm', 'from': '10us', 'until': '11us'},
  {'class': 'switch_crash', 'from': '11us', 'until': '12us'},
  {'class': 'stall', 'role': 'switch', 'from': '8us', 'until': '10us'},
  {'class': 'stall', 'role': 'scheduler', 'from': '8us', 'until': '9us'},
  {'class': 'exhaust', 'what': 'grants', 'node': 'm', 'from': '7us', 'until': '9us'},
  {'class': 'exhaust', 'what': 'egress', 'node': 'm', 'from': '7us', 'until': '9us'},
  {'class': 'skew', 'role': 'switch', 'ppm': 200})
HARM = 8  # classes of them that harm links


def some_of(r, values, share):
  return [value for value in values if r.random() < share] or [values[r.randrange(len(values))]]


def draw_trace(r, path, compute, memory):
  lines, at = ['start_ps,kind,src,dst,octets,request_octets'], 0
  for _ in range(r.randint(10, 60)):
    at += r.choice((0, 1, 1000, 200_000, 900_000))
    lines.append(f'{at},{r.choice(("read", "write", "write_ack"))},{r.randrange(compute)},'
                 f'{compute + r.randrange(memory)},{r.choice((8, 64, 1000, 5000))},0')
  with open(path, 'w', encoding='utf-8') as file:
    file.write('\n'.join(lines) + '\n')
  return {'trace': os.path.basename(path)}


def draw_workload(r, stack, path, compute, memory):
  if stack != 'ethernet' and r.random() < 0.15:
    return draw_trace(r, path, compute, memory)
  if r.random() < 0.1:
    return {'ycsb': r.choice(('A', 'B', 'F')), 'records': 200, 'depth': 4, 'acknowledge': stack == 'ethernet'}
  mix = some_of(r, KINDS.get(stack, ALL_KINDS), 0.5)
  workload = {'mix': {kind: r.randint(1, 3) for kind in mix}, 'span': '256KiB',
              'pattern': r.choice(('uniform', 'permutation', 'all-to-all', 'zipf'))}
  if {'read', 'write', 'write_ack'} & set(mix):
    workload['size'] = r.choice((8, 64, 64, 1000, 4096, 20000, {'dist': 'uniform', 'min': 1, 'max': 3000}))
  if r.random() < 0.4:
    workload |= {'loop': 'open', 'load': r.choice((0.2, 0.6, 0.9)), 'depth': 8}
  else:
    workload['depth'] = r.choice((1, 2, 8))
  if r.random() < 0.2:
    workload['operations'] = r.choice((50, 500))
  return workload


def draw_edm(r, config):
  """What EDM alone has."""
  config['scheduler'] = {'policy': r.choice(('pim', 'pim', 'greedy')), 'priority': r.choice(('fcfs', 'srpt')),
                         'chunk': r.choice((64, 256, 256, 1024)), 'x': r.choice((1, 3, 6)),
                         'time': r.choice(('none', 'asic')), 'slots': r.random() < 0.3}
  config['switch'] = {'align': r.random() < 0.3}
  if r.random() < 0.3:
    config['host'] = {'mega': r.choice((2, 8))}
  if r.random() < 0.3:
    config['proto'] = {'check': 32}
  if r.random() < 0.3:
    config['backup'] = r.choice(({}, {'propagation': '40ns'}))
  if r.random() < 0.3:
    config['regions'] = [{'name': 'all', 'size': '32MiB', 'owner': 'c0', 'readers': '*', 'writers': '*'}]
  if r.random() < 0.3:
    config['limits'] = {'share': 0.25, 'burst': '4KiB', 'rate': 1e6, 'rate_burst': 8, 'outstanding': 4}
  if r.random() < 0.6:
    config['faults'] = [r.choice(FAULTS) for _ in range(r.randint(1, 3))]
    config.setdefault('host', {}).update(read_timeout='20us', write_timeout='20us')


def draw_harm(r, stack, config):
  """What may happen to the links of a stack, and a node that has only frames."""
  config['faults'] = [r.choice(FAULTS[:HARM]) | {'link': r.choice(('*', 'c', 'm'))}
                      for _ in range(r.randint(1, 3))]
  if r.random() < 0.5:
    config['link']['disable'] = {'bad': 3, 'within': '50us', 'repair': '2us'}
  if stack != 'cxl':
    config['nodes'].append({'name': 'e', 'role': 'ethernet'})
    config['ethernet'] = [{'from': 'e', 'load': 0.1, 'size': 512}, {'from': 'c', 'to': 'e', 'load': 0.1}]


def draw(r, number, folder):
  """A star. Every other one is EDM's, the others go through the stacks; those from HARMED on are harmed."""
  stack = 'edm' if number % 2 == 0 else STACKS[number // 2 % len(STACKS)]
  if number >= HARMED:
    stack = STACKS[number % len(STACKS)]
  compute, memory = r.randint(2, 5), r.randint(1, 3)
  config = {'seed': number,
            'nodes': [{'name': 'c', 'role': 'compute', 'count': compute},
                      {'name': 'm', 'role': 'memory', 'count': memory + 1}],
            'link': {'rate': r.choice(('10G', '25G', '100G')),
                     'propagation': r.choice(('0', '10ns', '300ns')),
                     'policy': r.choice(('fair', 'memory-first')), 'scramble': r.random() < 0.3},
            'clock': {'virtual': {'drain': '20ms'}},
            'report': {'stages': r.random() < 0.15 and stack not in UNSTAGED, 'messages': r.random() < 0.3},
            'workload': [draw_workload(r, stack, os.path.join(folder, f'{number}.csv'), compute, memory + 1)]}
  if stack == 'edm':
    draw_edm(r, config)
  else:
    config['stack'] = stack
  if r.random() < 0.3 and stack != 'cxl':
    config['ethernet'] = [{'from': 'c', 'load': 0.1, 'size': r.choice((60, 512, 1500))}]
  if number >= HARMED:
    draw_harm(r, stack, config)
  return config


def files(folder):
  """Name, path and whether it is large, of each."""
  for where in FOLDERS:
    for name in sorted(os.listdir(os.path.join(ROOT, where))):
      if name.endswith('.json'):
        yield f'{where}/{name}', os.path.join(ROOT, where, name), name.startswith(LARGE)
  for number in (*range(STARS), *range(HARMED, HARMED + 3 * len(STACKS))):
    path = os.path.join(folder, f'{number}.json')
    with open(path, 'w', encoding='utf-8') as file:
      json.dump(draw(random.Random(number), number, folder), file)
    yield f'star/{number}', path, False


def digest_of(result):
  if result is None:
    return 'none'
  del result['result']['config']
  return hashlib.sha256(text_of(sort(result['result'])).encode()).hexdigest()[:16]


def sort(value):
  """The same with the keys of objects in order."""
  if isinstance(value, dict):
    return {key: sort(value[key]) for key in sorted(value)}
  return [sort(item) for item in value] if isinstance(value, list) else value


def lines(program):
  emu = Emu(program, ROOT)
  with tempfile.TemporaryDirectory() as folder:
    for name, path, large in files(folder):
      for how in ((), ('--block-by-block',))[:1 if large else 2]:
        process, result = emu.result('--clock', 'virtual', *(BRIEF if large else TIMES), *how, path)
        yield f'{name}{" blocks" if how else ""} {process.returncode} {digest_of(result)}', process


def check(program):
  tap = Tap()
  with open(os.path.join(ROOT, 'tests', 'digests.txt'), encoding='utf-8') as file:
    wanted = {line.rsplit(' ', 2)[0]: line for line in file.read().splitlines() if line != LICENCE}
  for line, process in lines(program):
    name = line.rsplit(' ', 2)[0]
    before = wanted.pop(name, None)
    tap.ok(line == before, name, f'now {line}\nwas {before}\n{process.stderr[-500:]}')
  tap.ok(not wanted, 'no other was there', '\n'.join(wanted))
  tap.done()


def main():
  parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
  parser.add_argument('program')
  parser.add_argument('--check', action='store_true', help='compare with tests/digests.txt')
  args = parser.parse_args()
  if args.check:
    check(args.program)
  print(LICENCE)
  for line, _ in lines(args.program):
    print(line, flush=True)


if __name__ == '__main__':
  main()
