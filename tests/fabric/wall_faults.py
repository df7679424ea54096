#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Wall clock: whatever is broken on purpose, on one lcore and on several, operations end and what is read is
right. Skipped where EAL cannot start."""
import os
import sys
import tempfile

import breaking
from breaking import AGAIN, fabric, rule, run, sound
from emu import Emu, Tap, why

ONE, THREE = '0', '0,1@0,2@0'
PLACES = {'one lcore': ONE, 'three lcores': THREE}

# What is broken together, and how deep clients go: a link that puts messages in another order promises none.
CASES = {
  'corruption': ([rule('bit', rate=2e-6), rule('sync', rate=3e-5), rule('type', rate=1e-3)], 4),
  'losses': ([rule('lose', rate=0.003), rule('cut', rate=2e-4), rule('duplicate', rate=0.003)], 4),
  'delays': ([rule('delay', rate=0.001, time='300us')], 4),
  'order': ([rule('reorder', rate=0.01, time='200us')], 1),
  'hostile nodes': ([rule('flood', node='c0', to='m', rate=0.001), rule('spoof', node='c1', rate=0.001),
                     rule('garbage', node='c2', rate=0.0002)], 4),
  'cables': ([rule('link_down', link='c', **AGAIN),
              rule('link_down', link='m1', **{**AGAIN, 'for': '1us'})], 4),
  'nodes': ([rule('node_crash', node='m0', **AGAIN), rule('node_crash', node='c1', **AGAIN)], 4),
  'the switch': ([rule('switch_crash', **AGAIN)], 4),
  'stalls': ([rule('stall', role='scheduler', **{'from': '60ms', 'until': '150ms'}),
              rule('stall', role='switch', **{'from': '180ms', 'until': '200ms'}),
              rule('stall', role=['m0', 'c2'], **{'from': '210ms', 'until': '280ms'})], 4),
  'pools': ([rule('exhaust', what=what, node=node, **AGAIN) for what, node in (
    ('queue', 'c'), ('grants', '*'), ('buffers', 'm'), ('room', '*'), ('egress', '*'))] +
            [rule('exhaust', what='requests', **AGAIN),
             rule('exhaust', what='buffers', node='m0', **{'from': '280ms'})], 4),
  'rings': ([rule('exhaust', what='ring', node=node, **AGAIN, until='280ms')
             for node in ('c', 'm1', '*')], 4),
  'an lcore': ([rule('stall', lcore=0, **{'from': '70ms', 'until': '90ms'}),
                rule('lose', rate=0.001)], 4),
  'clocks': ([rule('skew', role='c0', ppm=50000), rule('skew', role=['c1', 'm0'], ppm=-90000, offset='70ms'),
              rule('skew', role='switch', ppm=300, offset='2s'), rule('lose', rate=0.002)], 4),
  'all of it': ([rule('bit', rate=1e-6), rule('lose', rate=0.001), rule('delay', rate=0.001, time='50us'),
                 rule('link_down', link='*', **AGAIN),
                 rule('node_crash', node='*', **{**AGAIN, 'every': '90ms'}),
                 rule('switch_crash', **{**AGAIN, 'every': '120ms'}),
                 rule('stall', role='m0', **{'from': '70ms', 'until': '75ms'}),
                 rule('skew', role='c0', ppm=-1000)], 1),
}


def classes(tap, emu):
  breaking.classes(tap, emu, CASES, PLACES)


def traffic_goes_on(tap, emu):
  """For a while no message of a node gets through; then all does again."""
  faults = [rule('lose', link='m', rate=1, **{'from': '50ms', 'until': '100ms'}),
            rule('link_down', link='m', **{'from': '120ms', 'until': '160ms'})]
  config = fabric(faults)
  config['workload'][0]['measured'] = 50
  del config['ethernet']  # frames would go on to the end of the time
  config['clock']['wall'] |= {'warmup': '200ms', 'duration': '100s'}
  process, result = run(emu, config, THREE)
  if sound(tap, 'after faults', process, result):
    tap.ok(result['operations']['kinds']['read']['completed'] > 0, 'after faults: traffic goes on',
           result['operations'])


def watchdog(tap, emu):
  """It notices a role that stands still, though its lcore goes on."""
  faults = [rule('stall', role='scheduler', **{'from': '100ms', 'until': '3s'})]
  config = fabric(faults, watchdog='20ms')
  config['clock']['wall']['duration'] = '3s'
  process, result = run(emu, config)
  if sound(tap, 'a stalled scheduler', process, result):
    seen = result['watchdog']['roles'].get('scheduler', {})
    tap.ok(seen.get('stalled', 0) == 1 and 'scheduler on lcore 0 is stalled' in process.stderr,
           'a stalled scheduler: the watchdog says so', (seen, process.stderr))


def disable(tap, emu):
  """Bad blocks, and a bit error rate that is too high, disable a link; somebody mends it."""
  headers = rule('sync', link='c0', direction='up', rate=1, count=20, **{'from': '60ms'})
  for what, cause, key in ((4, 'bad blocks', 'bad_blocks'), ({}, 'hi-BER', 'hi_ber')):
    limit = {'bad': what} if what else {}
    for place, lcores in PLACES.items():
      name = f'{cause}, {place}'
      config = fabric([headers], link={'disable': {**limit, 'within': '10s', 'repair': '50ms'},
                                       'ber_window': '1s'})
      process, result = run(emu, config, lcores)
      if not sound(tap, name, process, result):
        continue
      seen = result['disabled']
      link, said = seen['links'][0], f'link of c0 to sw0 is disabled: {cause}' in process.stderr
      tap.ok(seen[key] >= 1 and link['node'] == 'c0' and link['seen_by'] == 'switch' and said,
             f'{name}: the link is disabled', (seen, process.stderr))
      tap.ok(seen['repaired'] >= 1, f'{name}: and mended', seen)


def local_fault(tap, emu):
  """Without a rule the same is a local fault, which both ends know until it is over."""
  faults = [rule('sync', link='c0', direction='up', rate=1, count=20, **{'from': '60ms'})]
  process, result = run(emu, fabric(faults, link={'ber_window': '50ms'}))
  if sound(tap, 'hi-BER', process, result):
    tap.ok(result['local_faults']['hi_ber'] >= 1, 'hi-BER: a local fault', result['local_faults'])


def shares(tap, emu):
  """What one asks for beyond its share is known as that; who asks for little has a share."""
  config = fabric([rule('flood', node='c0', to='m', rate=0.01)], limits={'share': 0.3, 'burst': '4KiB'})
  process, result = run(emu, config)
  if sound(tap, 'a share', process, result):
    tap.ok(result['limits']['beyond_share'] > 0, 'a share: a flood is beyond it', result['limits'])


def replays(tap, emu):
  breaking.replayed(tap, emu, fabric(CASES['all of it'][0][:-1] + CASES['pools'][0], 1), THREE)


def carried(tap, emu):
  """A link over ports: its frames are lost while it is cut. What crashes is a process, and no role of it."""
  ports, links = breaking.over_rings()
  down = rule('link_down', link='m0', **{'from': '60ms', 'until': '1500ms'})
  config = fabric([down, rule('lose', rate=0.002)], ports=ports, links=links)
  config['clock']['wall']['duration'] = '2s'
  process, result = run(emu, config)
  breaking.frames_are_lost(tap, process, result)
  for length in (300, 3000, 30000):  # for which a busy machine may not send a frame
    out = rule('exhaust', what='mbufs', node='m0', **{'from': '60ms', 'until': f'{length}ms'})
    config = fabric([out], ports=ports, links=links)
    config['clock']['wall']['duration'] = f'{length}ms'
    process, result = run(emu, config)
    port = [p for p in result['ports'] if p['name'] == 'm0'][0] if result is not None else None
    lost = port['counters']['tx_no_buffer_frames'] if port is not None else 0
    if result is None or lost > 0:
      break
  if sound(tap, 'ports without mbufs', process, result):
    tap.ok(result['faults']['exhaust'] == 1 and lost > 0 == port['lost_buffers'],
           'ports without mbufs: frames are lost, and counted, and all buffers are back', port)
  for crash, key in ((rule('node_crash', node='m1', **AGAIN), 'node: the link of \'m1\''),
                     (rule('switch_crash', **AGAIN), 'class: the link of \'c0\'')):
    breaking.refused(tap, emu, fabric([crash], ports=ports, links=links), key)


def nowhere(tap, emu):
  """What is not there cannot break."""
  stall = rule('stall', lcore=77, **{'from': '60ms', 'until': '70ms'})
  for fault, said in ((stall, 'faults[0].lcore: no roles are on an lcore 77'),
                      (rule('exhaust', what='mbufs', node='m1', **{'from': '60ms'}),
                       "faults[0].node: no port carries the link of 'm1'")):
    process, _ = run(emu, fabric([fault]))
    tap.ok(process.returncode != 0 and said in process.stderr, f'{said}: is said', why(process))


def histories(tap, emu):
  with tempfile.TemporaryDirectory() as folder:
    process, _ = run(emu, fabric([rule('skew', role='c0', ppm=10)]), ONE, '--history',
                     os.path.join(folder, 'run.hist'))
    tap.ok(process.returncode != 0 and "the clock of 'c0' is skewed" in process.stderr,
           'a history by wrong clocks is refused', why(process))


def main():
  tap, emu = Tap(), Emu(*sys.argv[1:3])
  breaking.skip_without_eal(emu)
  for part in (classes, traffic_goes_on, watchdog, disable, local_fault, shares, replays, carried, nowhere,
               histories):
    part(tap, emu)
  tap.done()


main()
