#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What stands where the socket of a memif is to be: a server takes the place of a socket that nobody serves,
and of nothing else; whatever else is there stays, and both ends refuse it with the same line, before
anything is started: with --check, too.

  sockets.py EMU PERF ROOT
"""
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

from emu import Emu, Tap, need_eal
from parts import Folder, fabric, write, without_root

WAIT = 300  # seconds: the machine may be busy
NODES = ('cn', 'mn')


def config(folder, paths):
  """@param paths  of the sockets, by node; the others are good"""
  ports = []
  for number, node in enumerate(NODES):
    path = f'socket-abstract=no,id=0,socket={paths.get(node, os.path.join(folder, "good-" + node))}'
    ports += [{'name': node, 'device': f'net_memif0,role=client,{path}'},
              {'name': f'sw-{node}', 'device': f'net_memif{number},role=server,{path}'}]
  return write(folder, 'fabric.json', fabric(ports, {n: {'node': n, 'switch': f'sw-{n}'} for n in NODES}))


# What may be there: each makes it, and returns what has to be kept alive.


def a_regular_file(path):
  with open(path, 'w', encoding='utf-8') as file:
    file.write('precious')


def an_executable_without_content(path):
  a_regular_file(path)
  os.chmod(path, 0o700)


def a_fifo(path):
  os.mkfifo(path)


def a_folder(path):
  os.mkdir(path)


def a_device(path):
  os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))


def bound(path, kind=socket.SOCK_SEQPACKET, backlog=None):
  made = socket.socket(socket.AF_UNIX, kind)
  made.bind(path)
  if backlog is not None:
    made.listen(backlog)
  return made


def a_link_to_nothing(path):
  os.symlink(path + '-nothing', path)


def a_link_to_a_file(path):
  a_regular_file(path + '-target')
  os.symlink(path + '-target', path)


def a_link_to_a_dead_socket(path):
  bound(path + '-target').close()
  os.symlink(path + '-target', path)


def a_server(path):
  return bound(path, backlog=16)


def a_server_with_a_full_backlog(path):
  server, clients = bound(path, backlog=0), []
  for _ in range(4):
    clients.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
    clients[-1].setblocking(False)
    try:
      clients[-1].connect(path)
    except BlockingIOError:
      return server, clients
  raise RuntimeError('the backlog has no end')


def a_socket_that_does_not_listen(path):
  return bound(path)


def a_datagram_socket(path):
  return bound(path, socket.SOCK_DGRAM)


def a_stream_socket(path):
  return bound(path, socket.SOCK_STREAM, 16)


NO_SOCKET = {a_regular_file: 'a regular file', an_executable_without_content: 'a regular file',
             a_fifo: 'a FIFO',
             a_folder: 'a folder', a_device: 'a device'}
A_LINK = (a_link_to_nothing, a_link_to_a_file, a_link_to_a_dead_socket)
SERVED = (a_server, a_server_with_a_full_backlog, a_socket_that_does_not_listen, a_datagram_socket,
          a_stream_socket)


def name_of(make):
  return make.__name__.replace('_', ' ')


def state(path):
  """What has to stay as it is."""
  there = os.lstat(path)
  return there.st_dev, there.st_ino, there.st_mode, there.st_size, there.st_mtime_ns


def one_line(process, *words):
  """Ended by itself with one line that has all of these."""
  said = [line for line in process.stderr.splitlines() if not line.startswith(('EAL:', 'TELEMETRY:'))]
  return process.returncode in (1, 2) and len(said) == 1 and all(word in said[0] for word in words)


class Sockets:
  def __init__(self, tap, emu, perf):
    self.tap, self.emu, self.perf = tap, emu, perf

  def refuses(self, what, path, role, *words):
    """By --check and by a run, with the same line."""
    said = set()
    for args in (['--check'], []):
      process = self.emu.run(*args, '--run', role, path, timeout=WAIT)
      self.tap.ok(one_line(process, *words), f'{what}: {role} {" ".join(args) or "runs"}',
                  f'exit {process.returncode}: {process.stderr}')
      said.add(process.stderr)
    self.tap.ok(len(said) == 1, f'{what}: {role} says the same', said)
    return said.pop().partition(': ')[2].partition(': ')[2]

  def other_things(self):
    """At both ends, and at either port of the switch."""
    for make, words in NO_SOCKET.items():
      for node in NODES:
        with Folder() as folder:
          place, what = os.path.join(folder, 'place'), f'{name_of(make)} at {node}'
          try:
            make(place)
          except PermissionError as error:
            self.tap.skip(what, error)
            continue
          path, before = config(folder, {node: place}), state(place)
          said = {self.refuses(what, path, role, place, words,
                               f'ports[{2 * NODES.index(node) + (role == "sw0")}].device')
                  for role in ('sw0', node)}
          self.tap.ok(len(said) == 1, f'{what}: the same words at both ends', said)
          self.tap.ok(state(place) == before, f'{what}: it is as it was')

  def links(self):
    """A server follows none; a client does, as connect() would."""
    for make in A_LINK:
      with Folder() as folder:
        place = os.path.join(folder, 'place')
        make(place)
        target = os.readlink(place)
        before = state(place), os.path.lexists(target) and state(target)
        self.refuses(name_of(make), config(folder, {'cn': place}), 'sw0', place, 'a symbolic link')
        self.tap.ok((state(place), os.path.lexists(target) and state(target)) == before,
                    f'{name_of(make)}: all is as it was')

  def served(self):
    """Somebody has it; a check of the file finds no fault: it may be the run that goes on."""
    for make in SERVED:
      with Folder() as folder:
        place = os.path.join(folder, 'place')
        held = make(place)
        path, before = config(folder, {'mn': place}), state(place)
        process = self.emu.run('--run', 'sw0', path, timeout=WAIT)
        self.tap.ok(one_line(process, place, 'in use', 'ports.sw-mn.device'), f'{name_of(make)}: is refused',
                    f'exit {process.returncode}: {process.stderr}')
        self.tap.ok(state(place) == before, f'{name_of(make)}: it is as it was')
        self.tap.ok(self.emu.run('--check', '--run', 'sw0', path).returncode == 0,
                    f'{name_of(make)}: a good file')
        del held

  def left_behind(self):
    """A dead one makes room; what is put into its place while the run goes on stays."""
    for kind in (socket.SOCK_SEQPACKET, socket.SOCK_DGRAM, socket.SOCK_STREAM):
      with Folder() as folder:
        place, what = os.path.join(folder, 'place'), f'a dead socket of type {kind.name}'
        bound(place, kind).close()
        before = state(place)
        process = subprocess.Popen([self.emu.program, '--run', 'sw0', config(folder, {'cn': place})],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        line = ''
        while 'waiting' not in line and process.poll() is None:
          line = process.stderr.readline()
        self.tap.ok('waiting' in line and state(place) != before, f'{what}: is replaced', line)
        os.remove(place)
        a_regular_file(place)
        after = state(place)
        time.sleep(0.7)  # it looks for its file twice a second
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=WAIT)
        self.tap.ok(state(place) == after, f'{what}: a file in its place stays')
        self.tap.ok(os.listdir(folder) == ['place'] or set(os.listdir(folder)) == {'place', 'fabric.json'},
                    f'{what}: its own are gone', os.listdir(folder))

  def paths(self):
    """Missing folders, rights, lengths."""
    with Folder() as folder:
      said = {self.refuses('no folder', config(folder, {'cn': f'{folder}/none/place'}), role, 'ports[',
                           f'there is no folder {folder}/none') for role in ('sw0', 'cn')}
      self.tap.ok(len(said) == 1, 'no folder: the same words', said)
      long = f'{folder}/' + 'x' * (107 - len(folder))
      for args in ([], ['--run', 'cn'], ['--run', 'sw0']):
        process = self.emu.run('--check', *args, config(folder, {'cn': long}))
        self.tap.ok(one_line(process, 'ports[0].device', '108 characters, at most 107'), f'too long: {args}',
                    process.stderr)
      for role in ('sw0', 'cn'):
        process = self.emu.run('--check', '--run', role, config(folder, {'cn': long[:-1]}))
        self.tap.ok(process.returncode == 0, f'107 characters are not too long: {role}', process.stderr)
      self.without_rights(folder)

  def without_rights(self, folder):
    before = without_root()
    if before is None:
      self.tap.skip('rights', 'setpriv is not installed')
      return
    closed = os.path.join(folder, 'closed')
    os.mkdir(closed, 0o755 if before else 0o555)
    said = set()
    for role in ('sw0', 'cn'):
      process = subprocess.run([*before, self.emu.program, '--check', '--run', role,
                                config(folder,
                                       {'cn': f'{closed}/place'})], capture_output=True,
                                 text=True, check=False)
      self.tap.ok(one_line(process, f'no right to read and write the folder {closed}'), f'no rights: {role}',
                  process.stderr)
      said.add(process.stderr.partition('socket=')[2])
    self.tap.ok(len(said) == 1, 'no rights: the same words', said)

  def full_length(self):
    """The longest path works at both ends, and one without a folder."""
    with Folder() as folder:
      for place in (f'{folder}/' + 'x' * (106 - len(folder)), 'place'):
        path = config(folder, {'cn': place})
        group = [subprocess.Popen([self.emu.program, '--run', role, '--duration', '100ms', path], cwd=folder,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                 for role in ('sw0', 'cn', 'mn')]
        try:
          said = [process.communicate(timeout=WAIT)[1] for process in group]
        except subprocess.TimeoutExpired:
          said = ['it does not end']
          for process in group:
            process.kill()
        self.tap.ok(all(process.wait() == 0 for process in group), f'{len(place)} characters: they meet',
                    said)

  def other_programs(self):
    """What opens ports says the same as memfab-emu."""
    with Folder() as folder:
      place = os.path.join(folder, 'place')
      a_regular_file(place)
      process = subprocess.run([self.perf, 'read_lat', '--run', 'cn', config(folder, {'cn': place})],
                               capture_output=True, text=True, timeout=WAIT, check=False)
      self.tap.ok(process.returncode != 0 and f'socket={place}: a regular file is there' in process.stderr,
                  'memfab-perf refuses', process.stderr)
      with open(place, encoding='utf-8') as file:
        self.tap.ok(file.read() == 'precious', 'and leaves it')


def main():
  programs = [os.path.abspath(program) for program in sys.argv[1:3]]  # the folder is another one soon
  emu, tap = Emu(programs[0], os.path.abspath(sys.argv[3])), Tap()
  need_eal(tap, emu, 'sockets')
  os.chdir(tempfile.gettempdir())
  sockets = Sockets(tap, emu, programs[1])
  sockets.other_things()
  sockets.links()
  sockets.served()
  sockets.left_behind()
  sockets.paths()
  sockets.full_length()
  sockets.other_programs()
  tap.done()


main()
