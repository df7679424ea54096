#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program that has all of a memory node is killed, and started again; then the memory node is. And such a
program is killed for good: when its leases are over another one has all that it had."""
import os
import subprocess
import sys
import tempfile
import time

ROOT, EMU, PROGRAM = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Emu, Tap, need_eal
from parts import Group, memif, write

TAP = Tap()
KILLS = 3
SPACES, RANGES = 16, 64
WAIT = 300  # seconds: the machine may be busy


def config():
  """There is not one space or page more than the program takes. No lease ends while it runs."""
  ports, links = memif('spaces')
  for link in links.values():
    link |= {'hello': '20ms', 'silence': '1s', 'replay_max': '20ms'}
  memory = {'type': 'virtual', 'pages': {'4KiB': '512KiB'}, 'spaces': SPACES, 'ranges': RANGES, 'lease': '1h'}
  return {'ports': ports, 'host': {'read_timeout': '2s', 'write_timeout': '2s'},
          'nodes': [{'name': 'cn0', 'role': 'compute'}, {'name': 'mn0', 'role': 'memory', 'memory': memory}],
          'links': [{'node': f'{node}0', 'carried': link} for node, link in links.items()]}


LEASE = 2  # seconds
HEIRS = ('cn0', 'cn1')


def config_of_heirs():
  """Two compute nodes, each over a socket of its own. A lease ends soon."""
  nodes, ports, links = (*HEIRS, 'mn0'), [], []
  for number, node in enumerate(nodes):
    socket = f'socket=memfab-heirs-{os.getpid()}-{node},id=0'
    ports += [{'name': node, 'device': f'net_memif0,role=client,{socket}'},
              {'name': f'sw-{node}', 'device': f'net_memif{number},role=server,{socket}'}]
    links.append({'node': node, 'carried': {'node': node, 'switch': f'sw-{node}', 'hello': '20ms',
                                            'silence': '1s', 'replay_max': '20ms'}})
  of_two = config()
  of_two['nodes'][1]['memory']['lease'] = f'{LEASE}s'
  heirs = [{'name': name, 'role': 'compute'} for name in HEIRS]
  return of_two | {'nodes': heirs + of_two['nodes'][1:],
                   'ports': ports, 'links': links}


def start(path, *node):
  return subprocess.Popen([PROGRAM, path, *node], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def nothing_is_left(result):
  memory = result['memory']['mn0']
  used = [memory[key] for key in ('spaces', 'entries', 'slots')]
  used += [page['in_use'] for page in memory['pages']]
  return memory['leases_over'] >= SPACES and memory['ranges_left'] == RANGES and not any(used)


def killed_for_good():
  """Nobody comes back as that node, so the leases alone give back what it had."""
  with tempfile.TemporaryDirectory() as folder:
    group, path = Group(Emu(EMU, ROOT), folder), write(folder, 'fabric.json', config_of_heirs())
    for role in ('sw0', 'mn0'):
      group.start(role, path)
    first, heir = start(path), start(path, HEIRS[1])
    TAP.ok(heir.stdout.readline() == 'ready\n' and first.stdout.readline() == 'full\n',
           'a program has all, another one is there', group.all_said({}))
    first.kill()
    killed = time.monotonic()
    first.communicate()
    heir.stdin.write('\n')
    heir.stdin.flush()
    TAP.ok(heir.stdout.readline() == 'full\n', 'it has all when the first one was killed',
           group.all_said({}))
    print(f'# {time.monotonic() - killed:.2f} s after that, with leases of {LEASE} s', flush=True)
    out, err = heir.communicate(timeout=WAIT)
    TAP.ok(heir.returncode == 0 and out == '', 'and ends it', f'{heir.returncode} {out} {err}')
    group.interrupt('mn0')
    status = group.running['mn0'].wait(WAIT)
    result = group.result('mn0')
    TAP.ok(result is not None and nothing_is_left(result), 'by leases; then nothing is left',
           (status, result and result['memory'], group.all_said({})))
    group.kill('sw0')


def main():
  need_eal(TAP, Emu(EMU, ROOT), 'spaces that are lost')
  with tempfile.TemporaryDirectory() as folder:
    group, path = Group(Emu(EMU, ROOT), folder), write(folder, 'fabric.json', config())
    group.start('sw0', path)
    group.start('mn0', path)
    program = start(path)
    for kill in range(KILLS):
      TAP.ok(program.stdout.readline() == 'full\n', f'it has all, {kill} kills before', group.all_said({}))
      program.kill()
      program.communicate()
      program = start(path)
    TAP.ok(program.stdout.readline() == 'full\n', 'it has all', group.all_said({}))
    group.kill('mn0')
    group.start('mn0', path)
    out, err = program.communicate(timeout=WAIT)
    TAP.ok(program.returncode == 0 and out == 'full\n', 'it has all of a memory node that was started again',
           f'{program.returncode} {err}\n{group.all_said({})}')
    for role in group.running:
      group.kill(role)
  killed_for_good()
  TAP.done()


main()
