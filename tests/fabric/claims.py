#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the paper claims of EDM, out of runs of the virtual clock; docs/evaluation.md has them at length."""
import json
import os
import subprocess
import sys
import tempfile

from emu import Emu, Tap, why

FRAME = 9000 + 4 + 8 + 12  # octets on the line: FCS, preamble, gap
CROSSINGS = 4  # of links, by a request and its response
PERIOD_NS = {'25g': 2.56, '100g': 0.64}


def changed(emu, name, change, folder):
  """The example with something else in it. @return path"""
  with open(emu.example(name), encoding='utf-8') as file:
    config = json.load(file)
  change(config)
  path = os.path.join(folder, f'{name}-{change.__name__}.json')
  with open(path, 'w', encoding='utf-8') as file:
    json.dump(config, file)
  return path


def table1(emu, tap, folder):
  """Stages that do not explain what was measured make a run unsound."""
  def busy(config):
    config['ethernet'] = [{'from': 'cn', 'to': 'mn', 'size': 1500, 'load': 0.5}]
  process = emu.run('--clock', 'virtual', changed(emu, 'table1', busy, folder))
  tap.ok(process.returncode == 1 and 'stages:' in process.stderr, 'table1: a busy line is noticed',
         why(process))


def near_limit(stream, messages, limit):
  return (stream['messages'] == messages and abs(stream['limit_gbps'] - limit) < 1e-6
          and 0.98 <= stream['message_of_limit'] <= 1.0 and 0.98 <= stream['queue_of_limit'] <= 1.0)


def long_messages(emu, tap, folder):
  """64 KiB: within 2 % of what the blocks of a 256 B chunk allow, 32 of 34."""
  def one(config):
    config['workload'][0].update(operations=1, depth=1)

  def timed(config):
    config['scheduler'] = {'time': 'asic'}
    config['workload'][0].update(operations=100)

  for rate in ('25g', '100g'):
    for kind in ('reads', 'writes'):
      name, limit = f'long-{kind}-{rate}', int(rate[:-1]) * 32 / 34
      for what, messages, path in (('1,000 messages', 1000, emu.example(name)),
                                   ('one message', 1, changed(emu, name, one, folder)),
                                   ('a scheduler that takes time', 100, changed(emu, name, timed, folder))):
        process, both = emu.result('--clock', 'virtual', path)
        stream = both and both['result']['delivery'].get(kind)
        tap.ok(process.returncode == 0 and stream and near_limit(stream, messages, limit), f'{name}: {what}',
               f'{why(process)}\n{stream}')


def preemption_run(emu, rate, policy):
  process, both = emu.result('--clock', 'virtual', '--duration', '6ms' if rate == '25g' else '1500us',
                             emu.example(f'preemption-{rate}-{policy}'))
  return process, both and both['result']


def full(result):
  """Both directions of every link 90 % full of frames, but for what chance does; all frames arrived whole."""
  frames = result['frames']
  least = min(result['links'][d]['utilisation_frames_least'] for d in ('to_switch', 'from_switch'))
  return (least >= 0.85 and frames['sent'] == frames['received'] > 1000
          and frames['missing'] == frames['damaged'] == frames['duplicated'] == frames['gaps'] == 0)


def preemption(emu, tap):
  """64 B reads beside 9,000 B frames."""
  for rate in ('25g', '100g'):
    _, idle = preemption_run(emu, rate, 'idle')
    alone = idle['operations']['kinds']['read']['latency']['mean_ns']
    mean = {}
    for policy in ('memory-first', 'fair', 'no-preempt', 'fifo'):
      process, result = preemption_run(emu, rate, policy)
      good = process.returncode == 0 and result is not None
      if tap.ok(good and full(result), f'preemption, {rate}, {policy}: links full, no frame lost',
                f"{why(process)}\n{result and (result['links'], result['frames'])}"):
        mean[policy] = result['operations']['kinds']['read']['latency']['mean_ns']
    tap.ok(mean['memory-first'] <= 1.2 * alone, f'preemption, {rate}: memory first', (mean, alone))
    tap.ok(mean['fair'] <= 1.2 * alone, f'preemption, {rate}: fair', (mean, alone))
    tap.ok(mean['fifo'] >= 5 * alone, f'preemption, {rate}: without preemption and priority', (mean, alone))
    # With priority alone a crossing of a link waits for the rest of a frame, at most for a whole one.
    most = alone + CROSSINGS * FRAME / 8 * PERIOD_NS[rate]
    tap.ok(4 * alone <= mean['no-preempt'] <= most, f'preemption, {rate}: without preemption',
           (mean, alone, most))


def waits(result):
  return sum(result['waits'].values())


def rack(emu, tap, folder):
  """Figure 8a, a part of it; what load adds to the latency is explained by the waits."""
  path = os.path.join(folder, 'rack.json')
  script = os.path.join(emu.root, 'examples', 'rack144.py')
  process = subprocess.run([sys.executable, script, '--program', emu.program, '--kinds', 'reads,writes',
                            '--nodes', 'both', '--loads', '0.3,0.8', '--warmup', '2us', '--duration', '4us',
                            '--json', path], capture_output=True, text=True, timeout=600, check=False)
  if not tap.ok(process.returncode == 0, 'rack144: runs', why(process)):
    return
  with open(path, encoding='utf-8') as file:
    found = json.load(file)
  for kind, bound in (('reads', {'0.3': 1.05, '0.8': 1.2}), ('writes', {'0.3': 1.05, '0.8': 1.3})):
    runs = {load: both['result'] for load, both in found[f'{kind}-both'].items()}
    mean = {load: r['operations']['kinds']['read']['latency']['mean_ns'] if kind == 'reads' else
            r['delivery']['writes']['effect']['mean_ns'] for load, r in runs.items()}
    alone = min(runs, key=float)
    for load, most in bound.items():
      tap.ok(1 < mean[load] / mean[alone] <= most, f'rack144: {kind} at load {load}', mean)
      more, waited = mean[load] - mean[alone], waits(runs[load]) - waits(runs[alone])
      tap.ok(abs(more - waited) <= 0.15 * more, f'rack144: {kind} at load {load}, explained', (more, waited))


def applications(emu, tap, folder):
  """Figure 8b, a part of it. Order in a pair apart, little is missing to the best that both ports allow."""
  path = os.path.join(folder, 'applications.json')
  script = os.path.join(emu.root, 'examples', 'applications.py')
  process = subprocess.run([sys.executable, script, '--program', emu.program, '--applications', 'hadoop',
                            '--nodes', '64', '--duration', '150us', '--seeds', '2', '--json', path],
                           capture_output=True, text=True, timeout=600, check=False)
  if not tap.ok(process.returncode == 0, 'applications: runs', why(process)):
    return
  with open(path, encoding='utf-8') as file:
    found = json.load(file)
  letter, slots = found['hadoop/letter'], found['hadoop/slots']
  tap.ok(slots['mean'] <= 1.15 * slots['in_order'], 'applications: near the ideal in order', slots)
  tap.ok(slots['first'] <= 1.1 * slots['ideal'], 'applications: first of a pair, near the ideal', slots)
  tap.ok(letter['first'] >= 1.15 * slots['first'], 'applications: ports that are busy in turn cost more',
         (letter, slots))


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  with tempfile.TemporaryDirectory() as folder:
    table1(emu, tap, folder)
    long_messages(emu, tap, folder)
    preemption(emu, tap)
    rack(emu, tap, folder)
    applications(emu, tap, folder)
  tap.done()


main(*sys.argv[1:])
