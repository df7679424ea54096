#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One fabric played by several processes, and links over ports within one. Skipped where EAL cannot start.

  processes.py EMU ROOT [--full [SECONDS]]

They poll on whatever CPUs there are, so nothing here depends on how fast that is. With --full there are 10^6
reads, 10^6 writes and 10^6 CAS over each kind of port, verified, and nothing else; each run takes SECONDS,
60 if not told, in which it has to be done.
"""
import collections
import json
import os
import signal
import subprocess
import sys

from emu import Emu, Tap, need_eal, why
import parts
from parts import (NODES, ROLES, WAIT, Folder, Group, Spaces, carried, lost_buffers, memif, shell,
                   without_root, write)

HARM = {'drop': 0.01, 'duplicate': 0.01, 'reorder': 0.01, 'corrupt': 0.01}
NETEM = 'loss 1% duplicate 1% reorder 1% 25% corrupt 1% delay 100us'
MILLION = 10**6
EACH = ('read', 'write', 'cas')


def fabric(*args, **more):
  """Its timers end only what is lost: a chunk of many frames that are harmed takes seconds without a CPU."""
  return parts.fabric(*args, **{'switch': {'grant_timeout': '60s', 'hold_timeout': '60s'}, **more})


def full(config):
  """A few more than a million of each kind: which comes next is by chance."""
  config['workload'] = [{'mix': dict.fromkeys(EACH, 1), 'size': 64, 'depth': 512,
                         'operations': 3 * MILLION + MILLION // 50}]
  config['clock']['wall']['duration'] = f'{full_seconds()}s'
  return config


def full_seconds():
  after = sys.argv[sys.argv.index('--full') + 1:]
  return int(after[0]) if after else 60


def wait_of(change):
  return WAIT + full_seconds() if change is full else WAIT


def each_of(change):
  return MILLION if change is full else 0


def how_many(result):
  """"read 1006000, ... in 12.3 s", for those who want to know."""
  kinds = result['operations']['kinds']
  counts = ', '.join(f'{kind} {kinds[kind]["completed"]}' for kind in kinds)
  return f'{counts} in {result["operations"]["last_done_ps"] / 1e12:.1f} s'


def did(tap, what, result, each=0):
  """All that was begun is done, once, and what was read is what was written."""
  done = result['operations']
  tap.ok(done['completed_all'] == done['begun_all'] > 0 == done['mismatches'] and done['failed_all'] == 0
         and done.get('lost_writes', 0) == 0 and done['verified'] > 0 and all(
           done['kinds'][kind]['completed'] >= each for kind in EACH if each),
         f'{what}: all completed and verified', {key: done[key] for key in done if key != 'kinds'})
  tap.ok(done['restarts_seen'] == 0, f'{what}: nobody was lost', done['restarts_seen'])
  tap.ok(not lost_buffers(result), f'{what}: all buffers are back', lost_buffers(result))
  print(f'# {what}: {how_many(result)}', flush=True)


def sound(tap, what, group, status, each=0):
  """All ended well, and what the compute node began is done and verified."""
  if tap.ok(all(code == 0 for code in status.values()), f'{what}: all end well', group.all_said(status)):
    did(tap, what, group.result('cn'), each)


def three(tap, emu, what, harm=None, order=ROLES, before=None, change=dict):
  with Folder() as folder:
    config = change(fabric(*memif('three', harm)))
    path = write(folder, 'fabric.json', config)
    group = Group(emu, folder, before)
    for role in order:
      group.start(role, path)
    sound(tap, what, group, group.end(wait_of(change)), each_of(change))


def unprivileged(tap, emu, what, change=dict):
  prefix = without_root()
  if prefix is None:
    tap.skip(what, 'root without setpriv')
  elif shell(' '.join([*prefix, emu.program, '--version'])).returncode != 0:
    tap.skip(what, f'nobody may not run {emu.program}')
  else:
    three(tap, emu, what, before=dict.fromkeys(ROLES, prefix), change=change)


def one_process(tap, emu, what, harm=None, change=dict):
  """All roles in one process, and between them rings that are Ethernet ports."""
  with Folder() as folder:
    ports = [{'name': node, 'device': f'net_ring{number}'} for number, node in enumerate(NODES)]
    if harm:
      for port in ports:
        port['impair'] = harm
    links = {node: {'node': node, 'switch': node, 'when': 'always'} for node in NODES}
    path = write(folder, 'fabric.json', change(fabric(ports, links)))
    process, both = emu.result(path, timeout=wait_of(change))
    if tap.ok(process.returncode == 0 and both is not None, f'{what}: ends well', why(process)):
      did(tap, what, both['result'], each_of(change))
    return both


HELD_TRIES = 8  # whether some are held back at the very end is by chance


def held_back(tap, emu):
  """Frames that the stage that harms them still has at the end are given back, too."""
  held = []
  for seed in range(HELD_TRIES):
    both = one_process(tap, emu, f'rings that reorder, seed {seed}', {'reorder': 0.5},
                       change=lambda config, seed=seed: config | {'seed': seed})
    held = [port['impaired']['held_frames'] for port in both['result']['ports']] if both else []
    if sum(held) > 0:
      break
  tap.ok(sum(held) > 0, 'rings that reorder: some are held back', held)


def two_writers(tap, emu):
  """Chunks of several frames, from two nodes to one: reads stay behind the writes before them."""
  what, nodes = 'rings, two writers', ('cn0', 'cn1', 'mn')
  with Folder() as folder:
    config = fabric([{'name': node, 'device': f'net_ring{number}'} for number, node in enumerate(nodes)],
                    {node: {'node': node, 'switch': node, 'when': 'always'} for node in nodes},
                    nodes=[{'name': 'cn', 'role': 'compute', 'count': 2}, {'name': 'mn', 'role': 'memory'}])
    config['workload'] = [{'mix': {'read': 1, 'write': 1},
                           'size': {'dist': 'uniform', 'min': 8, 'max': 4096}}]
    process, both = emu.result(write(folder, 'fabric.json', config), timeout=WAIT)
    if tap.ok(both is not None, f'{what}: ends', why(process)):
      did(tap, what, both['result'])


def cut_at_the_end(tap, emu):
  """A link is down when the compute node is done, for a while or for good: the others end, too."""
  soon = {'silence': '60ms', 'hello': '2ms', 'replays': 4, 'replay_after': '1ms', 'replay_max': '4ms'}
  for what, until in (('for a while', {'until': '700ms'}), ('for good', {})):
    ports, links = memif(f'cut-{len(until)}')
    config = parts.fabric(ports, {node: link | soon for node, link in links.items()}, duration='300ms',
                          faults=[{'class': 'link_down', 'link': 'cn', 'from': '100ms'} | until])
    config['host'] = {'read_timeout': '20ms', 'write_timeout': '20ms'}
    config['clock']['wall']['drain'] = '100ms'
    with Folder() as folder:
      group, path = Group(emu, folder), write(folder, 'fabric.json', config)
      for role in ROLES:
        group.start(role, path)
      status = group.end()
      tap.ok(all(status[role] in (0, 1) for role in ROLES), f'a link is cut {what} when all is done: all end',
             group.all_said(status))


def refused(tap, emu, what, text, change):
  """A node whose file differs: both sides say what, and go on waiting."""
  with Folder() as folder:
    ports, links = memif('refused')
    path = write(folder, 'fabric.json', fabric(ports, links))
    other = fabric(ports, links)
    change(other)
    group = Group(emu, folder)
    group.start('sw0', path)
    group.start('cn', write(folder, 'other.json', other))
    say_so(tap, what, group, text)


def say_so(tap, what, group, text, node='cn'):
  """Both ends of a link say why there is none, and Ctrl-C ends them."""
  for role in ('sw0', node):
    tap.ok(group.waits_for(role, text), f'{what}: {role} says so', group.all_said({}))
  group.interrupt()
  status = group.end()
  tap.ok(not {None, -signal.SIGSEGV, -signal.SIGABRT} & set(status.values()), f'{what}: Ctrl-C ends them',
         status)


def bad_files(tap, emu):
  with Folder() as folder:
    ports, links = memif('bad')
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


class Wire:
  """wire.py in its namespace; `did` is what it says it did."""

  def __init__(self, spaces, *args):
    script = os.path.join(os.path.dirname(__file__), 'wire.py')
    self.process = subprocess.Popen([*spaces.inside('wire'), sys.executable, script, *args],
                                    stdout=subprocess.PIPE, text=True)
    self.did = {}

  def __enter__(self):
    self.process.stdout.readline()
    return self

  def __exit__(self, *_):
    self.process.terminate()
    last = self.process.stdout.read()
    self.process.wait()
    self.did = json.loads(last) if last else {}


def over_veth(tap, emu, spaces, what, change=dict):
  with Folder() as folder:
    path = write(folder, 'fabric.json', change(fabric(spaces.ports(), carried())))
    group = Group(emu, folder, spaces.before())
    for role in ROLES:
      group.start(role, path)
    sound(tap, what, group, group.end(wait_of(change)), each_of(change))


def netem(tap, emu, spaces):
  """The kernel harms frames, in both directions of both links."""
  for node in NODES:
    for space, device in ((spaces.space[node], f'{node}0'), (spaces.space['sw0'], f'{node}1')):
      process = shell(f'tc -n {space} qdisc add dev {device} root netem {NETEM}')
      if process.returncode != 0:
        tap.skip('netem', f'no qdisc netem: {process.stderr.strip()}')
        return
  over_veth(tap, emu, spaces, f'netem, {NETEM}')


def harmed(tap, emu, spaces):
  """What netem does, where there is none, too."""
  with Wire(spaces, '--harm', '0.01') as wire:
    over_veth(tap, emu, spaces, 'a wire that harms')
  tap.ok(all(wire.did.get(kind, 0) > 0 for kind in ('lost', 'damaged', 'late', 'doubled')),
         'a wire that harms: it did', wire.did)
  print(f'# {wire.did}')


def counters(value):
  """All counters of a part of a result, summed up by their names."""
  total = collections.Counter()
  for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
    if isinstance(inner, (dict, list)):
      total.update(counters(inner))
    elif isinstance(inner, int):
      total[key] += inner
  return total


CAUSES = ('rx_ethertype_frames', 'rx_short_frames', 'rx_crc_frames', 'rx_link_frames', 'rx_version_frames',
          'rx_type_frames', 'rx_malformed_frames', 'rx_stale_frames', 'rx_reflected_frames')


def garbage(tap, emu, spaces):
  """Between good frames come others of all kinds: no block is lost, no link goes down."""
  with Wire(spaces, '--garbage', '0.3') as wire, Folder() as folder:
    path = write(folder, 'fabric.json', fabric(spaces.ports(), carried()))
    group = Group(emu, folder, spaces.before())
    for role in ROLES:
      group.start(role, path)
    status = group.end()
    sound(tap, 'garbage', group, status)
    for role in ROLES:
      tap.ok('nothing comes' not in group.said(role) and ', again)' not in group.said(role),
             f'garbage: {role} keeps its links', group.said(role))
    result = group.result('sw0') or {}
    counted = counters([result.get('ports', []), result.get('carried', [])])
    if 'ports' in result:
      tap.ok(all(counted[cause] > 0 for cause in CAUSES), 'garbage: the switch has counted it by its causes',
             {cause: counted[cause] for cause in CAUSES})
    else:
      tap.skip('garbage: counted by its causes', 'the result has no ports')
  tap.ok(wire.did.get('garbage', 0) > 50, 'garbage: there was some', wire.did)
  print(f'# {wire.did}')


def other_version(tap, emu, spaces):
  with Wire(spaces, '--version', '2'), Folder() as folder:
    path = write(folder, 'fabric.json', fabric(spaces.ports(), carried()))
    group = Group(emu, folder, spaces.before())
    for role in ('sw0', 'cn'):
      group.start(role, path)
    say_so(tap, 'another version', group, 'another version of the link frames (1 against 2)')


def unheard(tap, emu, spaces):
  """Who has finished stays until the others know it, however long they do not listen."""
  with Wire(spaces, '--unheard', '2') as wire:
    over_veth(tap, emu, spaces, 'the end is heard late')
  tap.ok(wire.did.get('unheard', 0) > 0, 'the end is heard late: it was', wire.did)


def stale(tap, emu, spaces):
  """Two processes are one end: the later one is it."""
  with Folder() as folder:
    path = write(folder, 'fabric.json', fabric(spaces.ports(), carried(), '60s'))
    group = Group(emu, folder, spaces.before())
    for role in ROLES:
      group.start(role, path)
    tap.ok(group.waits_for('cn', 'is up'), 'a stale epoch: begins', group.all_said({}))
    group.start('cn', path, name='later')
    say_so(tap, 'a stale epoch', group, 'a stale epoch')


def unknown_link(tap, emu, spaces):
  """The cables are swapped."""
  with Folder() as folder:
    path = write(folder, 'fabric.json', fabric(spaces.ports(), carried()))
    ports = spaces.ports()
    ports[1]['device'], ports[3]['device'] = ports[3]['device'], ports[1]['device']
    group = Group(emu, folder, spaces.before())
    group.start('sw0', write(folder, 'other.json', fabric(ports, carried())))
    group.start('cn', path)
    say_so(tap, 'an unknown link', group, 'a link that is not on this port (number 0)')


# Of the process that becomes a node: the fanout group that DPDK's driver will ask for is somebody else's.
TAKE_GROUP = """
import os, socket, sys
group = (os.getpid() ^ socket.if_nametoindex(sys.argv[1])) & 0xffff
taken = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
taken.bind(('lo', 0))
taken.setsockopt(263, 18, group)  # SOL_PACKET, PACKET_FANOUT
taken.set_inheritable(True)
os.execv(sys.argv[2], sys.argv[2:])
"""


def fanout_group(tap, emu, spaces):
  """Two processes of one namespace may want the same group: the second one says so and ends."""
  with Folder() as folder:
    path = write(folder, 'fabric.json', fabric(spaces.ports(), carried()))
    before = {'cn': [*spaces.inside('cn'), sys.executable, '-c', TAKE_GROUP, 'cn0']}
    group = Group(emu, folder, before)
    group.start('cn', path)
    status = group.end()
    tap.ok(status['cn'] == 1 and 'ports.cn: net_af_packet0,iface=cn0: ' in group.said('cn') and
           'fanout group' in group.said('cn'), 'a fanout group that is taken is told', group.all_said(status))


def with_spaces(tap, emu, parts, apart=False):
  with Spaces(apart) as spaces:
    for part in parts:
      if spaces.reason:
        tap.skip(part.__name__, spaces.reason)
      else:
        part(tap, emu, spaces)


def veth(tap, emu, spaces):
  over_veth(tap, emu, spaces, 'veth')


def veth_full(tap, emu, spaces):
  over_veth(tap, emu, spaces, 'veth', full)


def all_of(tap, emu):
  one_process(tap, emu, 'rings')
  one_process(tap, emu, 'rings that harm', HARM)
  held_back(tap, emu)
  two_writers(tap, emu)
  cut_at_the_end(tap, emu)
  unprivileged(tap, emu, 'memif without root')
  three(tap, emu, 'memif, the switch comes last', order=('cn', 'mn', 'sw0'))
  three(tap, emu, 'memif that harms', HARM)
  refused(tap, emu, 'another file', 'another fabric', other_chunk)
  refused(tap, emu, 'another rate', 'rate', other_rate)
  bad_files(tap, emu)
  with_spaces(tap, emu, (veth, stale, unknown_link, fanout_group, netem))
  with_spaces(tap, emu, (harmed, garbage, other_version, unheard), apart=True)


def millions(tap, emu):
  one_process(tap, emu, 'rings', change=full)
  unprivileged(tap, emu, 'memif without root', change=full)
  with_spaces(tap, emu, (veth_full,))


def main():
  emu, tap = Emu(sys.argv[1], sys.argv[2]), Tap()
  need_eal(tap, emu, 'several processes')
  (millions if '--full' in sys.argv else all_of)(tap, emu)
  tap.done()


if __name__ == '__main__':
  sys.exit(main())
