#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Virtual clock: links between switches, by their two ends: captured, disabled by corruption, in graphs."""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'wireshark'))
import frames as f  # noqa: E402
import laws
from emu import Emu, Tap, why  # noqa: E402

TAP, EMU = Tap(), Emu(*sys.argv[1:3])
TIMES = ('--clock', 'virtual', '--warmup', '0ps', '--duration', '30us')
BLOCK = 8
IDLE = 0x1e  # block type of a gap


def fabric(**more):
  """Two switches of nodes, two between them, of which the first pair has two links."""
  return {
      'stack': 'rocev2',
      'switches': [{'name': 'tor', 'count': 2}, {'name': 'spine', 'count': 2}],
      'nodes': [{'name': 'cn', 'count': 4, 'role': 'compute', 'ends': [{'to': 'tor'}]},
                {'name': 'mn', 'count': 2, 'role': 'memory', 'ends': [{'to': 'tor'}]}],
      'links': [{'between': ['tor', 'spine']}, {'between': ['tor0', 'spine0']}],
      'workload': [{'mix': {'read': 1, 'write': 1}, 'size': 1024, 'depth': 4}],
      'report': {'series': {'every': '10us'}}, **more}


def run(config, folder, *args):
  path = os.path.join(folder, 'fabric.json')
  with open(path, 'w', encoding='utf-8') as file:
    json.dump(config, file)
  process, result = EMU.result(*TIMES, *args, path)
  return process, result and result['result']


def frame_blocks(capture, interface):
  """Blocks of frames that were sent, gaps left out."""
  return sum(not (block[0] == 1 and block[1] & 0xff == IDLE) for i, _, frame in capture.frames
             if capture.interfaces[i] == interface for block in f.Head(frame).blocks)


def series_of(result):
  """Octets of all frames of a direction between switches, by the name of its interface."""
  found = {}
  for link in result['series'][0]['links']:
    if 'number' in link:
      number = f', {link["number"]}' if link['number'] else ''
      found[f'{link["from"]} to {link["to"]}{number}'] = link['frame_octets_all']
  return found


def captured():
  with tempfile.TemporaryDirectory() as folder:
    paths = [os.path.join(folder, f'{name}.pcapng') for name in ('all', 'one', 'entry', 'second')]
    process, result = run(fabric(), folder, '--capture', paths[0],
                          '--capture', f'{paths[1]},link=spine1:tor0+cn0',
                          '--capture', f'{paths[2]},link=tor:spine1,dir=up',
                          '--capture', f'{paths[3]},link=tor0:spine0:1')
    if not TAP.ok(result is not None and process.returncode == 0, 'captures: runs', why(process)):
      return
    everything, one, entry, second = (f.Pcapng(path) for path in paths)
    between = sorted(name for name in everything.interfaces if ' to ' in name)
    octets = series_of(result)
    TAP.ok(between == sorted(octets) and len(between) == 10, 'captures: all links between switches', between)
    mine = {name: BLOCK * frame_blocks(everything, name) for name in between}
    TAP.ok(mine == octets and sum(octets.values()) > 0, 'captures: the blocks of the series', (mine, octets))
    TAP.ok(one.interfaces == ['cn0 up', 'tor0 to spine1', 'cn0 down', 'spine1 to tor0']
           or sorted(one.interfaces) == ['cn0 down', 'cn0 up', 'spine1 to tor0', 'tor0 to spine1'],
           'captures: one link, from either end', one.interfaces)
    TAP.ok(sorted(entry.interfaces) == ['tor0 to spine1', 'tor1 to spine1'], 'captures: an entry, one way',
           entry.interfaces)
    TAP.ok(sorted(second.interfaces) == ['spine0 to tor0, 1', 'tor0 to spine0, 1'],
           'captures: the second of two', second.interfaces)
    for name, link, reason in (('no switch', 'tor0:nobody', "no link 'tor0:nobody' between switches"),
                               ('no link', 'tor0:tor1', "no link 'tor0:tor1' between switches"),
                               ('no such number', 'tor0:spine0:2', "no link 'tor0:spine0:2' between"),
                               ('no number', 'tor0:spine0:x', "no link 'tor0:spine0:x' between"),
                               ('twice', 'tor:spine+spine0:tor0', "'spine0:tor0' is named twice")):
      process, _ = run(fabric(), folder, '--capture', f'{paths[0]},link={link}')
      TAP.ok(process.returncode == 2 and reason in process.stderr and process.stderr.count('\n') == 1,
             f'captures: refused: {name}', why(process))


def disabled():
  """A bad link is disabled, and frames go by the other one."""
  config = fabric(links=[{'between': ['tor', 'spine'], 'disable': {'bad': 4, 'repair': '10us'}}],
                  faults=[{'class': 'sync', 'rate': 0.02, 'between': ['tor0', 'spine1'], 'from': '5us',
                           'until': '12us'}],
                  clock={'virtual': {'drain': '50ms'}})
  with tempfile.TemporaryDirectory() as folder:
    process, result = run(config, folder)
    if not TAP.ok(result is not None, 'disabled: runs', why(process)):
      return
    links = result['disabled']['links']
    TAP.ok(len(links) == 1 and links[0]['between'] == ['spine1', 'tor0'] and links[0]['number'] == 0
           and links[0]['seen_by'] in links[0]['between'] and not links[0]['disabled'],
           'disabled: the link, by its two ends', links)
    TAP.ok(result['disabled']['bad_blocks'] >= 1 and result['disabled']['repaired'] >= 1,
           'disabled: and repaired', result['disabled'])
    TAP.ok(re.search(r'link of spine1 to tor0 is disabled: bad blocks at .* seen by the (tor0|spine1)\n',
                     process.stderr), 'disabled: says so', process.stderr)
    operations = result['operations']
    TAP.ok(operations['completed_all'] + operations['failed_all'] == operations['begun_all']
           and operations['mismatches'] == 0 and operations['completed_all'] > 100,
           'disabled: operations go on',
           {key: operations[key] for key in ('begun_all', 'completed_all', 'failed_all', 'mismatches')})
    _, again = run(config, folder, '--block-by-block')
    TAP.ok(again == result, 'disabled: block by block')
    process, forever = run({**config, 'links': [{'between': ['tor', 'spine'], 'disable': 4}]}, folder)
    at = forever['series'][0]['at_ps']
    late = [octets for link in forever['series'][0]['links']
            for begin, octets in zip(at, link['frame_octets'])
            if {link['from'], link['to']} == {'tor0', 'spine1'} and begin >= 20_000_000]
    TAP.ok(forever['disabled']['links'][0]['disabled'] and late and not any(late),
           'disabled: what is not repaired carries nothing any more', (forever['disabled'], late))
    path = os.path.join(folder, 'fabric.json')
    process = EMU.run('--print-config', path)
    written = json.loads(process.stdout)
    TAP.ok([link['disable'] for link in written['links'] if 'between' in link]
           == [{'bad': 4, 'within': '125us', 'repair': '0'}], 'disabled: --print-config',
           process.stdout[-2000:])


def graphs():
  """--print-graph of files of all forms: each node, each switch, each link once."""
  root = sys.argv[2]
  for folder in ('examples', 'examples/stacks', 'examples/topologies', 'tests/fabric/good',
                 'tests/fabric/switches', 'tests/fabric/tiers'):
    for name in sorted(os.listdir(os.path.join(root, folder))):
      path = os.path.join(root, folder, name)
      written = EMU.run('--print-config', path) if name.endswith('.json') else None
      if written is None or written.returncode != 0:
        continue
      drawn, config = EMU.run('--print-graph', path).stdout.splitlines(), json.loads(written.stdout)
      drawn = [line for line in drawn if 'subgraph' not in line]  # racks: which names stand together
      nodes, switches = (sum(entry.get('count', 1) for entry in config.get(key, [{}]))
                         for key in ('nodes', 'switches'))
      lines = [line for line in drawn if ' -- ' in line]
      groups = {entry['name']: entry.get('count', 1) for entry in config.get('switches', ())}
      switches -= 'switch' not in config and 'switches' not in config  # two nodes with a link
      trunks = sum(pairs(*link['between'], groups) * link.get('count', 1)
                   for link in config['links'] if 'between' in link)
      planes = 2 if 'backup' in config else 1
      named = {name for entry in config['nodes'] for name in laws.names(entry)}
      directs = sum(set(link['between']) <= named for link in config['links'] if 'between' in link)
      nodes_ends = sum(entry.get('count', 1) * len(entry.get('ends', [{}])) for entry in config['nodes'])
      nodes_ends -= 2 * directs
      named = {entry.get('tier') for entry in config.get('switches', ())}
      if 'tiers' in config:  # a tier that "switches" does not name has one of its own
        switches = sum(entry.get('count', 1) for entry in config.get('switches', ())) + \
            sum(tier['name'] not in named and 'switch' in tier for tier in config['tiers'])
      TAP.ok(drawn[0].startswith('graph ') and drawn[-1] == '}' and len(lines) == nodes_ends * planes + trunks
             and len(drawn) == 3 + nodes + switches + planes - 1 + len(lines),
             f'{folder}/{name}: its graph', (nodes, switches, trunks, len(lines), len(drawn)))


def pairs(a, b, groups):
  """Pairs of switches that an entry joins: of one entry with itself each pair once."""
  if a == b:
    return groups[a] * (groups[a] - 1) // 2
  return groups.get(a, 1) * groups.get(b, 1)


captured()
disabled()
graphs()
TAP.done()
