#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What three processes capture of their ports, from the handshake to the end, with frames lost and others
that are refused: link frames of every type, all dissected, and nothing wrong with them. Skipped where EAL
cannot start."""
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'fabric'))
from emu import Emu, Tap  # noqa: E402
from tshark import Tshark, why_not  # noqa: E402

WAIT = 300  # seconds that a run may take on a busy machine
# What they do, so that the files stay small, since the dissector takes its time for each block: messages of
# one chunk and of two, chunks of one link frame and of two.
OPERATIONS = 250
CHUNK = 2048
TYPES = {'HELLO': '1', 'DATA': '2', 'ACK': '3', 'NACK': '4', 'BYE': '5', 'REFUSE': '6'}
KINDS = {'RREQ': '1', 'WREQ': '2', 'WREQ_ACK': '3', 'RMWREQ': '4', 'RRES': '5', 'ACK': '6', '/N/': '9',
         '/G/': '10'}
# What is lost and sent again is, and is said to be; all else is a fault of who wrote it or of who reads it.
FAULTS = ['_ws.malformed', '_ws.lua.error'] + [
  f'memfab.expert.{name}' for name in ('crc', 'check', 'short', 'unknown', 'format', 'cut')]
HAVE = ['memfab.type', 'memfab.kind', 'memfab.crc.status', 'memfab.response_in', 'memfab.grant_in',
        'memfab.frame', 'memfab.hello.name', 'memfab.refuse.reason']


def fabric(folder, **more):
  ports = []
  for number, node in enumerate(('cn', 'mn')):
    link = f'socket={folder}/{node}.sock,socket-abstract=no,id=0'
    ports += [{'name': node, 'device': f'net_memif0,role=client,{link}'},
              {'name': f'sw-{node}', 'device': f'net_memif{number},role=server,{link}'}]
  for port in ports:
    port['impair'] = {'drop': 0.02, 'duplicate': 0.01, 'reorder': 0.01}
  return {'ports': ports, 'nodes': [{'name': 'cn', 'role': 'compute'}, {'name': 'mn', 'role': 'memory'}],
          'links': [{'node': n, 'carried': {'node': n, 'switch': f'sw-{n}'}} for n in ('cn', 'mn')],
          'host': {'read_timeout': '60s', 'write_timeout': '60s'},
          'clock': {'wall': {'warmup': '0', 'duration': '300ms', 'drain': '60s'}},
          'workload': [{'operations': OPERATIONS, 'mix': {'read': 2, 'write': 1, 'write_ack': 1, 'cas': 1},
                        'size': {'dist': 'uniform', 'min': 8, 'max': 2500}}],
          'switch': {'grant_timeout': '60s', 'hold_timeout': '60s'},
          'scheduler': {'chunk': CHUNK},
          'ethernet': [{'from': 'cn', 'to': 'mn', 'size': 1500, 'load': 0.0005}], **more}


class Process:
  """One that plays a role, and captures its port."""

  def __init__(self, emu, folder, role, name, config):
    self.capture, self.err = (os.path.join(folder, name + end) for end in ('.pcapng', '.err'))
    path = os.path.join(folder, name + '.json')
    with open(path, 'w', encoding='utf-8') as file:
      json.dump(config, file)
    with open(self.err, 'w', encoding='utf-8') as err:
      self.process = subprocess.Popen([emu.program, '--run', role, '--capture', self.capture, path],
                                      stdout=subprocess.DEVNULL, stderr=err)

  def said(self):
    with open(self.err, encoding='utf-8') as file:
      return file.read()

  def waits_for(self, text):
    end = time.monotonic() + WAIT
    while time.monotonic() < end and text not in self.said():
      time.sleep(0.05)
    return text in self.said()

  def end(self, ask=False):
    if ask:
      self.process.send_signal(signal.SIGINT)
    try:
      return self.process.wait(WAIT)
    except subprocess.TimeoutExpired:
      self.process.kill()
      return self.process.wait()


def captured(tap, emu, folder):
  """The files of all of them, or None."""
  switch = Process(emu, folder, 'sw0', 'sw0', fabric(folder))
  other = Process(emu, folder, 'mn', 'other', fabric(folder, scheduler={'chunk': 128}))
  tap.ok(switch.waits_for('refuse'), 'a process with another file is refused', switch.said())
  other.end(ask=True)
  all_of_them = [switch] + [Process(emu, folder, role, role, fabric(folder)) for role in ('mn', 'cn')]
  status = [p.end() for p in all_of_them]
  if tap.ok(status == [0, 0, 0], 'the others end well',
            ''.join(f'{p.said()}\n' for p in all_of_them) + str(status)):
    return [p.capture for p in all_of_them]
  return None


def look_at(tap, tshark, path, seen):
  name = os.path.basename(path)
  rows = tshark.fields(path, [*HAVE, *FAULTS, 'memfab.expert.again', 'memfab.expert.gap'],
                       more=('-2',))
  faults = [(i + 1, dict(zip(HAVE + FAULTS, row))) for i, row in enumerate(rows)
            if any(row[len(HAVE):len(HAVE) + len(FAULTS)])]
  tap.ok(rows and not faults and tshark.errors == '', f'{name}: {len(rows)} frames, nothing wrong',
         f'{faults[:5]}\n{tshark.errors}')
  tap.ok(all(row[2] == ['1'] for row in rows), f'{name}: every CRC is right')
  for column, field in enumerate(HAVE):
    seen[field].update(value for row in rows for value in row[column])
  ends(tap, name, [row[0][0] for row in rows if row[0]])


def ends(tap, name, types):
  """The file begins with the handshake and ends with the farewell."""
  tap.ok(types[0] == TYPES['HELLO'] and TYPES['BYE'] in types[-100:],
         f'{name}: from the handshake to the end', types[:3] + types[-20:])


def main(program, root):
  emu, tap, reason = Emu(program, root), Tap(), why_not()
  process = emu.run('--duration', '10ms', '--warmup', '0', emu.example('quickstart'))
  if 'EAL' in process.stderr:
    reason = process.stderr.strip().splitlines()[-1]
  if reason:
    tap.skip('processes', reason)
    tap.done()
  seen = collections.defaultdict(set)
  with tempfile.TemporaryDirectory() as folder, Tshark(root) as tshark:
    paths = captured(tap, emu, folder)
    for path in paths or ():
      look_at(tap, tshark, path, seen)
  if paths:
    for what, table, field in (('type', TYPES, 'memfab.type'), ('kind', KINDS, 'memfab.kind')):
      missing = [name for name, number in table.items() if number not in seen[field]]
      tap.ok(not missing, f'frames or messages of every {what}', missing)
    tap.ok(all(seen[field] for field in HAVE), 'conversations, frames, names, reasons', dict(seen))
    tap.ok({'cn', 'mn', 'sw0'} <= seen['memfab.hello.name'], 'who greets', seen['memfab.hello.name'])
  tap.done()


main(*sys.argv[1:])
