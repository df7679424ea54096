#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two nodes with a link to each other and no switch. Skipped without EAL: what is of the wall clock.

  direct.py EMU ROOT [--pairs N] [--seed N]

What a star takes more is the time of a hop, to the picosecond. However the file says it, it is the same link.
Random pairs, with faults: the result is the same in another run and block by block. A fault of a node's link
is one of that link, once, and of no other one of the node. Each end watches what it gets. By the wall clock
operations complete and are verified, records replay, the link breaks and comes back, and each node may be a
process.
"""
import argparse
import os
import random
import tempfile

import breaking
import laws
import parts
from emu import Emu, Tap, need_eal, why
from graphs import CYCLE, PERIODS, STACKS, Runs, first_difference, stripped

TIMES = ('--warmup', '1us', '--duration', '10us')
CPUS = ','.join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
PLACES = {'1 lcore': '0', '2 lcores': f'(0-1)@({CPUS})'}
NODES = [{'name': 'cn', 'role': 'compute'}, {'name': 'mn', 'role': 'memory'}]
BETWEEN = ['cn', 'mn']
MIXES = {'ethernet': {'read': 2, 'write_ack': 1}}
KINDS = {'read': 2, 'write': 1, 'fadd': 1}


def options():
  parser = argparse.ArgumentParser(description='Runs fabrics of two nodes without a switch.')
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--pairs', type=int, default=12)
  parser.add_argument('--seed', type=int, default=1)
  return parser.parse_args()


def pair(stack, *, link=None, **more):
  return {'stack': stack, 'memory': {'size': '1MiB'}, 'nodes': NODES,
          'links': [{'between': BETWEEN} | (link or {})]} | more


def hop(propagation):
  """What a switch and a second link add to a frame beside its blocks: lib/fabric's timing of frames."""
  return 2 * 3 * CYCLE + 2 * 19_000 + propagation + 2 * 3 * CYCLE + 400_000


def alone(tap, runs):
  """One operation: a star takes the stages of a hop more, for what is asked and for the answer."""
  for stack in ('ethernet', 'rocev2', 'tcp'):
    for kind in ('read', 'write_ack'):
      workload = [{'mix': {kind: 1}, 'size': 64, 'operations': 1}]
      direct = runs.run(pair(stack, workload=workload))
      star = runs.run({'stack': stack, 'switch': {'bridge': 'fifo'}, 'memory': {'size': '1MiB'},
                       'nodes': NODES, 'workload': workload})
      times = [result['operations']['last_done_ps'] for result in (direct, star)]
      blocks = direct['links']['between_nodes']['frame_blocks']
      more = blocks * PERIODS['25G'] + 2 * hop(10_000)
      tap.ok(times[1] - times[0] == more and times[0] > blocks * PERIODS['25G'],
             f'{stack} {kind}: a switch takes the stages of a hop, twice', (times, more))
      sent = sum(star['links'][way]['frame_blocks'] for way in ('to_switch', 'from_switch'))
      tap.ok(sent == 2 * blocks > 0, f'{stack} {kind}: the same frames cross half as many links',
             (sent, blocks))


SAME = {'between': pair('rocev2', link={'rate': '100G', 'propagation': '30ns'}),
        'between, the other way round': pair('rocev2', links=[
          {'between': BETWEEN[::-1], 'rate': '100G', 'propagation': '30ns'}]),
        'ends of the first node': {'nodes': [
          NODES[0] | {'ends': [{'to': 'mn', 'rate': '100G', 'propagation': '30ns'}]}, NODES[1]]},
        'ends of the second node': {'nodes': [
          NODES[0], NODES[1] | {'ends': [{'to': 'cn', 'rate': '100G', 'propagation': '30ns'}]}]},
        'ends of both': {'nodes': [NODES[0] | {'ends': [{'to': 'mn', 'rate': '100G'}]},
                                   NODES[1] | {'ends': [{'to': 'cn'}]}],
                         'link': {'propagation': '30ns'}},
        'the only tier': {'tiers': [{'name': 't', 'stack': 'rocev2', 'link': {'rate': '100G'}}],
                          'nodes': [node | {'ends': [{'tier': 't'}]} for node in NODES],
                          'links': [{'between': BETWEEN, 'tier': 't', 'propagation': '30ns'}]}}


def spelled(tap, runs):
  """The same link, said in all ways."""
  load = {'seed': 5, 'memory': {'size': '1MiB'},
          'workload': [{'mix': KINDS, 'size': 1000, 'depth': 3, 'span': '16KiB'}]}
  first = None
  for name, how in SAME.items():
    config = load | ({} if 'tiers' in how else {'stack': 'rocev2'}) | how
    result = stripped(runs.run(config, *TIMES))
    if not tap.ok(isinstance(result, dict) and result['operations']['completed_all'] > 0, f'{name}: runs',
                  result):
      continue
    kept = {key: result[key] for key in ('operations', 'load', 'time')} | \
        {'links': result['links']['between_nodes']}
    first = first or kept
    tap.ok(kept == first, f'{name}: the same', first_difference(first, kept))


def busier(tap, runs):
  """The payload of the busier direction: what is read goes one way, what is written the other."""
  size, times = 4096, ('--warmup', '10us', '--duration', '100us')
  for mix in ({'read': 3, 'write': 1}, {'read': 1, 'write': 3}, {'read': 1, 'write': 1}):
    result = runs.run(pair('rocev2', link={'rate': '100G'},
                           workload=[{'mix': mix, 'size': size, 'depth': 4}]), *times)
    if not tap.ok(isinstance(result, dict), f'payload, {mix}: runs', result):
      continue
    rates = [kind['goodput_gbps'] for kind in result['operations']['kinds'].values()]
    payload, under_way = result['load']['achieved']['payload'], 4 * size * 8 / (100e-6 * 100e9)
    tap.ok(min(rates) / 100 > 2 * under_way and abs(payload - max(rates) / 100) <= under_way,
           f'payload, {mix}: of the busier direction', (payload, rates))


MORE = {'lose': {'rate': 1e-2}, 'bit': {'rate': 1e-5}, 'delay': {'rate': 1e-2, 'time': '300ns'},
        'reorder': {'rate': 1e-2, 'time': '300ns'}, 'duplicate': {'rate': 1e-2}}
DOWN = ({'from': '3us'}, {'from': '2us', 'until': '4us'},
        {'from': '1us', 'until': '9us', 'every': '1us', 'for': '300ns'})
WHERE = ({'link': 'cn'}, {'link': 'mn'}, {'link': '*'}, {'between': BETWEEN}, {'between': BETWEEN[::-1]})


def draw_fault(r):
  kind = r.choice(('link_down', *MORE))
  fault = {'class': kind} | r.choice(WHERE)
  if kind == 'link_down':
    return fault | r.choice(DOWN)
  return fault | MORE[kind] | {'direction': r.choice(('both', 'up', 'down'))}


def draw(seed):
  r = random.Random(seed)
  stack = STACKS[seed % len(STACKS)]
  both = r.random() < 0.5
  config = pair(stack, seed=seed, link={'rate': r.choice(tuple(PERIODS)),
                                        'propagation': r.choice(('0ns', '5ns', '200ns', '1us'))},
                workload=[{'mix': MIXES.get(stack, KINDS), 'span': '64KiB',
                           'size': r.choice((64, 1000, 4096)), 'depth': r.choice((1, 2, 8))}])
  if both:
    config['nodes'] = [node | {'role': 'both'} for node in NODES]
  config['faults'] = [draw_fault(r) for _ in range(r.choice((0, 1, 2)))]
  if config['faults']:
    config['workload'][0]['operations'] = 20
    config['host'] = {'read_timeout': '50us', 'write_timeout': '50us'}
  return config


def same(tap, runs, seed):
  config = draw(seed)
  first = stripped(runs.run(config, *TIMES))
  what = f'pair {seed}: {config["stack"]}, {len(config["faults"])} faults'
  if not tap.ok(isinstance(first, dict) and first['operations']['begun_all'] > 0, f'{what}: runs', first):
    return
  over = {path: share for path, share in laws.shares(first) if share > 1 + 1e-9}
  tap.ok(not over and first['operations']['mismatches'] == 0, f'{what}: no share above 1, nothing wrong',
         over)
  for name, args in (('again', ()), ('block by block', ('--block-by-block',))):
    result = stripped(runs.run(config, *TIMES, *args))
    tap.ok(result == first, f'{what}: {name}', first_difference(first, result))


def faults(tap, runs):
  """By its node or by both names it is the same fault."""
  for up, down in (('up', 'down'), ('down', 'up')):
    results = [stripped(runs.run(pair('rocev2', faults=[where | {'class': 'lose', 'rate': 0.05}],
                                      workload=[{'mix': {'read': 1}, 'size': 64, 'operations': 50}])))
               for where in ({'link': 'cn', 'direction': up}, {'link': 'mn', 'direction': down},
                             {'between': BETWEEN, 'direction': up},
                             {'between': BETWEEN[::-1], 'direction': down})]
    tap.ok(all(isinstance(result, dict) and result == results[0] for result in results) and
           results[0]['faults']['lose'] > 0, f'what goes {up} from cn is lost, however it is named',
           first_difference(results[0], next((r for r in results if r != results[0]), results[0])))


def once(tap, runs):
  """A rule that names both nodes names one link."""
  for again in ({'until': '6us'}, {'until': '60us', 'every': '5us', 'for': '1us'}):
    cut = again | {'class': 'link_down', 'from': '5us'}
    results = [stripped(runs.run(pair('rocev2', faults=[where | cut], workload=[
      {'mix': KINDS, 'size': 1000, 'operations': 100}]))) for where in ({'link': 'cn'}, {'link': '*'})]
    tap.ok(results[0] == results[1] and results[0]['faults']['link_down'] > 0,
           f'the link of both nodes is cut once, {len(again)} keys', first_difference(*results))


def watched(tap, runs):
  """Each end counts the bad blocks that it gets: the other node's name is on those that a node sent."""
  def run(bad, **how):
    load = [{'mix': KINDS, 'size': 1000, 'operations': 100}]
    return runs.run(pair('rocev2', link={'disable': {'bad': bad, 'within': '1s'}}, workload=load, faults=[
      {'class': 'sync', 'rate': 1e-2, 'count': 4, 'idle': False} | how]), '--duration', '1ms')
  for node, other in (BETWEEN, BETWEEN[::-1]):
    result = run(4, link=node, direction='up')
    links = result['disabled']['links'] if isinstance(result, dict) else []
    tap.ok([link['seen_by'] for link in links] == [other],
           f'{other} sees what is wrong with what {node} sent', links or result)
  result = run(5, link='*')
  tap.ok(isinstance(result, dict) and result['faults']['sync'] == 8 and not result['disabled']['links'],
         'four at each end are not five', result['disabled'] if isinstance(result, dict) else result)


def names(tap, runs):
  """What sounds like a node is none; and there is no switch that could have a name."""
  load = [{'mix': {'read': 1}, 'size': 64, 'operations': 5}]
  result = runs.run({'stack': 'rocev2', 'links': [{'between': ['sw0', 'mn']}], 'workload': load,
                     'nodes': [{'name': 'sw0', 'role': 'compute'}, NODES[1]]})
  tap.ok(isinstance(result, dict), 'a node may be called sw0', result)
  for tiers in (False, True):
    tier = {'tier': 't'} if tiers else {}
    result = runs.run(({'tiers': [{'name': 't', 'stack': 'rocev2'}]} if tiers else {'stack': 'rocev2'}) | {
      'switches': [{'name': 's0'} | tier, {'name': 's1'} | tier], 'links': [{'between': ['s0', 's1']}],
      'nodes': [{'name': 's', 'role': 'compute', 'ends': [{'to': 's0'} | tier]},
                NODES[1] | {'ends': [{'to': 's1'} | tier]}], 'workload': load})
    tap.ok(isinstance(result, dict) and 'between_switches' in result['links'],
           f's0 and s1 are switches beside a node s, {"with" if tiers else "without"} tiers', result)


def board(tap, runs):
  """Nodes of ird know of each other beside the link, too: not later by that than they should."""
  for propagation in ('0ns', '5ns', '1us'):
    config = pair('ird', link={'rate': '100G', 'propagation': propagation}, nodes=[
      node | {'role': 'both'} for node in NODES], workload=[
        {'mix': {'read': 1, 'write': 1}, 'size': 4000, 'depth': 8, 'span': '64KiB'}])
    first, second = (stripped(runs.run(config, '--warmup', '2us', '--duration', '40us', *args))
                     for args in ((), ('--block-by-block',)))
    tap.ok(isinstance(first, dict) and first == second, f'ird, {propagation}: the same block by block',
           first_difference(first, second))


def opposite(tap, runs):
  """Each asks the other one by its own first end: payload is on the link by which it came."""
  result = runs.run({'memory': {'size': '1MiB'}, 'tiers': [
    {'name': 'slow', 'stack': 'rocev2', 'link': {'rate': '10G'}}, {'name': 'net', 'stack': 'edm'}],
    'nodes': [{'name': 'a', 'role': 'both', 'ends': [{'tier': 'slow', 'to': 'b'}, {'tier': 'net'}]},
              {'name': 'b', 'role': 'both', 'ends': [{'tier': 'net'}, {'tier': 'slow'}]}],
    'workload': [{'mix': {'read': 1}, 'size': 4000, 'depth': 4, 'span': '64KiB'}]},
    '--warmup', '5us', '--duration', '50us')
  load = result['load']['achieved'] if isinstance(result, dict) else {}
  tap.ok(0.5 < load.get('payload', 0) < load['wire'] <= 1, 'payload is less than what is on the wire',
         load or result)


def tiers(stack):
  """Two nodes with an end in a network with a switch, and a link to each other. A third one is in each with
  one of these."""
  load = {'targets': ['m', 'x', 'y'], 'mix': {'read': 1}, 'size': 64, 'span': '4KiB', 'operations': 60,
          'pattern': 'all-to-all'}
  return {'memory': {'size': '1MiB'},
          'tiers': [{'name': 'net', 'stack': 'ethernet'}, {'name': 'pair', 'stack': stack},
                    {'name': 'other', 'stack': 'rocev2'}],
          'nodes': [{'name': 'a', 'role': 'compute', 'ends': [{'tier': 'other', 'to': 'x'}, {'tier': 'net'}]},
                    {'name': 'b', 'role': 'compute', 'ends': [{'tier': 'pair', 'to': 'm'}, {'tier': 'net'}]},
                    {'name': 'm', 'role': 'memory', 'ends': [{'tier': 'net'}, {'tier': 'pair'}]},
                    {'name': 'x', 'role': 'memory', 'ends': [{'tier': 'net'}, {'tier': 'other'}]},
                    {'name': 'y', 'role': 'memory', 'ends': [{'tier': 'net'}]}],
          'workload': [load | {'nodes': 'a'}, load | {'nodes': 'b'}]}


# How many of the operations fail when this is cut for good. a and b ask m, x and y in turn, 20 times.
CUT = {'all links of a': ({'link': 'a'}, 60), 'a to the switch': ({'between': ['a', 'net.sw0']}, 40),
       'a to x': ({'between': ['a', 'x']}, 20), 'b to m': ({'between': ['m', 'b']}, 20),
       'm to the switch': ({'between': ['net.sw0', 'm']}, 20), 'all links of m': ({'link': 'm'}, 40),
       'all links of y': ({'link': 'y'}, 40)}


def right_link(tap, runs):
  """A link that is cut takes the operations with it that go by it, and no others."""
  for stack in ('rocev2', 'tcp'):
    for name, (where, lost) in CUT.items():
      config = tiers(stack) | {'faults': [where | {'class': 'link_down', 'from': '0ns'}],
                               'host': {'read_timeout': '20us', 'write_timeout': '20us'}}
      result = stripped(runs.run(config, '--warmup', '0', '--duration', '2ms'))
      done = result['operations'] if isinstance(result, dict) else {}
      tap.ok(done.get('failed_all') == lost and done.get('completed_all') == 120 - lost,
             f'{stack}, cut {name}: {lost} of 120 operations fail', result if not done else done)


def no_file(tap, emu, folder):
  """What names a link that is not there, or one by a name that it does not have."""
  path = parts.write(folder, 'pair.json', pair('rocev2', workload=[{'mix': {'read': 1}, 'span': '16KiB'}]))
  for link, said in (('cn', "link 'cn' leads to another node, and is called 'cn:mn'"),
                     ('cn:sw0', "no link 'cn:sw0' between switches, or between nodes"),
                     ('mn:cn:1', "no link 'mn:cn:1'"), ('mn:cn+cn:mn', 'is named twice')):
    process = emu.run('--clock', 'virtual', '--capture', f'{folder}/c.pcapng,link={link}', path)
    tap.ok(process.returncode == 2 and said in process.stderr and process.stderr.count('\n') == 1,
           f'--capture link={link} is refused', why(process))
  for link in ('cn:mn', 'mn:cn', 'mn:cn:0'):
    process = emu.run('--clock', 'virtual', *TIMES, '--capture', f'{folder}/c.pcapng,link={link}', path)
    tap.ok(process.returncode == 0 and os.path.getsize(f'{folder}/c.pcapng') > 1000,
           f'--capture link={link} is taken', why(process))


def bounded(config):
  return config | {'watchdog': '0', 'host': {'read_timeout': '60s', 'write_timeout': '60s'},
                   'clock': {'wall': {'warmup': '0', 'duration': '60s', 'drain': '60s'}}}


def wall(tap, emu, top):
  """All complete, and what each role gave its record gives again; also where the link breaks on the way."""
  for stack in ('ethernet', 'rocev2'):
    for place, lcores in PLACES.items():
      for cuts in ([], [breaking.at(2, 40, 'link_down', link='cn', every='4ms', **{'for': '1ms'})]):
        config = bounded(pair(stack, faults=cuts, workload=[
          {'mix': MIXES.get(stack, KINDS), 'size': 500, 'span': '16KiB', 'operations': 2000, 'depth': 4}]))
        config['nodes'] = [node | {'role': 'both'} for node in NODES]
        if cuts:  # the stack "ethernet" sends nothing again
          config['host'] = {'read_timeout': '20ms', 'write_timeout': '20ms'}
        name = f'{stack}, {place}{", cut again and again" if cuts else ""}'
        folder = os.path.join(top, name.replace(' ', '').replace(',', '-'))
        process, result = breaking.run_once(emu, config, lcores, '--record', folder)
        if not tap.ok(result is not None and process.returncode == 0, f'{name}: runs', why(process)):
          continue
        done = result['operations']
        tap.ok(done['completed_all'] + done['failed_all'] == 4000 and
               done['mismatches'] == 0 < done['verified'] and (cuts or done['failed_all'] == 0),
               f'{name}: all end, and what is read is right', done)
        path = os.path.join(top, 'fabric.json')
        breaking.write(path, config)
        process, files = emu.run('--replay', folder, path), os.listdir(folder)
        tap.ok(process.returncode == 0 and process.stdout.count(' octets identical\n') == len(files) == 2,
               f'{name}: the record of each role replays', why(process) + process.stdout)


def memif():
  """A port at each node."""
  socket = f'socket=memfab-direct-{os.getpid()},id=0'
  return {'ports': [{'name': 'a', 'device': f'net_memif0,role=client,{socket}'},
                    {'name': 'b', 'device': f'net_memif0,role=server,{socket}'}]}


def apart(stack, **more):
  return bounded(pair(stack, link={'carried': {'between': ['a', 'b']}}, **memif(), **more))


def processes(tap, emu):
  """Each node is a process: they begin and end together, and one that is killed comes back."""
  for stack in ('ethernet', 'rocev2'):
    with parts.Folder() as folder:
      group = parts.Group(emu, folder)
      path = parts.write(folder, 'fabric.json', apart(stack, workload=[
        {'mix': MIXES.get(stack, KINDS), 'size': 500, 'span': '16KiB', 'operations': 3000, 'depth': 4}]))
      group.start('mn', path)
      tap.ok(group.waits_for('mn', 'waiting for cn'), f'{stack}: mn waits for cn', group.said('mn'))
      group.start('cn', path)
      status, result = group.end(), group.result('cn')
      tap.ok(status == {'mn': 0, 'cn': 0}, f'{stack}: both end', group.all_said(status))
      done = result['operations'] if result else {}
      tap.ok(done.get('completed_all') == 3000 and done['failed_all'] == done['mismatches'] == 0,
             f'{stack}: all complete, and what is read is right', done)


def killed(tap, emu):
  """Operations go on when the process of either node is there again."""
  for victim in ('mn', 'cn'):
    with parts.Folder() as folder:
      group = parts.Group(emu, folder)
      path = parts.write(folder, 'fabric.json', apart('rocev2', workload=[
        # What a memory node held is gone with it, and a client that begins anew does not know what it wrote.
        {'mix': KINDS, 'size': 500, 'span': '16KiB', 'operations': 20000, 'depth': 4, 'delay': '100us',
         'verify': False}]) | {
          'host': {'read_timeout': '1s', 'write_timeout': '1s'}})
      group.start('mn', path)
      group.start('cn', path)
      ready = group.waits_for('cn', ' is up') and group.waits_for('mn', ' is up')
      group.kill(victim)
      group.start(victim, path)
      tap.ok(ready and group.waits_for(victim, ' is up'), f'{victim} is killed: its link comes back',
             group.all_said({}))
      status, result = group.end(), group.result('cn')
      done = result['operations'] if result else {}
      tap.ok(status['mn'] == 0 and done.get('completed_all', 0) + done.get('failed_all', 0) == 20000
             and done['completed_all'] > 0, f'{victim} is killed: operations go on and end',
             group.all_said(status) + str(done)[:2000])


def unported(tap, emu):
  """Nodes in two processes need ports."""
  with parts.Folder() as folder:
    path = parts.write(folder, 'fabric.json', bounded(pair('rocev2')))
    process = emu.run('--run', 'cn', path)
    tap.ok(process.returncode != 0 and 'links[].carried.between' in process.stderr,
           'nodes in two processes need ports', why(process))


def main():
  args = options()
  tap, emu = Tap(), Emu(args.emu, args.root)
  with tempfile.TemporaryDirectory() as folder:
    runs = Runs(emu, folder)
    alone(tap, runs)
    spelled(tap, runs)
    busier(tap, runs)
    faults(tap, runs)
    once(tap, runs)
    watched(tap, runs)
    names(tap, runs)
    board(tap, runs)
    opposite(tap, runs)
    right_link(tap, runs)
    no_file(tap, emu, folder)
    for seed in range(args.seed, args.seed + args.pairs):
      same(tap, runs, seed)
    need_eal(tap, emu, 'by the wall clock')
    wall(tap, emu, folder)
  processes(tap, emu)
  killed(tap, emu)
  unported(tap, emu)
  tap.done()


if __name__ == '__main__':
  main()
