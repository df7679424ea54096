# SPDX-License-Identifier: BSD-3-Clause
"""What is broken on purpose by the wall clock, in one process: fabric, faults, and what has to hold in any
case. Nothing depends on how fast the machine is."""
import json
import os
import sys
import tempfile

from emu import why

AGAIN = {'from': '60ms', 'every': '60ms', 'for': '8ms'}


def fabric(faults, depth=4, **more):
  return {'seed': 3, 'watchdog': '0',
          'clock': {'wall': {'warmup': '20ms', 'duration': '300ms', 'drain': '60s'}},
          'nodes': [{'name': 'c', 'role': 'compute', 'count': 3},
                    {'name': 'm', 'role': 'memory', 'count': 2}],
          'host': {'read_timeout': '80ms', 'write_timeout': '80ms', 'once': True},
          'switch': {'grant_timeout': '20ms', 'hold_timeout': '10ms'},
          'workload': [{'mix': {'read': 2, 'write_ack': 2, 'cas': 1, 'fadd': 1}, 'size': 300, 'depth': depth,
                        'span': '2KiB'}],
          'ethernet': [{'from': 'c', 'to': 'm', 'size': 400, 'load': 0.0005}],
          'faults': faults, **more}


def rule(name, **keys):
  return {'class': name, **keys}


def at(begin, end, name, **keys):
  return rule(name, **{'from': f'{begin}ms', 'until': f'{end}ms'}, **keys)


def skip_without_eal(emu):
  process = emu.run('--duration', '10ms', emu.example('quickstart'))
  if 'EAL' in process.stderr:
    print(f'1..0 # SKIP {process.stderr.strip().splitlines()[-1]}')
    sys.exit(0)


FED = 0.5  # share of its CPUs below which a process that did too little had too little of them
TRIES = 4


def share(result):
  return result['run']['cpu_share']


def unmeasured(process):
  return 'nothing was measured' in process.stderr


def starved(process, result):
  """For want of a CPU nothing could be verified, since timers ended all of it first; or nothing was measured,
  since the machine stood still for all of the time in which it is."""
  return (result is not None and share(result) < FED and
          (result['operations']['verified'] == 0 or unmeasured(process)))


def run(emu, config, lcores='0', *args):
  """The process, and its result; again, and for longer, where it was starved; at last as it is."""
  for longer in range(1, TRIES + 1):
    process, result = run_once(emu, at_length(config, longer), lcores, *args)
    if not starved(process, result):
      break
  return process, result


def at_length(config, longer):
  wall = config['clock']['wall']
  milliseconds = {'ms': 1, 's': 1000}
  number = wall['duration'].rstrip('ms')
  length = int(number) * milliseconds[wall['duration'][len(number):]]
  return config | {'clock': config['clock'] | {'wall': wall | {'duration': f'{length * longer}ms'}}}


def write(path, config):
  with open(path, 'w', encoding='utf-8') as file:
    json.dump(config, file)


def run_once(emu, config, lcores, *args):
  with tempfile.TemporaryDirectory() as folder:
    path, out = os.path.join(folder, 'fabric.json'), os.path.join(folder, 'result.json')
    write(path, config)
    process = emu.run('--lcores', lcores, '--no-huge', '-m', '512', '--no-shconf', '--no-pci',
                      '--file-prefix', f'breaking{os.getpid()}', '--', '--json', out, *args, path)
    try:
      with open(out, encoding='utf-8') as file:
        both = json.load(file)
        return process, both['result'] | {'run': both['run']}
    except (OSError, ValueError):
      return process, None


def sound(tap, name, process, result):
  """All that began has ended, and what was read is right."""
  no_cpu = starved(process, result)
  ran = process.returncode == 0 or (no_cpu and unmeasured(process))
  if not tap.ok(ran and result is not None, f'{name}: sound', why(process)):
    return False
  done = result['operations']
  ended = done['completed_all'] + done['failed_all']
  tap.ok(done['mismatches'] == 0 and (done['verified'] > 0 or no_cpu) and done['begun_all'] == ended,
         f'{name}: verified, and all ends', {key: n for key, n in done.items() if key != 'kinds'})
  if no_cpu:
    tap.skip(f'{name}: what was read', f'{TRIES} times without a CPU: {share(result):.0%} of its time')
  return not no_cpu


def fired(tap, name, faults, result):
  of = {r['class']: result['faults'][r['class']] for r in faults}
  tap.ok(all(of.values()), f'{name}: each class has fired', of)


def classes(tap, emu, cases, places, **more):
  """What is broken together, and how deep clients go, on the lcores of each place."""
  for what, (faults, depth) in cases.items():
    for place, lcores in places.items():
      name = f'{what}, {place}'
      process, result = run(emu, fabric(faults, depth, **more), lcores)
      if not sound(tap, name, process, result):
        continue
      fired(tap, name, faults, result)
      checks = result.get('checks', {})
      tap.ok(checks.get('undetected', 0) == 0, f'{name}: none undetected', checks)


def over_rings():
  """A port for the link of each node, and these links."""
  nodes = ('c0', 'c1', 'c2', 'm0', 'm1')
  ports = [{'name': node, 'device': f'net_ring{number}'} for number, node in enumerate(nodes)]
  return ports, [{'node': node, 'carried': {'node': node, 'switch': node, 'when': 'always', 'hello': '20ms',
                                            'silence': '1s', 'replay_max': '20ms'}} for node in nodes]


def frames_are_lost(tap, process, result):
  """The cable of m0, over a port, is out for a while."""
  if sound(tap, 'over ports', process, result):
    cut = [p['counters'] for p in result['ports'] if p['name'] == 'm0'][0]
    tap.ok(result['faults']['link_down'] > 0 < cut['rx_cut_frames'] + cut['tx_cut_frames'],
           'over ports: frames are lost while the cable is out', cut)


def refused(tap, emu, config, key):
  process, _ = run(emu, config)
  tap.ok(process.returncode != 0 and f'fabric.json: faults[0].{key} is carried by ports' in process.stderr,
         f'over ports: {config["faults"][0]["class"]} is refused', why(process))


def replayed(tap, emu, config, lcores):
  """What broke is in the records, and breaks again. A record is of one file, so no try is for longer."""
  with tempfile.TemporaryDirectory() as folder:
    process, result = run_once(emu, config, lcores, '--record', folder)
    if not sound(tap, 'a record', process, result):
      return
    path = os.path.join(folder, 'fabric.json')
    write(path, config)
    again = emu.run('--replay', folder, path)
    tap.ok(again.returncode == 0 and 'differ' not in again.stdout, 'a record: replays', why(again))
