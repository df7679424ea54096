#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Histories of runs are linearizable, under both clocks and of several processes; one with a value altered is
not, and the word is named. Real time is left out where EAL cannot start.

  history.py EMU ROOT CHECK
"""
import os
import sys

from emu import Emu, Tap, why
from histories import IN_ORDER, LOSSLESS, TELLS, Checker, altered, flags_of
from parts import Folder, Group, write

def fabric(size=None, **more):
  return {'nodes': [{'name': 'cn', 'role': 'compute', 'count': 2}, {'name': 'mn', 'role': 'memory'}],
          'memory': {'size': '4MiB'},
          'host': {'read_timeout': '60s', 'write_timeout': '60s'},
          'clock': {'virtual': {'warmup': '0', 'duration': '300us'},
                    'wall': {'warmup': '0', 'duration': '1s', 'drain': '60s'}},
          'workload': [{'mix': {'read': 3, 'write': 2, 'write_ack': 1, 'cas': 1, 'fadd': 1, 'or': 1},
                        'size': size or 64, 'span': '64KiB', 'depth': 8}], **more}


def shared(acknowledge):
  """Both clients read and write the same few records, of which some words are written in part."""
  return [{'ycsb': 'A', 'records': 16, 'fields': 2, 'field': 100, 'acknowledge': acknowledge, 'depth': 4}]


def apart():
  """Each node and the switch, over memif."""
  ports, links = [], []
  for number, node in enumerate(('cn0', 'cn1', 'mn')):
    socket = f'socket=memfab-history-{os.getpid()}-{node},id=0'
    ports += [{'name': node, 'device': f'net_memif{number},role=client,{socket}'},
              {'name': f'sw-{node}', 'device': f'net_memif{number},role=server,{socket}'}]
    links.append({'node': node, 'carried': {'node': node, 'switch': f'sw-{node}'}})
  return {'ports': ports, 'links': links}


def one(tap, emu, checker, what, clock, config, alter=False):
  with Folder() as folder:
    path, history = write(folder, 'fabric.json', config), os.path.join(folder, 'run.hist')
    process = emu.run('--clock', clock, '--history', history, path)
    if not tap.ok(process.returncode == 0, f'{what}: runs', why(process)):
      return
    checker.passes(tap, what, history)
    tap.ok(flags_of(history) == IN_ORDER | LOSSLESS | TELLS, f'{what}: nothing is lost', flags_of(history))
    if alter:
      altered(tap, checker, what, folder, history)


def late(tap, emu, checker):
  """Grants expire before their chunks are there: plain writes are lost without a word."""
  more = {'link': {'propagation': '2us'}, 'switch': {'grant_timeout': {'virtual': '1us'}}}
  with Folder() as folder:
    path, history = write(folder, 'fabric.json', fabric(**more)), os.path.join(folder, 'run.hist')
    process = emu.run('--clock', 'virtual', '--history', history, path)
    tap.ok('had not taken effect' in process.stderr, 'late chunks: writes are lost', why(process))
    tap.ok(flags_of(history) == IN_ORDER | TELLS, 'late chunks: it is known', flags_of(history))
    checker.passes(tap, 'late chunks', history, least=10)


def store(tap, emu, checker, clock):
  """All clients read and write the same records."""
  with Folder() as folder:
    history = os.path.join(folder, 'run.hist')
    process = emu.run('--clock', clock, '--history', history, '--duration',
                      '300ms' if clock == 'wall' else '500us', emu.example('ycsb-a'))
    if tap.ok(process.returncode == 0, f'a store, {clock}: runs', why(process)):
      checker.passes(tap, f'a store, {clock}', history)


def full(tap, emu, checker):
  with Folder() as folder:
    path, history = write(folder, 'fabric.json', fabric()), os.path.join(folder, 'run.hist')
    process = emu.run('--clock', 'virtual', '--history', history + ',room=64KiB', path)
    tap.ok(process.returncode == 0 and 'full after' in process.stderr, 'no more room: is said', why(process))
    process = checker.run(history)
    tap.ok(process.returncode == 0 and 'until a log was full' in process.stdout,
           'no more room: until then it is linearizable', why(process))


def processes(tap, emu, checker, what, roles, **more):
  """Over memif; the histories of all of them together."""
  with Folder() as folder:
    path = write(folder, 'fabric.json', fabric(**apart(), **more))
    group = Group(emu, folder)
    history = {role: os.path.join(folder, f'{role}.hist') for role in roles}
    for role, file in history.items():
      group.start(role, path, '--history', file)
    status = group.end()
    if tap.ok(all(code == 0 for code in status.values()), f'{what}: run', group.all_said(status)):
      checker.passes(tap, what, *history.values())
      tap.ok(all(flags_of(file) == IN_ORDER | TELLS for file in history.values()),
             f'{what}: nobody knows what the switch drops')


def refused(tap, emu):
  example = emu.example('quickstart')
  for args, text in ((['--history', ''], 'not an empty one'), (['--history', 'x,size=3'], 'room=SIZE'),
                     (['--history', 'x,room=1'], '64KiB'), (['--history', '/', ], '/'),
                     (['--history', 'x', '--check'], '--check')):
    process = emu.run(*args, example)
    tap.ok(process.returncode == 2 and text in process.stderr and process.stderr.count('\n') == 1,
           f'{" ".join(args)}: is refused', why(process))


def main():
  tap, emu, checker = Tap(), Emu(sys.argv[1], sys.argv[2]), Checker(sys.argv[3])
  one(tap, emu, checker, 'virtual', 'virtual', fabric(), alter=True)
  one(tap, emu, checker, 'virtual, long', 'virtual', fabric(size={'dist': 'uniform', 'min': 1, 'max': 7000}))
  store(tap, emu, checker, 'virtual')
  full(tap, emu, checker)
  late(tap, emu, checker)
  refused(tap, emu)
  if emu.run('--duration', '1ms', '--warmup', '0', emu.example('quickstart')).returncode not in (0, 1):
    tap.skip('real time', 'EAL cannot start')
    tap.done()
  one(tap, emu, checker, 'wall', 'wall', fabric())
  store(tap, emu, checker, 'wall')
  processes(tap, emu, checker, 'three processes', ('sw0', 'mn', 'cn'),
            size={'dist': 'uniform', 'min': 1, 'max': 3000})
  for acknowledge in (False, True):
    processes(tap, emu, checker, f'four processes share {"acknowledged" if acknowledge else "plain"} writes',
              ('sw0', 'mn', 'cn0', 'cn1'), workload=shared(acknowledge))
  tap.done()


main()
