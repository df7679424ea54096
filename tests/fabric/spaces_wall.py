#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory with address spaces, by the wall clock: its slow path is a role. Skipped without EAL.

  spaces_wall.py EMU ROOT

With the slow path on the lcore of its node, and on another one: all complete, what is read was written,
though few pages are ready, all pages are accounted for, and the record of each role replays. A record that
says what no slow path says is refused. The slow path stands still for a while. A node that is to crash is
refused.
"""
import os
import struct
import sys
import tempfile
import zlib

import breaking
from emu import Emu, Tap, need_eal, why
from spaces import accounted, wrong

CPUS = ','.join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
PLACES = {'one lcore': '0', 'five lcores': f'(0-4)@({CPUS})', 'six lcores': f'(0-5)@({CPUS})'}
ROLES = 6  # scheduler, switch, two compute nodes, memory node, slow path
OPERATIONS = 1500  # of each compute node

HEADER = 88  # docs/rooms/record.md
ENTRY = struct.Struct('<BBHIQII')
GIVE = 4
PAGES = 6  # enum mf_vm_item_kind


def fabric(**more):
  return {'watchdog': '0', 'host': {'read_timeout': '60s', 'write_timeout': '60s'},
          'clock': {'wall': {'warmup': '0', 'duration': '60s', 'drain': '60s'}},
          'nodes': [{'name': 'cn', 'count': 2, 'role': 'compute'},
                    {'name': 'mn', 'role': 'memory',
                     'memory': {'type': 'virtual', 'size': '64MiB', 'pages': '4KiB', 'ring': 4}}],
          'workload': [{'mix': {'read': 3, 'write': 1, 'write_ack': 1, 'fadd': 1, 'call': 2}, 'size': 256,
                        'depth': 4, 'spaces': 20, 'pages': 20, 'operations': OPERATIONS}]} | more


def lcores_of(result):
  return dict(role.split('@') for role in result['run']['placement'].split(','))


def damaged(path):
  """The first pages that the record of a node was given are of a class that there is not."""
  with open(path, 'rb') as file:
    data = bytearray(file.read())
  at = HEADER
  while at + ENTRY.size <= len(data):
    call, channel, count, size, now, number, _ = ENTRY.unpack_from(data, at)
    body = data[at + ENTRY.size:at + ENTRY.size + size]
    if call == GIVE and body[8] == PAGES:
      body[10] = 7
      entry = ENTRY.pack(call, channel, count, size, now, number, 0)
      check = zlib.crc32(entry) ^ zlib.crc32(body)
      data[at:at + ENTRY.size + size] = ENTRY.pack(call, channel, count, size, now, number, check) + body
      with open(path, 'wb') as file:
        file.write(data)
      return True
    at += ENTRY.size + size
  return False


def runs(tap, emu, top):
  for place, lcores in PLACES.items():
    folder = os.path.join(top, place.replace(' ', '-'))
    process, result = breaking.run_once(emu, fabric(), lcores, '--record', folder)
    if not tap.ok(result is not None and process.returncode == 0, f'{place}: runs', why(process)):
      continue
    done, at = result['operations'], lcores_of(result)
    tap.ok((at['mn'] == at['mn-slow']) == (place != 'six lcores'), f'{place}: where the slow path is', at)
    tap.ok(done['completed_all'] == 2 * OPERATIONS and done['failed_all'] == 0 and not wrong(result) and
           done['verified'] > 0, f'{place}: all complete, and what is read is right', done)
    tap.ok(result['spaces']['ready'] == 40 and result['memory']['mn']['faults'] <= 800 and accounted(result),
           f'{place}: all pages are accounted for', (result['spaces'], result['memory']))
    path = os.path.join(top, 'fabric.json')
    breaking.write(path, fabric())
    again, files = emu.run('--replay', folder, path), os.listdir(folder)
    tap.ok(again.returncode == 0 and again.stdout.count(' octets identical\n') == len(files) == ROLES,
           f'{place}: the record of each role replays', why(again) + again.stdout)
    found = damaged(os.path.join(folder, 'mn.rec'))
    again = emu.run('--replay', folder, path)
    tap.ok(found and again.returncode != 0 and 'makes no sense' in again.stdout,
           f'{place}: pages of a class that is not there are refused', why(again) + again.stdout)


def stalls(tap, emu):
  """The slow path stands still from the start on: until it goes on no space can be made."""
  fault = {'class': 'stall', 'role': 'mn-slow', 'from': '0', 'until': '300ms'}
  for place, lcores in PLACES.items():
    process, result = breaking.run_once(emu, fabric(faults=[fault]), lcores)
    if not tap.ok(result is not None and process.returncode == 0, f'{place}, a stall: runs', why(process)):
      continue
    done = result['operations']
    tap.ok(result['faults']['stall'] == 1 and result['spaces']['ready_at_ps'] >= 300e9,
           f'{place}, a stall: nothing is answered while it lasts', (result['faults'], result['spaces']))
    tap.ok(done['completed_all'] == 2 * OPERATIONS and done['failed_all'] == 0 and not wrong(result) and
           accounted(result), f'{place}, a stall: then all complete', (done, result['memory']))


def refused(tap, emu, top):
  path = os.path.join(top, 'crash.json')
  breaking.write(path, fabric(faults=[{'class': 'node_crash', 'node': 'mn', 'from': '1ms', 'until': '2ms'}]))
  process = emu.run('--clock', 'wall', path)
  tap.ok(process.returncode != 0 and '"node_crash" and memory of the type "virtual"' in process.stderr,
         'a memory node that is to crash is refused', why(process))


def main():
  emu, root = sys.argv[1:3]
  tap, emu = Tap(), Emu(emu, root)
  need_eal(tap, emu, 'by the wall clock')
  with tempfile.TemporaryDirectory() as top:
    runs(tap, emu, top)
    stalls(tap, emu)
    refused(tap, emu, top)
  tap.done()


if __name__ == '__main__':
  main()
