#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""net_memfab under DPDK's own programs: every mode of dpdk-testpmd, frames of 64 to 9,000 octets, none lost;
statistics of all who count; queues, a service lcore, ports that come and go; pmd_perf_autotest."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

DRIVER, LEFT_OUT, ROOT = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Tap
from stock import Testpmd, eal, loadable, why_not

TAP = Tap()
DRIVER = loadable(DRIVER)
FABRIC = os.path.join(ROOT, 'examples', 'testpmd', 'fabric.json')
PACKETS = 2000  # that a mode forwards at least


def vdev(number, node, more=''):
  return f'net_memfab{number},fabric={FABRIC},node={node}{more}'


def peers(*nodes):
  """So that each port sends to the other one, whose address is made of the number of its node"""
  return [f'--eth-peer={port},02:00:00:00:00:{node:02x}' for port, node in enumerate(nodes)]


def forward(pmd, mode, first=True, packets=PACKETS):
  """Forwards until so many packets have arrived at each port. @return their statistics, with nothing left"""
  pmd.do('clear port stats all')
  pmd.do('clear port xstats all')
  pmd.do(f'set fwd {mode}')
  pmd.do('start tx_first' if first else 'start')
  end = time.monotonic() + 20
  while time.monotonic() < end and any(arrived(pmd, port) < packets for port in (0, 1)):
    time.sleep(0.02)
  pmd.do('stop')
  collect(pmd)
  return [pmd.stats(0), pmd.stats(1)]


def arrived(pmd, port):
  s = pmd.stats(port)
  return s['RX-packets'] + s['RX-missed']


def collect(pmd):
  """Takes what is under way"""
  pmd.do('set fwd rxonly')
  pmd.do('start')
  time.sleep(0.1)
  pmd.do('stop')


def none_lost(stats, packets=PACKETS):
  """What one port has sent the other one has received"""
  return all(stats[i]['TX-packets'] == stats[1 - i]['RX-packets'] >= packets and
             not any(stats[i][f'{d}-{e}'] for d, e in
                     (('RX', 'missed'), ('RX', 'errors'), ('TX', 'errors'), ('RX', 'nombuf')))
             for i in (0, 1))


def none_unseen(stats, packets=PACKETS):
  """... or it had no room for it, and says so"""
  return all(stats[i]['TX-packets'] == stats[1 - i]['RX-packets'] + stats[1 - i]['RX-missed'] >= packets
             and stats[i]['RX-errors'] == stats[i]['TX-errors'] == stats[i]['RX-nombuf'] == 0 for i in (0, 1))


def modes(pmd):
  for mode in ('io', 'mac', 'csum', 'noisy'):
    stats = forward(pmd, mode)
    TAP.ok(none_lost(stats), f'{mode}: none lost', stats)
  for mode in ('txonly', 'flowgen'):
    stats = forward(pmd, mode, first=False)
    TAP.ok(none_unseen(stats), f'{mode}: each is received or counted', stats)
  stats = forward(pmd, 'rxonly', packets=32)
  TAP.ok(none_lost(stats, 32), 'rxonly: none lost', stats)


def set_mtu(pmd, mtu):
  pmd.do('port stop all')
  said = ''.join(pmd.do(f'port config mtu {port} {mtu}') for port in (0, 1))
  pmd.do('port start all')
  return said


def sizes(pmd):
  said = set_mtu(pmd, 9001)
  TAP.ok('9001' in said and 'MTU (9001) > device max MTU (9000)' in said, 'an MTU of 9,001 is refused', said)
  set_mtu(pmd, 9000)
  for size in (64, 65, 512, 1500, 4096, 9000):
    segments = [2000] * (size // 2000) + [size % 2000] * (size % 2000 > 0)
    pmd.do('set txpkts ' + ','.join(map(str, segments)))
    stats = forward(pmd, 'io', packets=500)
    good = none_lost(stats, 500) and stats[0]['TX-bytes'] == size * stats[0]['TX-packets']
    TAP.ok(good, f'io, {size} octets: none lost', stats)
  pmd.do('set txpkts 64')


# What ethdev's xstats have of a link and of the switch, and where telemetry has it.
SENT, RECEIVED = ('link', 'to_switch', 'sent'), ('link', 'from_switch', 'received')
SWITCH_SENT, SWITCH, DROPS = ('link', 'from_switch', 'sent'), ('switch',), ('switch', 'drops')
SAME = {'link_tx_frames': (*SENT, 'frames'), 'link_tx_frame_blocks': (*SENT, 'frame_blocks'),
        'link_tx_gap_blocks': (*SENT, 'gap_blocks'), 'link_tx_memory_blocks': (*SENT, 'memory_blocks'),
        'link_tx_memory_messages': (*SENT, 'messages'), 'link_tx_preemptions': (*SENT, 'preemptions'),
        'link_rx_blocks': (*RECEIVED, 'blocks'), 'link_rx_frame_blocks': (*RECEIVED, 'frame_blocks'),
        'link_rx_memory_blocks': (*RECEIVED, 'memory_blocks'),
        'link_rx_idle_blocks': (*RECEIVED, 'idle_blocks'), 'link_rx_bad_blocks': (*RECEIVED, 'bad_blocks'),
        'switch_tx_frames': (*SWITCH_SENT, 'frames'),
        'switch_tx_frame_blocks': (*SWITCH_SENT, 'frame_blocks'),
        'switch_tx_memory_blocks': (*SWITCH_SENT, 'memory_blocks'),
        'switch_tx_full_drops': (*SWITCH_SENT, 'frames_refused'), 'switch_all_frames': (*SWITCH, 'frames'),
        'switch_all_flooded': (*SWITCH, 'frames_flooded'), 'switch_all_full_drops': (*DROPS, 'frame_room'),
        'switch_all_self_drops': (*DROPS, 'frame_to_own_port')}


def fabric_counts(pmd, node):
  """What /memfab/ says, by the names of xstats. Nothing moves while nobody polls"""
  told = {'link': pmd.telemetry(f'/memfab/link,{node}'), 'switch': pmd.telemetry('/memfab/switch')}
  counts = {}
  for name, path in SAME.items():
    value = told
    for key in path:
      value = value[key]
    counts[name] = value
  return counts


def fabric_agrees(pmd, before, port, node, packets):
  """What the fabric's telemetry has counted since is what xstats have, which were cleared"""
  after, x = fabric_counts(pmd, node), pmd.xstats(port)
  since = {name: after[name] - before[name] for name in SAME}
  own = {name for name in x if name.startswith('switch_') or (
    name.startswith('link_') and not name.endswith('_errors'))} - {'link_rx_frames'}
  TAP.ok(since == {name: x[name] for name in SAME} and own == set(SAME) and
         since['link_tx_frames'] == packets and since['link_tx_memory_blocks'] > 0,
         f'/memfab/ and the xstats of {node} agree', [since, x])


def counters(pmd):
  """Who counts the same says the same"""
  nodes = ('mn0', 'mn1')
  before = [fabric_counts(pmd, node) for node in nodes]
  stats = forward(pmd, 'mac')
  for port, node in enumerate(nodes):
    fabric_agrees(pmd, before[port], port, node, stats[port]['TX-packets'])
  good, seen = True, []
  for port in (0, 1):
    x, s = pmd.xstats(port), stats[port]
    t = pmd.telemetry(f'/ethdev/stats,{port}')
    tx = pmd.telemetry(f'/ethdev/xstats,{port}')
    good &= x['rx_good_packets'] == s['RX-packets'] == t['ipackets'] == x['link_rx_frames']
    good &= x['tx_good_packets'] == s['TX-packets'] == t['opackets'] == x['link_tx_frames']
    good &= x['switch_tx_frames'] == x['link_rx_frames'] and x['rx_good_bytes'] == t['ibytes']
    good &= all(tx[k] == v for k, v in x.items())
    good &= x['link_rx_memory_blocks'] > 0 and x['switch_all_full_drops'] == 0
    seen.append((s, x, t))
  TAP.ok(good, 'statistics, xstats and telemetry agree; memory traffic is on the same links', seen)


def come_and_go(pmd):
  for command in ('port stop 1', 'port close 1', 'port attach ' + vdev(7, 'mn1', ',workload=1'),
                  'port config mtu 1 9000', 'port start 1', 'set eth-peer 1 02:00:00:00:00:01'):
    said = pmd.do(command)
  stats = forward(pmd, 'io')
  TAP.ok(none_lost(stats), 'a port is closed, and another one takes its place', [said, stats])


def arguments(pmd):
  for what, message in (('net_memfab8', "'fabric=' is missing"),
                        (f'net_memfab8,fabric={FABRIC}', "'node=' is missing"),
                        (vdev(8, 'eth0', ',colour=red'), 'the arguments are fabric=FILE,node=NAME'),
                        (vdev(8, 'nobody'), 'is open already, with other options'),
                        (vdev(8, 'nobody', ',workload=1'), "there is no node 'nobody'"),
                        (vdev(8, 'cn', ',workload=1'), "node 'cn' has a workload"),
                        (vdev(8, 'mn0', ',workload=1'), "node 'mn0' has a port already"),
                        (vdev(8, 'eth0', ',workload=2'), 'workload=2: is 0 or 1'),
                        ('net_memfab8,fabric=/no/such/file,node=a', 'No such file or directory')):
    said = pmd.do('port attach ' + what)
    lines = [line for line in said.splitlines() if message in line]
    TAP.ok(len(lines) == 1 and lines[0].startswith('net_memfab8: '), f'refused: {message}', said)


def shared_links():
  """Ports at memory nodes: their links carry a workload's messages, too"""
  with Testpmd(DRIVER, [vdev(0, 'mn0', ',workload=1'), vdev(1, 'mn1', ',workload=1')], *peers(2, 1),
               '--enable-scatter', '--tx-offloads=0x8000') as pmd:
    info = pmd.do('show port info 0')
    TAP.ok('Driver name: net_memfab' in info and 'Link status: up' in info and 'Link speed: 25 Gbps' in info
           and '02:00:00:00:00:01' in info, 'two ports at memory nodes', info)
    modes(pmd)
    counters(pmd)
    sizes(pmd)
    arguments(pmd)
    come_and_go(pmd)
    TAP.ok(pmd.quit() == 0, 'testpmd leaves')


def echo_request(to, source):
  """An ARP request for, and a ping to, whoever has an address"""
  eth = bytes.fromhex(to) + bytes.fromhex(source)
  arp = eth + bytes.fromhex('0806 0001080006040001') + bytes.fromhex(source) + bytes((10, 0, 0, 1)) + \
    bytes(6) + bytes((10, 0, 0, 2))
  icmp = bytearray(b'\x08\x00\x00\x00\x12\x34\x00\x01' + bytes(range(56)))
  icmp[2:4] = checksum(icmp)
  ip = bytearray(bytes.fromhex('45000054000100004001 0000') + bytes((10, 0, 0, 1, 10, 0, 0, 2)))
  ip[10:12] = checksum(ip)
  return [arp.ljust(60, b'\0'), eth + b'\x08\x00' + bytes(ip) + bytes(icmp)]


def checksum(octets):
  total = sum(int.from_bytes(octets[i:i + 2], 'big') for i in range(0, len(octets), 2))
  while total >> 16:
    total = (total & 0xffff) + (total >> 16)
  return (~total & 0xffff).to_bytes(2, 'big')


def write_pcap(path, frames):
  with open(path, 'wb') as file:
    file.write(bytes.fromhex('d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000'))
    for frame in frames:
      file.write(bytes(8) + len(frame).to_bytes(4, 'little') * 2 + frame)


def read_pcap(path):
  with open(path, 'rb') as file:
    data = file.read()[24:]
  frames = []
  while data:
    length = int.from_bytes(data[8:12], 'little')
    frames.append(data[16:16 + length])
    data = data[16 + length:]
  return frames


def own_answers(folder):
  """Modes that send a packet back to where it came from; ping, with frames out of and into a file"""
  here, there = os.path.join(folder, 'in.pcap'), os.path.join(folder, 'out.pcap')
  requests = echo_request('020000000003', '020000000004')
  write_pcap(here, requests)
  with Testpmd(DRIVER, [vdev(0, 'eth0'), vdev(1, 'eth1'), f'net_pcap0,rx_pcap={here},tx_pcap={there}'],
               *peers(4, 3), '--port-topology=loop', '--mbuf-size=9600', '--max-pkt-len=9018') as pmd:
    pmd.do('set portlist 0,1')
    for mode in ('macswap', '5tswap', 'mac'):
      stats = forward(pmd, mode)
      TAP.ok(none_lost(stats), f'{mode}, looped: none lost', stats)
    pmd.do('set txpkts 9000')
    stats = forward(pmd, 'macswap', packets=500)
    TAP.ok(none_lost(stats, 500), 'macswap, 9,000 octets in one mbuf: none lost', stats)
    TAP.ok(pmd.quit() == 0, 'testpmd leaves')
  with Testpmd(DRIVER, [vdev(0, 'eth0'), vdev(1, 'eth1'), f'net_pcap0,rx_pcap={here},tx_pcap={there}'],
               '--port-topology=chained') as pmd:
    for mode, ports in (('io', '2,1'), ('icmpecho', '0'), ('io', '1,2')):
      pmd.do(f'set portlist {ports}')
      pmd.do(f'set fwd {mode}')
      pmd.do('start')
      time.sleep(0.3)
      pmd.do('stop')
    TAP.ok(pmd.quit() == 0, 'testpmd leaves')
  answers = [f for f in read_pcap(there) if f[:6].hex() == '020000000004']
  good = len(answers) == 2 and answers[0][20:22] == b'\0\2' and answers[1][34] == 0 and \
    answers[1][38:] == requests[1][38:]
  TAP.ok(good, 'icmpecho: ARP and ping are answered', [f.hex() for f in answers])


def queues():
  """Two forwarding lcores, two queues each way"""
  with Testpmd(DRIVER, [vdev(0, 'eth0'), vdev(1, 'eth1')], *peers(4, 3), '--rxq=2', '--txq=2', '--nb-cores=2',
               '--txonly-multi-flow', lcores='(0-2)@{cpu}') as pmd:
    stats = forward(pmd, 'io', packets=500)
    spread = [pmd.xstats(p)[f'rx_q{q}_packets'] for p in (0, 1) for q in (0, 1)]
    TAP.ok(none_lost(stats, 500) and all(spread), 'two lcores, two queues: none lost', [stats, spread])
    TAP.ok(pmd.quit() == 0, 'testpmd leaves')


def service():
  """A service lcore turns the fabric: nothing waits for a burst function"""
  with Testpmd(DRIVER, [vdev(0, 'eth0'), vdev(1, 'eth1')], *peers(4, 3), lcores='(0-2)@{cpu}',
               more=['-S', '2']) as pmd:
    stats = forward(pmd, 'io', packets=500)
    TAP.ok(none_lost(stats, 500), 'a service lcore: none lost', stats)
    pmd.do('clear port stats all')
    pmd.do('set fwd txonly')
    pmd.do('start')
    time.sleep(0.1)
    pmd.do('stop')
    time.sleep(0.3)
    stats = [pmd.stats(0), pmd.stats(1)]
    TAP.ok(none_unseen(stats, 100), 'it moves what nobody polls', stats)
    TAP.ok(pmd.quit() == 0, 'testpmd leaves')


def perf(folder):
  """The slower the link, the fewer packets the program asks for"""
  with open(FABRIC, encoding='utf-8') as file:
    fabric = json.load(file)
  fabric['link']['rate'] = '1G'
  path = os.path.join(folder, 'fabric.json')
  with open(path, 'w', encoding='utf-8') as file:
    json.dump(fabric, file)
  vdevs = [f'net_memfab{i},fabric={path},node=eth{i}' for i in (0, 1)]
  run = subprocess.run(['dpdk-test', *eal(f'perf-{os.getpid()}', DRIVER, vdevs), '--no-telemetry'],
                       env=dict(os.environ, DPDK_TEST='pmd_perf_autotest'), stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, timeout=600, check=False)
  drops = re.findall(r'(\d+) packet, (\d+) drop', run.stdout)
  TAP.ok('Test OK' in run.stdout and drops and int(drops[0][0]) > 0 and drops[0][1] == '0',
         'pmd_perf_autotest: its packets come back', run.stdout[-2000:] + run.stderr[-2000:])


def main():
  reason = why_not('dpdk-testpmd', DRIVER, LEFT_OUT)
  if reason:
    return TAP.skip('net_memfab under dpdk-testpmd', reason)
  with tempfile.TemporaryDirectory() as folder:
    shared_links()
    own_answers(folder)
    queues()
    service()
    if why_not('dpdk-test', DRIVER, LEFT_OUT) is None:
      perf(folder)
    else:
      TAP.skip('pmd_perf_autotest', 'dpdk-test is not installed')


main()
TAP.done()
