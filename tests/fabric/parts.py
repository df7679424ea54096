# SPDX-License-Identifier: BSD-3-Clause
"""One fabric played by several processes: its file, the ports between them, and the processes."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

from emu import stood_still

WAIT = 300  # seconds that a run may take on a busy machine
ROLES = ('sw0', 'mn', 'cn')
NODES = ('cn', 'mn')
NOBODY = 65534


def fabric(ports, links, duration='2s', **more):
  """A compute node and a memory node, whose links are carried as told."""
  return {'ports': ports,
          'nodes': [{'name': 'cn', 'role': 'compute'}, {'name': 'mn', 'role': 'memory'}],
          'links': [{'node': node, 'carried': carried} for node, carried in links.items()],
          'host': {'read_timeout': '60s', 'write_timeout': '60s'},
          'clock': {'wall': {'warmup': '0', 'duration': duration, 'drain': '60s'}},
          'workload': [{'mix': {'read': 2, 'write': 1, 'write_ack': 1, 'cas': 1},
                        'size': {'dist': 'uniform', 'min': 8, 'max': 5000}}], **more}


def carried():
  return {node: {'node': node, 'switch': f'sw-{node}'} for node in NODES}


def memif(name, harm=None):
  """The switch is the server of both sockets, which are names and no files: it waits for whoever comes, and
  may come back itself."""
  ports = []
  for number, node in enumerate(NODES):
    socket = f'socket=memfab-{name}-{os.getpid()}-{node},id=0'
    ports += [{'name': node, 'device': f'net_memif0,role=client,{socket}'},
              {'name': f'sw-{node}', 'device': f'net_memif{number},role=server,{socket}'}]
  if harm:
    for port in ports:
      port['impair'] = harm
  return ports, carried()


def lost_buffers(result):
  """By port that has not given all of them back, or does not say it (None)."""
  lost = {port['name']: port.get('lost_buffers') for port in result['ports']}
  return {name: count for name, count in lost.items() if count != 0}


def write(folder, name, config):
  path = os.path.join(folder, name)
  with open(path, 'w', encoding='utf-8') as file:
    json.dump(config, file)
  os.chmod(path, 0o644)
  return path


def pause(seconds, *processes):
  """Stops all threads of children for a while. A thread that waits for a CPU stops when it has one."""
  for process in processes:
    process.send_signal(signal.SIGSTOP)
  for process in processes:
    with contextlib.suppress(ChildProcessError):  # it has ended
      os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
  time.sleep(seconds)
  for process in processes:
    process.send_signal(signal.SIGCONT)


class Group:
  """Processes that play one fabric together. In front of a role's program stands what it is run by: another
  user, a network namespace."""

  def __init__(self, emu, folder, before=None):
    self.emu, self.folder, self.before = emu, folder, before or {}
    self.running, self.before_start = {}, {}

  def start(self, role, path, *args, name=None):
    """@param name  of the process, where a role is played by two"""
    name = name or role
    self.before_start[name] = len(self.said(name))
    with open(os.path.join(self.folder, f'{name}.err'), 'a', encoding='utf-8') as err:
      self.running[name] = subprocess.Popen(
        [*self.before.get(role, ()), self.emu.program, '--run', role, '--json',
         os.path.join(self.folder, f'{name}.json'), *args, path], stdout=subprocess.DEVNULL, stderr=err)

  def kill(self, role):
    self.running[role].kill()
    self.running[role].wait()

  def interrupt(self, *roles):
    """@param roles  none: all that run"""
    for role in roles or self.running:
      self.running[role].send_signal(signal.SIGINT)

  def said(self, role):
    try:
      with open(os.path.join(self.folder, f'{role}.err'), encoding='utf-8') as file:
        return file.read()
    except FileNotFoundError:
      return ''

  def says(self, role):
    """What was said since it was started last."""
    return self.said(role)[self.before_start[role]:]

  def waits_for(self, role, text, wait=WAIT, times=1):
    """Until a process has said something so often, since it was started last."""
    end = time.monotonic() + wait
    while time.monotonic() < end and self.says(role).count(text) < times:
      time.sleep(0.02)
    return self.says(role).count(text) >= times

  def end(self, wait=WAIT):
    """@return exit status of each; None: it had to be killed"""
    status, end = {}, time.monotonic() + wait
    for role, process in self.running.items():
      try:
        status[role] = process.wait(max(0.1, end - time.monotonic()))
      except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        status[role] = None
    return status

  def result(self, role):
    try:
      with open(os.path.join(self.folder, f'{role}.json'), encoding='utf-8') as file:
        return json.load(file)['result']
    except (OSError, ValueError, KeyError):
      return None

  def stood(self):
    """Seconds: the sum, over the processes that have ended, of the longest time that each stood still."""
    return sum(stood_still(result) for result in map(self.result, self.running) if result) / 1e12

  def all_said(self, status):
    return '\n'.join(f'{role} {status.get(role)}: {self.said(role)}' for role in self.running)


class Folder(tempfile.TemporaryDirectory):
  """One that anybody may write to: processes may run as somebody else."""

  def __enter__(self):
    folder = super().__enter__()
    os.chmod(folder, 0o777)
    return folder


def shell(command):
  return subprocess.run(command, shell=True, capture_output=True, text=True, check=False)


def without_root():
  """What runs a program as nobody in particular: nothing where we are that already; None: it cannot be."""
  if os.getuid() != 0:
    return []
  if shutil.which('setpriv') is None:
    return None
  return ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', '--no-new-privs']


class Spaces:
  """Network namespaces, one a role, and a veth pair for each link: NODE0 at the node, NODE1 at the switch.
  With `apart` the pairs of a link end in a namespace of the test, as wire-NODE0 and wire-NODE1, for whoever
  stands between them. `reason` says why there are none."""

  def __init__(self, apart=False):
    self.name = f'mf{os.getpid()}'
    self.space = {role: f'{self.name}{role}' for role in (*ROLES, *(['wire'] if apart else []))}
    self.reason = ''
    self.apart = apart

  def do(self, command):
    if not self.reason:
      process = shell(command)
      if process.returncode != 0:
        self.reason = f'{command}: {process.stderr.strip()}'

  def pair(self, space, name, other_space, other):
    self.do(f'ip link add {name} netns {space} type veth peer name {other} netns {other_space}')
    for where, device in ((space, name), (other_space, other)):
      # Nothing of the kernel's own goes there.
      self.do(f'ip netns exec {where} sysctl -qw net.ipv6.conf.{device}.disable_ipv6=1 || true')
      self.do(f'ip -n {where} link set {device} up')

  def __enter__(self):
    if os.getuid() != 0 or shutil.which('ip') is None:
      self.reason = 'network namespaces need root and ip'
    for space in self.space.values():
      self.do(f'ip netns add {space}')
    for node in NODES:
      if self.apart:
        self.pair(self.space[node], f'{node}0', self.space['wire'], f'wire-{node}0')
        self.pair(self.space['sw0'], f'{node}1', self.space['wire'], f'wire-{node}1')
      else:
        self.pair(self.space[node], f'{node}0', self.space['sw0'], f'{node}1')
    return self

  def __exit__(self, *_):
    for space in self.space.values():
      shell(f'ip netns delete {space}')

  def inside(self, role):
    return ['ip', 'netns', 'exec', self.space[role]]

  def before(self):
    return {role: self.inside(role) for role in ROLES}

  @staticmethod
  def ports():
    ports = []
    for number, node in enumerate(NODES):
      ports += [{'name': node, 'device': f'net_af_packet0,iface={node}0'},
                {'name': f'sw-{node}', 'device': f'net_af_packet{number},iface={node}1'}]
    return ports
