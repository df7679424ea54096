#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Strangers at the sockets of memifs: they connect and go at once, or stay and say nothing, or say nonsense.
The process behind a socket lives on, and so does the traffic of those who are let in.

  memif_proxies.py EMU ROOT [--strikes N]
"""
import os
import random
import socket
import sys
import time

from emu import Emu, Tap, need_eal
from parts import NODES, ROLES, Folder, Group, fabric, memif, write

WAIT = 300  # seconds: the machine may be busy
STRIKES = 1000


def strikes():
  return int(sys.argv[sys.argv.index('--strikes') + 1]) if '--strikes' in sys.argv else STRIKES


def addresses(ports):
  """Of the sockets, abstract or in a folder."""
  for port in ports:
    if 'role=server' in port['device']:
      arguments = dict(pair.split('=') for pair in port['device'].split(',')[1:])
      yield arguments['socket'] if arguments.get('socket-abstract') == 'no' else '\0' + arguments['socket']


def reach(address):
  """A connection, or None where nobody is, or nobody has time."""
  s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
  s.settimeout(1)
  try:
    s.connect(address)
  except OSError:
    s.close()
    return None
  return s


def strike(address, rng, held):
  """@return whether somebody was there"""
  s = reach(address)
  if s is None:
    return False
  what = rng.random()
  if what < 0.05:
    try:
      s.send(rng.randbytes(rng.choice((1, 64, 127, 129, 1000))))
    except OSError:
      pass
  if what < 0.1 and len(held) < 8:
    held.append(s)
    return True
  if held and rng.random() < 0.05:
    held.pop(rng.randrange(len(held))).close()
  s.close()
  return True


def wait_for(address):
  end = time.monotonic() + WAIT
  s = None
  while s is None and time.monotonic() < end:
    time.sleep(0.02)
    s = reach(address)
  if s is not None:
    s.close()
  return s is not None


def besiege(group, sockets, rng):
  """@return how often somebody was there"""
  done, held, end = 0, [], time.monotonic() + WAIT
  while done < strikes() and time.monotonic() < end and group.running['sw0'].poll() is None:
    done += strike(sockets[done % len(sockets)], rng, held)
  for s in held:
    s.close()
  return done


def in_a_folder(ports, folder):
  for port in ports:
    port['device'] = port['device'].replace('socket=', f'socket-abstract=no,socket={folder}/')


def files(tap, emu):
  """Files of sockets are deleted, and left behind by a switch that is killed: nodes find their way."""
  with Folder() as folder:
    ports, links = memif('proxies-files')
    in_a_folder(ports, folder)
    config = fabric(ports, links, '600s')
    for link in config['links']:
      link['carried'] |= {'hello': '20ms', 'silence': '1s', 'replay_max': '20ms'}
    path, sockets = write(folder, 'fabric.json', config), list(addresses(ports))
    group = Group(emu, folder)
    group.start('sw0', path)
    tap.ok(all(wait_for(address) for address in sockets), 'files: the switch is there', group.all_said({}))
    for address in sockets:
      os.remove(address)
    for role in ROLES[1:]:
      group.start(role, path)
    tap.ok(all(group.waits_for(node, 'is up') for node in NODES), 'files: deleted ones are made again',
           group.all_said({}))
    group.kill('sw0')
    tap.ok(all(os.path.exists(address) for address in sockets), 'files: who is killed leaves them behind')
    group.start('sw0', path)
    tap.ok(all(group.waits_for(node, 'again') for node in NODES), 'files: who is started again has them',
           group.all_said({}))
    group.start('sw0', path, name='second')
    group.running['second'].wait(WAIT)
    tap.ok('in use' in group.said('second'), 'files: but nobody has those of who lives',
           group.said('second'))
    group.interrupt('cn', 'mn', 'sw0')
    status = group.end()
    tap.ok(None not in status.values(), 'files: all end', status)
    tap.ok(not any(map(os.path.exists, sockets)), 'files: and leave none behind', os.listdir(folder))


def siege(tap, emu, what, abstract, rng):
  """Before anybody is let in, and while traffic runs."""
  with Folder() as folder:
    ports, links = memif(f'proxies-{what}')
    if not abstract:
      in_a_folder(ports, folder)
    path, sockets = write(folder, 'fabric.json', fabric(ports, links)), list(addresses(ports))
    group = Group(emu, folder)
    group.start('sw0', path)
    tap.ok(all(wait_for(address) for address in sockets), f'{what}: the switch is there', group.all_said({}))
    before = besiege(group, sockets, rng)
    for role in ROLES[1:]:
      group.start(role, path)
    tap.ok(group.waits_for('sw0', 'is up', times=len(NODES)), f'{what}: who belongs there comes in',
           group.all_said({}))
    while_up = besiege(group, sockets, rng)
    status = group.end()
    # While all are connected the driver looks at its socket once a second.
    tap.ok(before == strikes() and while_up > 10, f'{what}: there were strangers', [before, while_up])
    print(f'# {what}: {before} before, {while_up} while traffic ran', flush=True)
    tap.ok(all(code == 0 for code in status.values()), f'{what}: all end well', group.all_said(status))
    done = (group.result('cn') or {}).get('operations', {})
    tap.ok(done.get('completed_all') == done.get('begun_all') and done.get('verified', 0) > 0 == done.get(
      'mismatches') == done.get('failed_all'), f'{what}: all completed and verified', done)
    left = [name for name in os.listdir(folder) if 'memfab-proxies' in name]
    tap.ok(not left, f'{what}: no socket is left behind', left)


def main():
  emu, tap, seed = Emu(sys.argv[1], sys.argv[2]), Tap(), int(time.time())
  need_eal(tap, emu, 'strangers at sockets')
  print(f'# seed {seed}', flush=True)
  files(tap, emu)
  for what, abstract in (('abstract', True), ('a file', False)):
    siege(tap, emu, what.replace(' ', '-'), abstract, random.Random(seed))
  tap.done()


main()
