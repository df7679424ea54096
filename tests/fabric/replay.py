#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Wall clock: what was recorded replays to identical outputs, and a damaged record does not.

Skipped where EAL cannot start."""
import json
import os
import re
import resource
import struct
import sys
import tempfile

from emu import Emu, Tap, why

TIMES = ('--warmup', '50ms', '--duration', '100ms')
ROOM = 8192  # octets of a file
TRIES = 4  # of a run in which some role did nothing
ROLES = ['cn0', 'cn1', 'mn0', 'mn1', 'scheduler', 'sw0']
HEADER = struct.Struct('=16s64sII')
ENTRY = struct.Struct('=BBHIQII')  # lib/record/mf_record.h
TX, TAKE = 3, 5
LINE = re.compile(r'(\w+): (\d+) calls; (\d+) outputs, (\d+) octets identical$', re.M)
OUTPUTS = {'scheduler': TAKE, 'sw0': TAKE, 'cn0': TX, 'mn1': TX}


def placement(result):
  """lcore of each role."""
  return dict(re.findall(r'(\w+)@(\d+)', result['run']['placement']))


def outputs(data, call):
  """Where the data of the outputs of a kind is, and how much."""
  at = HEADER.size
  while at < len(data):
    kind, _, _, size, *_ = ENTRY.unpack_from(data, at)
    at += ENTRY.size
    if kind == call and size:
      yield at, size
    at += size


def replayed(emu, fabric, folder):
  """@return the process; calls, outputs and their octets by role"""
  process = emu.run(*TIMES, '--replay', folder, fabric)
  return process, {role: tuple(map(int, rest)) for role, *rest in LINE.findall(process.stdout)}


def is_something(lines, silent):
  """Whether each role had something to do and did it."""
  return all(calls > out > 0 and octets > 0 for role, (calls, out, octets) in lines.items()
             if role not in silent)


def recorded(tap, emu, name, fabric, folder, silent=()):
  """Records a run and replays it: again where an lcore got no CPU in all its time. @return the placement, or
  None"""
  for _ in range(TRIES):
    process, result = emu.result(*TIMES, '--record', folder, fabric)
    if result is None or is_something(replayed(emu, fabric, folder)[1], silent):
      break
    print(f'# {name}: some role did nothing: again', flush=True)
  # Sound or not, as a busy machine may have it: what happened must happen again.
  if not tap.ok(result is not None, f'{name}: recorded', why(process)):
    return None
  tap.ok(sorted(os.listdir(folder)) == [r + '.rec' for r in ROLES], f'{name}: a record of each role',
         os.listdir(folder))
  process, lines = replayed(emu, fabric, folder)
  tap.ok(process.returncode == 0 and process.stderr == '' and sorted(lines) == ROLES,
         f'{name}: identical for all roles', why(process) + process.stdout)
  tap.ok(is_something(lines, silent), f'{name}: there was something to compare', lines)
  return placement(result)


def full(tap, emu, fabric, folder):
  """Records take their places together: where one cannot be written, those of the run before stay."""
  os.mkdir(folder)
  path = os.path.join(folder, 'sw0.rec')
  with open(path, 'w', encoding='utf-8') as file:
    file.write('old')
  soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
  resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))  # the program inherits it
  try:
    process = emu.run(*TIMES, '--record', folder, fabric)
  finally:
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
  with open(path, encoding='utf-8') as file:
    tap.ok(process.returncode == 1 and 'File too large' in process.stderr and file.read() == 'old'
           and os.listdir(folder) == ['sw0.rec'],
           'a record without room: the old ones stay', why(process) + str(os.listdir(folder)))


def damaged(tap, emu, fabric, folder):
  """One octet of one output is noticed; a record that is cut off is refused."""
  for role, call in OUTPUTS.items():
    path = os.path.join(folder, role + '.rec')
    with open(path, 'rb') as file:
      good = file.read()
    places = list(outputs(good, call))
    at, size = places[len(places) // 2]
    bad = bytearray(good)
    bad[at + size - 16] ^= 1
    with open(path, 'wb') as file:
      file.write(bad)
    process = emu.run(*TIMES, '--replay', folder, fabric)
    tap.ok(process.returncode == 1 and f'{role}: ' in process.stdout and 'differ' in process.stderr
           and len(LINE.findall(process.stdout)) == len(ROLES) - 1
           and '; 1 outputs differ, the first in entry ' in process.stdout,
           f'{role}: a damaged octet is a difference', why(process) + process.stdout)
    with open(path, 'wb') as file:
      file.write(good[:at + 1])
    process = emu.run(*TIMES, '--replay', folder, fabric)
    tap.ok(process.returncode == 1 and f'{role}.rec is cut off' in process.stdout,
           f'{role}: a record that is cut off is refused', why(process) + process.stdout)
    with open(path, 'wb') as file:
      file.write(good)
  process = emu.run(*TIMES, '--seed', '12345', '--replay', folder, fabric)
  tap.ok(process.returncode == 1 and 'another fabric file' in process.stdout, 'another seed is refused',
         why(process) + process.stdout)


def shared_fabric(emu, folder, name='quickstart'):
  """An example with the scheduler on an lcore that it shares."""
  with open(emu.example(name), encoding='utf-8') as file:
    fabric = json.load(file)
  fabric['placement'] = {'scheduler_own_lcore': False}
  path = os.path.join(folder, 'shared.json')
  with open(path, 'w', encoding='utf-8') as file:
    json.dump(fabric, file)
  return path


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  process = emu.run('--duration', '10ms', '--warmup', '0', emu.example('quickstart'))
  if 'EAL' in process.stderr:
    print(f'1..0 # SKIP {process.stderr.strip().splitlines()[-1]}')
    sys.exit(0)
  with tempfile.TemporaryDirectory() as top:
    fabric, folder = shared_fabric(emu, top), os.path.join(top, 'shared')
    place = recorded(tap, emu, 'shared lcore', fabric, folder)
    if place is not None:
      tap.ok(list(place.values()).count(place['scheduler']) > 1, 'shared lcore: it is', place)
    fabric, folder = emu.example('quickstart'), os.path.join(top, 'own')
    place = recorded(tap, emu, 'own lcore', fabric, folder)
    if place is not None and len(os.sched_getaffinity(0)) > 1 and len(set(place.values())) > 1:
      tap.ok(list(place.values()).count(place['scheduler']) == 1, 'own lcore: it is', place)
    else:
      tap.skip('own lcore: it is', 'there is one lcore only')
    if place is not None:
      damaged(tap, emu, fabric, folder)
    full(tap, emu, fabric, os.path.join(top, 'full'))
    # A switch of frames tells its scheduler nothing, wherever that is.
    recorded(tap, emu, 'frames, own lcore', emu.example('stacks/rocev2'), os.path.join(top, 'frames'),
             ('scheduler',))
    recorded(tap, emu, 'frames, shared lcore', shared_fabric(emu, top, 'stacks/rocev2'),
             os.path.join(top, 'frames-shared'), ('scheduler',))
  tap.done()


main(*sys.argv[1:])
