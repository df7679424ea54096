#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One fabric played by several processes, and links over ports within one. Skipped where EAL cannot start.

They poll on whatever CPUs there are, so nothing here depends on how fast that is.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from emu import Emu, Tap, why

WAIT = 90  # seconds that a run may take on a busy machine
DURATION = 2  # seconds of load; how much is done in them is the machine's business
HARM = {'drop': 0.01, 'duplicate': 0.01, 'reorder': 0.01, 'corrupt': 0.01}
ROLES = ('sw0', 'mn', 'cn')


def fabric(ports, links, **more):
  """A compute node and a memory node, whose links are carried as told."""
  return {'ports': ports,
          'nodes': [{'name': 'cn', 'role': 'compute'}, {'name': 'mn', 'role': 'memory'}],
          'links': [{'node': node, 'carried': carried} for node, carried in links.items()],
          'host': {'read_timeout': '60s', 'write_timeout': '60s'},
          'clock': {'wall': {'warmup': '0', 'duration': f'{DURATION}s', 'drain': '60s'}},
          'workload': [{'mix': {'read': 2, 'write': 1, 'write_ack': 1, 'cas': 1},
                        'size': {'dist': 'uniform', 'min': 8, 'max': 5000}}], **more}


def memif(folder, harm=None):
  """The switch is the server of both sockets: it waits for whoever comes."""
  ports = []
  for number, node in enumerate(('cn', 'mn')):
    socket = f'socket={folder}/{node}.sock,socket-abstract=no,id=0'
    ports += [{'name': node, 'device': f'net_memif0,role=client,{socket}'},
              {'name': f'sw-{node}', 'device': f'net_memif{number},role=server,{socket}'}]
  if harm:
    for port in ports:
      port['impair'] = harm
  return ports, {node: {'node': node, 'switch': f'sw-{node}'} for node in ('cn', 'mn')}


def write(folder, name, config):
  path = os.path.join(folder, name)
  with open(path, 'w', encoding='utf-8') as file:
    json.dump(config, file)
  return path


class Group:
  """Processes that play one fabric together."""

  def __init__(self, emu, folder):
    self.emu, self.folder, self.running = emu, folder, {}

  def start(self, role, path, *args):
    err = open(os.path.join(self.folder, f'{role}.err'), 'a', encoding='utf-8')
    self.running[role] = subprocess.Popen(
      [self.emu.program, '--run', role, '--json', os.path.join(self.folder, f'{role}.json'), *args, path],
      stdout=subprocess.DEVNULL, stderr=err)
    err.close()

  def kill(self, role):
    self.running[role].kill()
    self.running[role].wait()

  def said(self, role):
    with open(os.path.join(self.folder, f'{role}.err'), encoding='utf-8') as file:
      return file.read()

  def waits_for(self, role, text, times=1):
    """Until a process has said something so often."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end and self.said(role).count(text) < times:
      time.sleep(0.05)
    return self.said(role).count(text) >= times

  def end(self):
    """@return exit status of each; None: it had to be killed"""
    status, end = {}, time.monotonic() + WAIT
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


def sound(tap, what, group, status):
  """All ended well, and what the compute node began is done and verified."""
  said = '\n'.join(f'{role} {status.get(role)}: {group.said(role)}' for role in group.running)
  if not tap.ok(all(code == 0 for code in status.values()), f'{what}: all end well', said):
    return
  done = group.result('cn')['operations']
  tap.ok(done['completed_all'] == done['begun_all'] > 0 == done['mismatches'] and done['verified'] > 0,
         f'{what}: all completed and verified', done)
  tap.ok(done['restarts_seen'] == 0, f'{what}: nobody was lost', done)


def three(tap, emu, what, harm=None, order=ROLES):
  with tempfile.TemporaryDirectory() as folder:
    ports, links = memif(folder, harm)
    path = write(folder, 'fabric.json', fabric(ports, links))
    group = Group(emu, folder)
    for role in order:
      group.start(role, path)
    sound(tap, what, group, group.end())


def one_process(tap, emu, what, harm=None):
  """All roles in one process, and between them rings that are Ethernet ports."""
  with tempfile.TemporaryDirectory() as folder:
    ports = [{'name': node, 'device': f'net_ring{number}'} for number, node in enumerate(('cn', 'mn'))]
    if harm:
      for port in ports:
        port['impair'] = harm
    links = {node: {'node': node, 'switch': node, 'when': 'always'} for node in ('cn', 'mn')}
    path = write(folder, 'fabric.json', fabric(ports, links))
    process, both = emu.result(path)
    if not tap.ok(process.returncode == 0 and both is not None, f'{what}: ends well', why(process)):
      return
    done = both['result']['operations']
    tap.ok(done['completed_all'] == done['begun_all'] > 0 == done['mismatches'],
           f'{what}: all completed and verified', done)


def killed(tap, emu):
  """The compute node dies without a word, and comes back: the others stay, and it works as before."""
  with tempfile.TemporaryDirectory() as folder:
    ports, links = memif(folder)
    endless = fabric(ports, links)
    endless['workload'][0].update(mix={'write_ack': 1})
    endless['clock']['wall']['duration'] = '60s'
    path = write(folder, 'fabric.json', endless)
    group = Group(emu, folder)
    for role in ROLES:
      group.start(role, path)
    tap.ok(group.waits_for('cn', 'is up'), 'killed: begins')
    rng = random.Random(1)
    for _ in range(5):
      time.sleep(rng.uniform(0.05, 0.5))
      group.kill('cn')
      time.sleep(rng.uniform(0, 0.2))
      group.start('cn', path)
    group.kill('cn')
    group.start('cn', path, '--duration', '200ms')
    status = group.end()
    said = '\n'.join(f'{role} {status.get(role)}: {group.said(role)}' for role in group.running)
    tap.ok(all(code == 0 for code in status.values()), 'killed: all end well', said)
    done = group.result('cn')
    tap.ok(done is not None and done['operations']['completed_all'] > 0, 'killed: it works again', said)
    tap.ok(group.said('sw0').count('is up') >= 3, 'killed: the switch says so', group.said('sw0'))


def plain(config):
  """Writes that complete when they have left, few places, many of them under way: what is lost is missed."""
  config['workload'][0] = {'mix': {'read': 4, 'write': 4, 'cas': 1}, 'size': 64, 'span': '4KiB', 'depth': 32}


def ycsb(config):
  config['workload'][0] = {'ycsb': 'A', 'records': 100, 'depth': 32}


def for_long(ports, links, change):
  """It goes on until it is told to end; what is lost is soon missed."""
  config = fabric(ports, links)
  change(config)
  config['host'] = {'read_timeout': '1s', 'write_timeout': '1s'}
  config['clock']['wall']['duration'] = '600s'
  return config


def nobody_at_fault(tap, what, group, at_least):
  """Ends all, after a while. A client has seen that its memory node was lost, blames no read, and goes on."""
  time.sleep(0.7)
  for process in group.running.values():
    process.send_signal(signal.SIGINT)
  status = group.end()
  said = '\n'.join(f'{role} {status.get(role)}: {group.said(role)}' for role in group.running)
  results = [group.result(role) for role in ('cn', 'mn')]
  if not tap.ok(None not in status.values() and None not in results, f'{what}: all end with a report', said):
    return
  done = results[0]['operations']
  tap.ok(done['restarts_seen'] >= at_least and done['failed_by_cause']['restarted'] > 0,
         f'{what}: the client is told, and what was under way fails', done)
  tap.ok(done['mismatches'] == 0 < done['verified'], f'{what}: no read is wrong', done)
  sent = results[1]['links']['to_switch']['memory_blocks']
  tap.ok(sent > 100, f'{what}: the memory node answers again', f'{sent} blocks\n{said}')


def memory_killed(tap, emu, what, change):
  """The memory node dies, and comes back with nothing in it, while plain writes are on their way."""
  with tempfile.TemporaryDirectory() as folder:
    ports, links = memif(folder)
    path = write(folder, 'fabric.json', for_long(ports, links, change))
    group, again, rng = Group(emu, folder), 'is up (mn, again)', random.Random(2)
    for role in ROLES:
      group.start(role, path)
    tap.ok(group.waits_for('cn', 'is up'), f'{what}: begins')
    for kill in range(3):
      time.sleep(rng.uniform(0.3, 0.6))
      group.kill('mn')
      time.sleep(rng.uniform(0, 0.2))
      group.start('mn', path)
      tap.ok(group.waits_for('sw0', again, kill + 1), f'{what}: comes back', group.said('sw0'))
    nobody_at_fault(tap, what, group, 3)


def refused(tap, emu, what, text, change):
  """A node whose file differs: both sides say what, and go on waiting."""
  with tempfile.TemporaryDirectory() as folder:
    ports, links = memif(folder)
    path = write(folder, 'fabric.json', fabric(ports, links))
    other = fabric(ports, links)
    change(other)
    group = Group(emu, folder)
    group.start('sw0', path)
    group.start('cn', write(folder, 'other.json', other))
    tap.ok(group.waits_for('sw0', text), f'{what}: the switch says so', group.said('sw0'))
    tap.ok(group.waits_for('cn', text), f'{what}: the node says so', group.said('cn'))
    for process in group.running.values():
      process.send_signal(signal.SIGINT)
    status = group.end()
    tap.ok(None not in status.values(), f'{what}: Ctrl-C ends both', status)


def bad_files(tap, emu):
  with tempfile.TemporaryDirectory() as folder:
    ports, links = memif(folder)
    config = fabric(ports, links)
    del config['links'][0]['carried']
    config['ports'] = ports[2:]
    process = emu.run('--run', 'cn', write(folder, 'a.json', config))
    tap.ok(process.returncode == 1 and 'links[].carried.node' in process.stderr, 'a link without a port',
           why(process))
    process = emu.run('--clock', 'virtual', '--run', 'cn', write(folder, 'b.json', fabric(ports, links)))
    tap.ok(process.returncode == 2 and 'virtual clock' in process.stderr, 'no parts under the virtual clock',
           why(process))
    config = fabric([dict(ports[0], device='net_nonsense7')] + ports[1:], links)
    process = emu.run('--run', 'cn', write(folder, 'c.json', config))
    tap.ok(process.returncode == 1 and 'ports.cn: net_nonsense7' in process.stderr, 'no such device',
           why(process))


def other_rate(config):
  config['link'] = {'rate': '100G'}


def other_chunk(config):
  config['scheduler'] = {'chunk': 2048}


def in_namespaces(command):
  return subprocess.run(command, shell=True, capture_output=True, check=False).returncode == 0


def start_in(emu, folder, spaces, path):
  """Each process in its network namespace."""
  group = Group(emu, folder)
  for role in ROLES:
    wrapper = os.path.join(folder, f'{role}.sh')
    with open(wrapper, 'w', encoding='utf-8') as file:
      file.write(f'#!/bin/sh\nexec ip netns exec {spaces[role]} {emu.program} "$@"\n')
    os.chmod(wrapper, 0o755)
    group.emu = type('In', (), {'program': wrapper})
    open(os.path.join(folder, f'{role}.err'), 'w', encoding='utf-8').close()
    group.start(role, path)
  return group


def cable_pulled(tap, group, space):
  """The memory node's link is lost under load for as long as it takes to be noticed, twice."""
  tap.ok(group.waits_for('cn', 'is up'), 'cable: begins')
  for times in (1, 2):
    time.sleep(0.5)
    in_namespaces(f'ip -n {space} link set mn1 down')
    tap.ok(group.waits_for('sw0', 'port sw-mn is down', times), 'cable: it is noticed', group.said('sw0'))
    in_namespaces(f'ip -n {space} link set mn1 up')
    tap.ok(group.waits_for('sw0', 'is up (mn, again)', times), 'cable: it is there again', group.said('sw0'))
  nobody_at_fault(tap, 'cable', group, 2)


def veth(tap, emu):
  """A veth pair for each link, each process in a network namespace of its own."""
  name = f'mf{os.getpid()}'
  spaces = {role: f'{name}{role}' for role in ROLES}
  made = all(in_namespaces(f'ip netns add {space}') for space in spaces.values())
  for node in ('cn', 'mn'):
    made = made and in_namespaces(
      f'ip link add {node}0 netns {spaces[node]} type veth peer name {node}1 netns {spaces["sw0"]}')
    made = made and in_namespaces(f'ip -n {spaces[node]} link set {node}0 up') and in_namespaces(
      f'ip -n {spaces["sw0"]} link set {node}1 up')
  try:
    if not made:
      tap.skip('veth', 'network namespaces cannot be made here (needs root and ip)')
      return
    with tempfile.TemporaryDirectory() as folder:
      ports, links = [], {}
      for number, node in enumerate(('cn', 'mn')):
        ports += [{'name': node, 'device': f'net_af_packet0,iface={node}0'},
                  {'name': f'sw-{node}', 'device': f'net_af_packet{number},iface={node}1'}]
        links[node] = {'node': node, 'switch': f'sw-{node}'}
      group = start_in(emu, folder, spaces, write(folder, 'fabric.json', fabric(ports, links)))
      sound(tap, 'veth', group, group.end())
      path = write(folder, 'plain.json', for_long(ports, links, plain))
      cable_pulled(tap, start_in(emu, folder, spaces, path), spaces['sw0'])
  finally:
    for space in spaces.values():
      in_namespaces(f'ip netns delete {space}')


def main():
  emu, tap = Emu(sys.argv[1], sys.argv[2]), Tap()
  process = emu.run('--duration', '10ms', emu.example('quickstart'))
  if process.returncode != 0:
    tap.skip('several processes', 'EAL does not start: ' + process.stderr[:200])
    tap.done()
  one_process(tap, emu, 'rings')
  one_process(tap, emu, 'rings that harm', HARM)
  three(tap, emu, 'memif')
  three(tap, emu, 'memif, the switch comes last', order=('cn', 'mn', 'sw0'))
  three(tap, emu, 'memif that harms', HARM)
  killed(tap, emu)
  memory_killed(tap, emu, 'memory node killed', plain)
  memory_killed(tap, emu, 'memory node killed, a store', ycsb)
  refused(tap, emu, 'another file', 'another fabric', other_chunk)
  refused(tap, emu, 'another rate', 'rate', other_rate)
  bad_files(tap, emu)
  if shutil.which('ip') is None:
    tap.skip('veth', 'there is no ip')
  else:
    veth(tap, emu)
  tap.done()


if __name__ == '__main__':
  sys.exit(main())
