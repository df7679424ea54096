#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Links that keep their rate and propagation in real time. Skipped where EAL cannot start.

  shaped.py EMU ROOT

Only bounds that hold on a machine that is busy, too: nothing is sent faster than the rate, nothing arrives
earlier than the propagation. How near to them it comes: tests/bench/shape.py.
"""
import os
import tempfile

import shaping
from emu import Emu, Tap, need_eal, why
from shaping import block_time

WINDOWS = (1e-3, 10e-3, 100e-3)
ROUNDED = 2e-9  # s: times of captures are whole nanoseconds
SIZE = 4096


def no_faster_in_all(tap, what, rate, links, result):
  """Frames of ports are dated by the beginning of a turn, which may be long before: so all of them count."""
  block, end = block_time(rate) * shaping.SLOWER, result['operations']['last_done_ps'] * 1e-12
  bad = {name: link.total[-1] for name, link in links.items()
         if link.total[-1] > (end + shaping.LATE) / block + 1 + link.longest}
  tap.ok({'cn up', 'cn down'} <= set(links) and not bad, f'{what}: never more than the rate', (bad, end))


def no_faster(tap, what, rate, links):
  """@param links  by name what was sent"""
  block, bad = block_time(rate) * shaping.SLOWER, []
  for name, link in links.items():
    if link.most(0.1) > 0.1 / block_time(rate):
      bad.append(f'{name}: {link.most(0.1)} blocks in 100 ms')
    for window in WINDOWS:
      most, may = link.most(window), (window + shaping.LATE + ROUNDED) / block + 1
      if most > may:
        bad.append(f'{name}: {most} blocks in {window} s, {may:.1f} may be')
  tap.ok(links and not bad, f'{what}: never more than the rate', bad)


def no_earlier(tap, what, config, result, crossings):
  """A read is there and back, and its data take the time of their blocks."""
  least = crossings * float(config['link']['propagation'][:-2]) * 1e-6 + SIZE / 8 * \
    block_time(config['link']['rate'])
  seen = result['operations']['kinds']['read']['latency'].get('min_ns', 0) * 1e-9
  tap.ok(seen >= least, f'{what}: never before the propagation is over', (seen, least))


def sound(tap, what, result):
  """Timers are long, so that all completes, however late."""
  done = result['operations']
  return tap.ok(done['completed_all'] == done['begun_all'] > 0 == done['mismatches'] and done['verified'] > 0,
                f'{what}: all complete and are verified', {k: v for k, v in done.items() if k != 'kinds'})


def hold(tap, what, config, run, crossings=4):
  result, captures = run(config)
  if not tap.ok(result is not None, f'{what}: runs', captures) or not sound(tap, what, result):
    return None
  if len(captures) > 1:
    no_faster_in_all(tap, what, config['link']['rate'], shaping.sent(captures), result)
  elif captures:
    no_faster(tap, what, config['link']['rate'], shaping.sent(captures))
  no_earlier(tap, what, config, result, crossings)
  return result


def operations(count, **more):
  return {'workload': [{'mix': {'read': 2, 'write_ack': 1}, 'size': SIZE, 'depth': 4, 'operations': count,
                        **more}]}


def processes(tap, emu, folder):
  for rate, count in (('1M', 6), ('10M', 60), ('200M', 900)):
    config = shaping.shaped(rate, '100us', '60s', '0', **operations(count))
    hold(tap, f'{rate}, lcores', config, lambda c: shaping.run_here(emu, folder, c))
    hold(tap, f'{rate}, one lcore', config,
         lambda c: shaping.run_here(emu, folder, c, *shaping.one_lcore(0, 'one')))
    hold(tap, f'{rate}, memif', config, lambda c: shaping.run_apart(emu, folder, c))


def others(tap, emu, folder):
  """Several switches; a second one that mirrors the first; links that are harmed and cut."""
  def run(config):
    return shaping.run_here(emu, folder, config, capture=False)

  chain = shaping.shaped('100M', '100us', '60s', '0', stack='rocev2', **operations(60))
  chain['switches'] = [{'name': 'a'}, {'name': 'b'}]
  for node, switch in zip(chain['nodes'], 'ab'):
    node['ends'] = [{'to': switch}]
  chain['links'] = [{'between': ['a', 'b']}]
  hold(tap, 'two switches in a row', chain, run, 6)
  hold(tap, 'backup', shaping.shaped('100M', '100us', '60s', '0', backup={}, **operations(60)), run)
  cut = shaping.shaped('100M', '10us', '60s', '0', **operations(100), faults=[
    {'class': 'link_down', 'link': 'mn', 'from': '5ms', 'until': '15ms'},
    {'class': 'duplicate', 'link': '*', 'rate': 0.01}])
  cut['host'] = {'retries': 200, 'retry_timeout': {'wall': '200ms'}, 'read_timeout': '60s',
                 'write_timeout': '60s'}
  result, said = run(cut)
  if tap.ok(result is not None, 'harmed and cut: runs', said):
    done = result['operations']
    tap.ok(done['completed_all'] + done['failed_all'] == done['begun_all'] == 100 and
           done['completed_all'] > 0 == done['mismatches'], 'harmed and cut: all end, none is wrong',
           {k: v for k, v in done.items() if k != 'kinds'})


def frames_wait(tap, emu, folder):
  """Frames and memory wait in the sender's multiplexer: memory goes between blocks of a frame."""
  config = shaping.shaped('10M', '10us', '60s', '0', **operations(60), ethernet=[
    {'from': '*', 'to': '*', 'size': 1500, 'load': 0.5}])
  config['clock']['wall']['duration'] = '300ms'
  config['workload'][0].pop('operations')
  result, said = shaping.run_here(emu, folder, config, capture=False)
  if tap.ok(result is not None, 'beside frames: runs', said) and sound(tap, 'beside frames', result):
    links = result['links']
    tap.ok(all(links[way]['preemptions'] > 0 and 0 < links[way]['utilisation_busiest'] <= 1
               for way in ('to_switch', 'from_switch')), 'memory goes between blocks of frames', links)


def replays(tap, emu, folder):
  config = shaping.shaped('100M', '50us', '60s', '0', **operations(200))
  path, record = shaping.parts.write(folder, 'record.json', config), os.path.join(folder, 'record')
  process = emu.run('--clock', 'wall', '--record', record, path)
  tap.ok(process.returncode == 0, 'records', why(process))
  process = emu.run('--replay', record, path)
  tap.ok(process.returncode == 0 and 'differ' not in process.stdout, 'and replays', why(process))


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  need_eal(tap, emu, 'links with a rate in real time')
  with tempfile.TemporaryDirectory() as folder:
    processes(tap, emu, folder)
    others(tap, emu, folder)
    frames_wait(tap, emu, folder)
    replays(tap, emu, folder)
  tap.done()


if __name__ == '__main__':
  import sys
  main(*sys.argv[1:3])
