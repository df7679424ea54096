#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two switches by the wall clock: whatever is broken on purpose, in either network, operations end and what
is read is right; and while one switch and one link of each node live, and know all, none fails. Nothing
depends on how fast the machine is. Skipped where EAL cannot start.

  backup_faults.py EMU ROOT CHECK
"""
import os
import sys
import tempfile

import breaking
from breaking import AGAIN, at, fired, rule, run, sound
from emu import Emu, Tap, stood_still
from histories import Checker

# Each switch has an lcore of its own, and so has each scheduler, on the CPUs that there are.
ONE, FIVE = '0', f'(0-4)@({",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))})'
PLACES = {'one lcore': ONE, 'five lcores': FIVE}
LONG = {'read_timeout': '2s', 'write_timeout': '2s', 'once': True}
STILL = 6e11  # ps for which a machine may stand still: less than what LONG leaves of the time between faults
LEAST = 0.2  # share of its CPU that an lcore needs for the watchdog's word to come within LONG
TRIES = 4


def fabric(faults, depth=4, **more):
  return breaking.fabric(faults, depth, **{'backup': {}, **more})


def lasting(faults, seconds, **more):
  """A load that is bounded, so that all of it is in the history; timers that end only what is lost."""
  config = fabric(faults, host=LONG, switch={'grant_timeout': '500ms'}, **{'watchdog': '400ms', **more})
  del config['ethernet']
  config['clock']['wall']['duration'] = f'{seconds}s'
  config['workload'][0] |= {'loop': 'open', 'rate': 2000, 'depth': 16}
  return config


def both(name, **keys):
  """The same in either network."""
  return [rule(name, **keys), rule(name, switch=1, **keys)]


# What is broken together, and how deep clients go: where single messages are lost, or come in another order,
# on the way to one switch, nobody promises the order of a pair.
CASES = {
  'corruption': (both('bit', rate=2e-6) + both('sync', rate=3e-5) + both('type', rate=1e-3), 1),
  'losses': (both('lose', rate=0.003) + both('cut', rate=2e-4) + both('duplicate', rate=0.003), 1),
  'delays': (both('delay', rate=0.001, time='300us'), 4),
  'order': (both('reorder', rate=0.01, time='200us'), 1),
  'hostile nodes': ([rule('flood', node='c0', to='m', rate=0.001), rule('spoof', node='c1', rate=0.001),
                     rule('garbage', node='c2', rate=0.0002)], 4),
  'cables': (both('link_down', link='c', **AGAIN) +
             both('link_down', link='m1', **{**AGAIN, 'for': '1us'}), 4),
  'nodes': ([rule('node_crash', node='m0', **AGAIN), rule('node_crash', node='c1', **AGAIN)], 4),
  'switches': (both('switch_crash', **AGAIN), 4),
  'stalls': ([at(60, 150, 'stall', role='scheduler'), at(180, 200, 'stall', role='switch'),
              at(130, 190, 'stall', role='switch', switch=1), at(210, 280, 'stall', role=['m0', 'c2']),
              at(285, 290, 'stall', lcore=0)], 4),
  'pools': ([rule('exhaust', what=what, node=node, **AGAIN) for what, node in (
    ('queue', 'c'), ('grants', '*'), ('buffers', 'm'), ('room', '*'))] +
            both('exhaust', what='egress', node='*', **AGAIN) + both('exhaust', what='requests', **AGAIN) +
            both('exhaust', what='ring', node='m1', until='280ms', **AGAIN) +
            [rule('exhaust', what='buffers', node='m0', **{'from': '280ms'})], 1),
  'clocks': ([rule('skew', role='c0', ppm=50000), rule('skew', role=['c1', 'm0'], ppm=-90000, offset='70ms'),
              rule('skew', role='switch', ppm=300, offset='2s')] + both('lose', rate=0.002), 1),
  'all of it': (both('bit', rate=1e-6) + both('lose', rate=0.001) + both('delay', rate=0.001, time='50us') +
                both('link_down', link='*', **AGAIN) +
                [rule('node_crash', node='*', **{**AGAIN, 'every': '90ms'})] +
                both('switch_crash', **{**AGAIN, 'every': '120ms'}) +
                [at(70, 75, 'stall', role='m0'), rule('skew', role='c0', ppm=-1000)], 1),
}


def run_awake(emu, config, lcores, *args, stalled=()):
  """Again where an operation failed, and the machine stood still, not on purpose, or gave too little CPU."""
  for _ in range(TRIES):
    process, result = run(emu, config, lcores, *args)
    if result is None or result['operations']['failed_all'] == 0 or has_cpu(result, stalled):
      break
  return process, result


def has_cpu(result, stalled):
  """Whether timers say anything: they do not where a role that was to run did not run."""
  return stood_still(result, stalled) < STILL and breaking.share(result) >= LEAST


def unseen(tap, name, process, result, stalled=()):
  """None of what broke was seen by an operation. Nothing is said where the machine stood still each time."""
  if not sound(tap, name, process, result):
    return False
  done = result['operations']
  if done['failed_all'] > 0 and not has_cpu(result, stalled):
    tap.skip(f'{name}: none fails', f'{TRIES} times without a CPU: {breaking.share(result):.0%} of its time, '
             f'none for {stood_still(result, stalled) / 1e9:.0f} ms')
    return False
  return tap.ok(done['failed_all'] == 0, f'{name}: none fails',
                (done['failed_all'], done['failed_by_cause'], result['backup'], result['drops'],
                 result['watchdog']))


def classes(tap, emu, _checker):
  breaking.classes(tap, emu, CASES, PLACES, backup={})


def storms(tap, emu, _checker):
  """All cables of both networks, a few ms each: nodes have lost different switches, and the order of a pair
  (D9) stays. Links that hold little leave much to wait."""
  often = {'link': '*', 'from': '20ms', 'every': '20ms', 'for': '2ms'}
  for seed in range(1, 5):
    config = fabric(both('link_down', **often), seed=seed, link={'ring': 4})
    del config['ethernet']
    config['clock']['wall']['duration'] = '1s'
    config['workload'][0] |= {'mix': {'read': 2, 'write_ack': 1, 'cas': 1, 'fadd': 1}, 'size': 504,
                              'span': '64KiB'}
    name = f'a storm of seed {seed}'
    process, result = run(emu, config)
    if sound(tap, name, process, result):
      fired(tap, name, [rule('link_down')], result)


def one_after_the_other(tap, emu, checker, what, faults, least, places):
  """When one goes the other one has been there for longer than any operation takes: it knows all."""
  for place in places:
    name, lcores = f'{what}, {place}', PLACES[place]
    with tempfile.TemporaryDirectory() as folder:
      history = os.path.join(folder, 'run.hist')
      process, result = run_awake(emu, lasting(faults, 13), lcores, '--history', history)
      if not unseen(tap, name, process, result):
        continue
      count = result['faults'][faults[0]['class']]
      tap.ok(count >= len(faults), f'{name}: all have fired', count)
      tap.ok(result['backup']['take_overs'] >= least, f'{name}: the other one takes over', result['backup'])
      checker.passes(tap, name, history, least=1000)


def switches(tap, emu, checker):
  one_after_the_other(tap, emu, checker, 'either switch dies', [
    at(1000, 1300, 'switch_crash'), at(4000, 4300, 'switch_crash', switch=1),
    at(7000, 7300, 'switch_crash'), at(10000, 10300, 'switch_crash', switch=1)], 4, PLACES)


def cables(tap, emu, checker):
  """Of one node, and of most; of the switch that schedules, and of the other one."""
  one_after_the_other(tap, emu, checker, 'cables of either network', [
    at(1000, 1300, 'link_down', link='m0'), at(4000, 4300, 'link_down', switch=1, link='c'),
    at(7000, 7300, 'link_down', link=['m0', 'c1']), at(10000, 10300, 'link_down', switch=1, link='m1')], 4,
                      ['five lcores'])


def traffic_goes_on(tap, emu, _checker):
  """For a while no message of a node gets through, by either link; then all does again."""
  faults = both('lose', link='m', rate=1, **{'from': '50ms', 'until': '100ms'}) + [
    at(120, 160, 'link_down', link='m'), at(140, 180, 'link_down', link='m', switch=1),
    at(200, 230, 'switch_crash'), at(210, 240, 'switch_crash', switch=1),
    at(250, 280, 'node_crash', node='*')]
  config = fabric(faults, 1)
  config['workload'][0]['measured'] = 50
  del config['ethernet']  # frames would go on to the end of the time
  config['clock']['wall'] |= {'warmup': '300ms', 'duration': '100s'}
  for place, lcores in PLACES.items():
    name = f'after faults, {place}'
    process, result = run(emu, config, lcores)
    if sound(tap, name, process, result):
      tap.ok(result['operations']['kinds']['read']['completed'] > 0, f'{name}: traffic goes on',
             result['operations'])


def watchdog(tap, emu, _checker):
  """A switch that schedules, and has lost a cable, stands still: it is cut off, and nothing is lost."""
  faults = [at(900, 1300, 'link_down', link='m1'), at(1000, 5000, 'stall', role='switch'),
            rule('delay', rate=0.001, time='100us', switch=1)]
  for place, lcores in PLACES.items():
    name = f'a stalled switch, {place}'
    process, result = run_awake(emu, lasting(faults, 6, watchdog='50ms'), lcores,
                                stalled=('sw0', 'scheduler'))
    if not unseen(tap, name, process, result, ('sw0', 'scheduler')):
      continue
    fired(tap, name, faults, result)
    tap.ok(result['backup']['fail_overs'] >= 1 and 'its switch is cut off' in process.stderr,
           f'{name}: the watchdog cuts it off', (result['backup'], process.stderr))


def disable(tap, emu, _checker):
  """Corruption disables a link of one network; somebody mends it, and the other one goes on meanwhile."""
  for switch, (place, lcores) in enumerate(PLACES.items()):
    name_of = f'sw{switch}'
    name = f'bad blocks to {name_of}, {place}'
    headers = at(1000, 2000, 'sync', link='c0', switch=switch, direction='up', rate=1, count=20)
    link = {'disable': {'bad': 4, 'within': '10s', 'repair': '50ms'}, 'ber_window': '1s'}
    process, result = run(emu, lasting([headers], 4, link=link), lcores)
    if not sound(tap, name, process, result):
      continue
    seen = result['disabled']
    link, said = seen['links'][0], f'link of c0 to {name_of} is disabled: bad blocks' in process.stderr
    tap.ok(len(seen['links']) == 1 and link['node'] == 'c0' and link['switch'] == name_of and
           link['seen_by'] == 'switch' and said, f'{name}: that link is disabled', (seen, process.stderr))
    # Bad headers that come in one burst, behind a wait for a CPU, are a high error rate, too.
    causes = seen['bad_blocks'] + seen['hi_ber'] + seen['block_lock']
    tap.ok(seen['bad_blocks'] >= 1 and seen['repaired'] == causes, f'{name}: and mended', seen)
    tap.ok(result['backup']['take_overs'] == 0 or switch == 0, f'{name}: who schedules', result['backup'])


def local_fault(tap, emu, _checker):
  """Without a rule the same is a local fault, which both ends know until it is over."""
  faults = [rule('sync', link='c0', switch=1, direction='up', rate=1, count=20, **{'from': '60ms'})]
  process, result = run(emu, fabric(faults, link={'ber_window': '50ms'}))
  if sound(tap, 'hi-BER', process, result):
    links = result['local_faults']['links']
    tap.ok(result['local_faults']['hi_ber'] >= 1 and [link['switch'] for link in links] == ['sw1'],
           'hi-BER: a local fault of that link', result['local_faults'])


def replays(tap, emu, _checker):
  breaking.replayed(tap, emu, fabric(CASES['all of it'][0][:-1] + CASES['pools'][0], 1), FIVE)


def over_ports(faults, **more):
  """The links to the second switch go over ports."""
  ports, links = breaking.over_rings()
  return fabric(faults, 1, ports=ports, backup={'links': links}, **more)


def carried(tap, emu, _checker):
  """A link over ports: its frames are lost while it is cut. What crashes there is a process, not a role."""
  faults = [at(60, 1500, 'link_down', link='m0', switch=1), *both('lose', rate=0.002)]
  config = over_ports(faults)
  config['clock']['wall']['duration'] = '2s'
  process, result = run(emu, config)
  breaking.frames_are_lost(tap, process, result)
  for crash, key in ((rule('node_crash', node='m1', **AGAIN), 'node: the link of \'m1\''),
                     (rule('switch_crash', switch=1, **AGAIN), 'class: the link of \'c0\'')):
    breaking.refused(tap, emu, over_ports([crash]), key)
  process, result = run(emu, over_ports([rule('switch_crash', **AGAIN)]))
  if sound(tap, 'beside ports', process, result):
    fired(tap, 'beside ports', [rule('switch_crash')], result)


def main():
  tap, emu, checker = Tap(), Emu(*sys.argv[1:3]), Checker(sys.argv[3])
  breaking.skip_without_eal(emu)
  for part in (classes, storms, switches, cables, traffic_goes_on, watchdog, disable, local_fault, replays,
               carried):
    part(tap, emu, checker)
  tap.done()


main()
