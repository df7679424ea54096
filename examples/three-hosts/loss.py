#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What links over ports carry when frames are lost: goodput and efficiency against the loss rate.

  examples/three-hosts/loss.py [--emu build/apps/emu/memfab-emu] [--loss 0,0.1,1,2,5] [--rings]

Each port harms the frames that it sends, with the stage that memfab has for that ("impair" of a port): each
of any kind is lost with the probability of the line, on each of the four ways. Three processes over memif;
with --rings one process, whose links go over rings that are Ethernet ports, and no process waits for the CPU
of another one.

  operations    completed a second, half reads, half acknowledged writes; all are verified
  goodput       their payload
  p50, p99      of the reads
  new frames    DATA frames that were sent for the first time among all that were sent, of all links
  replayed      the others
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, '..'))

import script  # noqa: E402

NODES = ('cn0', 'mn0')
HEADS = ('lost, %', 'operations, 1/s', 'goodput, Gb/s', 'p50, us', 'p99, us', 'new frames, %', 'replayed')


def ports(folder, rings):
  """Ports and what carries what."""
  if rings:
    return ([{'name': node, 'device': f'net_ring{i}'} for i, node in enumerate(NODES)],
            {node: {'node': node, 'switch': node, 'when': 'always'} for node in NODES})
  made = []
  for i, node in enumerate(NODES):
    socket = f'id=0,socket-abstract=no,socket={folder}/{node}.sock'
    made += [{'name': node, 'device': f'net_memif0,role=client,{socket}'},
             {'name': f'sw-{node}', 'device': f'net_memif{i},role=server,{socket}'}]
  return made, {node: {'node': node, 'switch': f'sw-{node}'} for node in NODES}


def fabric(folder, loss, args):
  made, carried = ports(folder, args.rings)
  return {
      'ports': [{**port, 'impair': {args.harm: loss / 100}} for port in made],
      'nodes': [{'name': 'cn0', 'role': 'compute'}, {'name': 'mn0', 'role': 'memory'}],
      'links': [{'node': node, 'carried': how} for node, how in carried.items()],
      'host': {'read_timeout': '60s', 'write_timeout': '60s'},
      'clock': {'wall': {'warmup': args.warmup, 'duration': args.duration, 'drain': '60s'}},
      'workload': [{'mix': {'read': 1, 'write_ack': 1}, 'size': args.size, 'depth': args.depth}],
      'placement': {'scheduler_own_lcore': False},
  }


def run(folder, path, args):
  """@return the result of each process"""
  parts = {'all': []} if args.rings else {role: ['--run', role] for role in ('sw0', 'mn0', 'cn0')}
  running = {role: subprocess.Popen([args.emu, *more, '--json', os.path.join(folder, role), path],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True) for role, more in parts.items()}
  try:
    said = {role: process.communicate(timeout=args.timeout)[1] for role, process in running.items()}
  except subprocess.TimeoutExpired:
    sys.exit(f'loss.py: a run took more than {args.timeout:g} s')
  finally:
    for process in running.values():
      process.kill()
  for role, process in running.items():
    if process.returncode != 0:
      sys.exit(f'loss.py: {role}: exit {process.returncode}: {said[role].strip()}')
  for role in parts:
    with open(os.path.join(folder, role), encoding='utf-8') as file:
      yield json.load(file)['result']


def measure(loss, args):
  """A line of the table, and the counters that it is made of."""
  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'fabric.json')
    with open(path, 'w', encoding='utf-8') as file:
      json.dump(fabric(folder, loss, args), file)
    results = list(run(folder, path, args))
  kinds = next(r['operations']['kinds'] for r in results if 'operations' in r).values()
  read = next(r['operations']['kinds']['read'] for r in results if 'operations' in r)
  ends = [end for r in results for end in r['carried']]
  new, again = (sum(end['counters'][key] for end in ends) for key in ('tx_data_frames', 'tx_replayed_frames'))
  return {'lost_percent': loss, 'operations_per_s': sum(k['rate_per_s'] for k in kinds),
          'goodput_gbps': sum(k['goodput_gbps'] for k in kinds),
          'p50_us': read['latency']['p50_ns'] / 1000, 'p99_us': read['latency']['p99_ns'] / 1000,
          'efficiency': new / (new + again), 'replayed_frames': again, 'carried': ends,
          'ports': [port for r in results for port in r['ports']]}


def shown(line):
  return (f'{line["lost_percent"]:g}', f'{line["operations_per_s"]:,.0f}', f'{line["goodput_gbps"]:.3f}',
          f'{line["p50_us"]:,.1f}', f'{line["p99_us"]:,.1f}', f'{line["efficiency"] * 100:.2f}',
          f'{line["replayed_frames"]:,}')


def arguments():
  parser = script.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument('--emu', default=os.path.join(HERE, '..', '..', 'build', 'apps', 'emu', 'memfab-emu'))
  parser.add_argument('--loss', default='0,0.1,1,2,5', help='per cent, with commas between')
  parser.add_argument('--harm', default='drop', choices=('drop', 'corrupt', 'duplicate', 'reorder'))
  parser.add_argument('--duration', default='2s', help='of what is measured (2s)')
  parser.add_argument('--warmup', default='200ms')
  parser.add_argument('--size', type=int, default=1024, help='octets of an operation (1024)')
  parser.add_argument('--depth', type=int, default=32, help='operations under way (32)')
  parser.add_argument('--rings', action='store_true', help='one process')
  parser.add_argument('--timeout', type=float, default=300, help='of a line, seconds (300)')
  parser.add_argument('--json', metavar='FILE', help='the lines with all counters')
  return parser.parse_args()


def main():
  args, lines = arguments(), []
  signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is ended
  with script.result(args.json, args.emu) as write:
    print('  '.join(f'{head:>15}' for head in HEADS))
    for loss in map(float, args.loss.split(',')):
      lines.append(measure(loss, args))
      print('  '.join(f'{text:>15}' for text in shown(lines[-1])), flush=True)
    write(lines)


if __name__ == '__main__':
  main()
