#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Figure 8a of the paper: a rack of 144 nodes at 100 Gb/s, 64 B reads, writes and both, all to all.

  examples/rack144.py [--program build/apps/emu/memfab-emu] [--loads 0.1,0.5,0.9] [--kinds reads,mix]

For each kind of operations one run of the virtual clock a load, each to its end, and one at nearly no
load, whose mean latency the others are divided by. A load is the offered blocks of all kinds on the
busiest link direction over its block rate. A point that the fabric does not keep up with is marked, with
its throughput instead of a ratio. Latency of a write: from submission to its effect at the memory node.
"""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import script

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ('reads', 'writes', 'mix')
UNLOADED = 0.005
# Averages of Figure 8a, EDM: mean latency over the unloaded one.
PAPER = {
    'reads': {0.2: 1.02, 0.4: 1.06, 0.6: 1.11, 0.8: 1.20, 0.9: 1.22},
    'writes': {0.2: 1.01, 0.4: 1.05, 0.6: 1.17, 0.8: 1.35, 0.9: 1.38},
    'mix': {0.8: 1.24},
}
WAITS = ('message_queue_ns', 'line_to_switch_ns', 'scheduler_ns', 'line_from_switch_ns')
KEPT_UP = 0.98  # blocks sent over blocks offered in the measured time; below: saturated


def fabric(kind, half, load, args):
  """The example with this load; half: 72 compute nodes and 72 memory nodes."""
  with open(os.path.join(HERE, f'rack144-{kind}.json'), encoding='utf-8') as file:
    config = json.load(file)
  config['clock'] = {'virtual': {'warmup': args.warmup, 'duration': args.duration}}
  config['workload'][0]['load'] = load
  config['seed'] = args.seed
  config['scheduler']['time'] = args.time
  nodes = config['nodes'][0]['count']
  if half:
    config['nodes'] = [{'name': 'cn', 'role': 'compute', 'count': nodes // 2},
                       {'name': 'mn', 'role': 'memory', 'count': nodes // 2}]
  return config


def run(kind, half, load, args):
  """One run. @return its result and how it went on this machine"""
  with tempfile.TemporaryDirectory() as folder:
    source, target = os.path.join(folder, 'fabric.json'), os.path.join(folder, 'result.json')
    with open(source, 'w', encoding='utf-8') as file:
      json.dump(fabric(kind, half, load, args), file)
    process = subprocess.run([args.program, '--clock', 'virtual', '--json', target, source],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if process.returncode != 0:
      raise SystemExit(f'{kind}, load {load}: exit {process.returncode}: {process.stderr.strip()}')
    with open(target, encoding='utf-8') as file:
      return json.load(file)


def latencies(result):
  """Mean in ns and count, reads and writes apart."""
  found = {}
  if 'read' in result['operations']['kinds']:
    hist = result['operations']['kinds']['read']['from_intended_start']
    found['reads'] = (hist['mean_ns'], hist['count'])
  if 'effect' in result['delivery'].get('writes', {}):
    hist = result['delivery']['writes']['effect']
    found['writes'] = (hist['mean_ns'], hist['count'])
  return found


def mean(result):
  found = latencies(result).values()
  return sum(ns * count for ns, count in found) / sum(count for _, count in found)


def ratio(result, unloaded):
  """Mean of each operation's latency over the unloaded one of its kind."""
  now, alone = latencies(result), latencies(unloaded)
  return (sum(now[k][0] / alone[k][0] * now[k][1] for k in now) / sum(now[k][1] for k in now))


def kept_up(result):
  """Blocks that were sent in the measured time, over those of the operations that were begun in it."""
  kinds, links = result['operations']['kinds'].values(), result['links']
  sent = sum(links[d]['memory_blocks'] for d in ('to_switch', 'from_switch'))
  each = result['control']['memory_blocks'] / result['operations']['completed_all']
  return sent / (each * sum(k['begun'] for k in kinds))


def point(load, both, unloaded, kind):
  """A line of the table, and whether the point is saturated."""
  result, alone = both['result'], unloaded['result']
  share = kept_up(result)
  paper = PAPER[kind].get(load)
  waits = [result['waits'][w] - alone['waits'][w] for w in WAITS]
  verdict = f"{ratio(result, alone):8.3f}" if share >= KEPT_UP else f'  x {share * load:.2f}!'
  count = sum(k['completed'] for k in result['operations']['kinds'].values())
  print(f"{load:5.2f} {share * load:9.3f} {mean(result):11.2f} {verdict} {paper or '':>7}"
        + ''.join(f' {w:8.2f}' for w in waits)
        + f" {count:12,} {both['run']['events'] / both['run']['cpu_seconds'] / 1e6:9.2f}", flush=True)
  return share < KEPT_UP


def series(kind, half, args, pool):
  """All loads of a kind. @return lines that need a word"""
  points = [UNLOADED] + args.loads
  runs = list(pool.map(lambda load: run(kind, half, load, args), points))
  print(f"\n{kind}, {'72 compute nodes, 72 memory nodes' if half else '144 nodes, each in both roles'}; "
        f"unloaded {mean(runs[0]['result']):.2f} ns")
  print(' load  achieved    mean, ns    ratio   paper    queue  line up    sched line down'
        '   operations Mevents/s')
  saturated = [load for load, both in zip(args.loads, runs[1:]) if point(load, both, runs[0], kind)]
  if saturated:
    print(f'  !  saturated: achieves less than is offered, from load {saturated[0]} on')
  return {f'{load:g}': both for load, both in zip(points, runs)}


def arguments():
  parser = script.Parser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
  parser.add_argument('--program', default=os.path.join(HERE, '..', 'build', 'apps', 'emu', 'memfab-emu'))
  parser.add_argument('--kinds', default=','.join(KINDS))
  parser.add_argument('--loads', default=','.join(f'{i / 10:.1f}' for i in range(1, 10)))
  parser.add_argument('--nodes', default='both,half', help='both: each node has both roles; half: 72 and 72')
  parser.add_argument('--warmup', default='10us')
  parser.add_argument('--duration', default='20us', help='in which operations are measured')
  parser.add_argument('--time', choices=['asic', 'none'], default='asic', help='what scheduling takes')
  parser.add_argument('--seed', type=int, default=1)
  parser.add_argument('--jobs', type=int, default=os.cpu_count())
  parser.add_argument('--json', help='writes all results there')
  args = parser.parse_args()
  args.loads = [float(load) for load in args.loads.split(',')]
  args.kinds, args.nodes = args.kinds.split(','), args.nodes.split(',')
  if not set(args.kinds) <= set(KINDS) or not set(args.nodes) <= {'both', 'half'}:
    parser.error('kinds are reads, writes, mix; nodes are both, half')
  return args


def main():
  args = arguments()
  print('VIRTUAL CLOCK: what the modelled hardware does')
  print('ratio: mean over unloaded mean. queue, line up, sched, line down: how much longer than unloaded an\n'
        'operation waits, in ns: in the message queue, for the link to the switch, for the scheduler, for\n'
        "the link to the node. paper: Figure 8a, EDM's own simulator.")
  found = {}
  with (script.result(args.json, args.program) as write,
        concurrent.futures.ThreadPoolExecutor(args.jobs) as pool):
    for nodes in args.nodes:
      for kind in args.kinds:
        found[f'{kind}-{nodes}'] = series(kind, nodes == 'half', args, pool)
    write(found)
  runs = [both for loads in found.values() for both in loads.values()]
  cpu = sum(both['run']['cpu_seconds'] for both in runs)
  done = sum(both['result']['operations']['completed_all'] for both in runs)
  events = sum(both['run']['events'] for both in runs)
  print(f'\n{len(runs)} runs, {done:,} operations, {events:,} events, {cpu:.1f} s of CPU: '
        f'{done / cpu:,.0f} operations/s, {events / cpu:,.0f} events/s')
  return 0


sys.exit(main())
