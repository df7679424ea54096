#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What several processes that play one fabric measure and report: each its part, merged the whole;
memfab-perf as one of them. Skipped where EAL cannot start. Nothing depends on speed."""
import copy
import json
import os
import subprocess
import sys
import tempfile

REPORT, EMU, PERF, ROOT = sys.argv[1:]
sys.path[:0] = [os.path.join(ROOT, 'apps', 'report'), os.path.join(ROOT, 'tests', 'fabric')]

import chains
from emu import Emu, Tap, need_eal, why
from memfab_report import histogram
from processes import Group, fabric, memif, sound, write

try:
  import jsonschema
except ImportError:
  jsonschema = None

TAP, THE_EMU = Tap(), Emu(EMU, ROOT)
ROLES = {'cn': ['cn'], 'mn': ['mn'], 'sw0': ['sw0', 'scheduler']}
IN_FLIGHT = 512  # frames in the rings of a memif when a process ends


def tool(*args):
  return subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
                        check=False)


def errors(value, name='result'):
  if jsonschema is None:
    return []
  with open(os.path.join(ROOT, 'docs', f'{name}.schema.json'), encoding='utf-8') as file:
    schema = json.load(file)
  validator = jsonschema.validators.validator_for(schema)
  validator.check_schema(schema)
  return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in
          validator(schema).iter_errors(value)]


def read(path):
  with open(path, encoding='utf-8') as file:
    return json.load(file)


def save(folder, name, value):
  return write(folder, name, value)


# Each process

def own(parts):
  """What is in each, and what is not."""
  for role, part in parts.items():
    result, bad = part['result'], errors(part)
    TAP.ok(not bad, f'{role}: as the schema says', '\n'.join(bad))
    TAP.ok(result['roles'] == ROLES[role], f'{role}: says what it is', result['roles'])
    there = {'scheduler' in result, 'switch' in result, 'switch' in result['drops'], 'control' in result}
    TAP.ok(there == {role == 'sw0'}, f'{role}: {"with" if role == "sw0" else "without"} a switch',
           list(result))
    TAP.ok(('operations' in result) == (role == 'cn'), f'{role}: operations of those who ask', list(result))
    TAP.ok({end['node'] for end in result['carried']} == ({role} if role != 'sw0' else {'cn', 'mn'}),
           f'{role}: its ends', result['carried'])
  TAP.ok(len({part['result']['fingerprint'] for part in parts.values()}) == 1, 'all of one fabric')


def said(texts):
  TAP.ok('Operations' in texts['cn'] and 'Scheduler (' not in texts['cn'], 'cn: its report', texts['cn'])
  TAP.ok('Operations' not in texts['mn'] and 'Scheduler (' not in texts['mn'], 'mn: its report', texts['mn'])
  TAP.ok('Operations' not in texts['sw0'] and 'Scheduler (' in texts['sw0'], 'sw0: its report', texts['sw0'])
  for role, text in texts.items():
    TAP.ok('Links over ports' in text and 'efficiency' in text and f'{ROLES[role][0]}' in text
           and 'Traceback' not in text, f'{role}: says how its links did', text)


def counters(ends, ports):
  """Both ends of each link agree, and each port with its links."""
  by_end = {(end['node'], end['end']): end for end in ends}
  copies = {port['name']: port.get('impaired', {}).get('duplicated_frames', 0) for port in ports}
  again = 0
  for (node, end), sender in by_end.items():
    receiver, sent = by_end[node, 'node' if end == 'switch' else 'switch']['counters'], sender['counters']
    name = f'link of {node}, sent by the {end}'
    TAP.ok((sent['tx_data_frames'], sent['tx_data_blocks'])
           == (receiver['rx_data_frames'], receiver['rx_data_blocks']) and sent['tx_data_frames'] > 0,
           f'{name}: each frame once', (sent, receiver))
    replayed = sent['tx_replayed_frames']
    again += replayed
    TAP.ok(abs(sender['tx_efficiency'] * (sent['tx_data_frames'] + replayed) - sent['tx_data_frames']) < 1e-6,
           f'{name}: efficiency', sender)
    TAP.ok(replayed + sent['tx_data_frames'] + copies[sender['port']] >= receiver['rx_data_frames']
           + receiver['rx_duplicate_frames'] + receiver['rx_gap_frames'],
           f'{name}: nothing comes that was not sent', (sent, receiver))
  for port in ports:
    balance(port, [end['counters'] for end in ends if end['port'] == port['name']])
  return again


RECEIVED = ['data', 'ack', 'poll', 'nack', 'hello', 'refuse', 'bye', 'probe', 'duplicate', 'gap', 'outside',
            'no_room', 'down', 'stale', 'version', 'type', 'malformed', 'reflected']
SENT = ['data', 'replayed', 'ack', 'poll', 'nack', 'hello', 'refuse', 'bye', 'probe']
THROWN = ['rx_ethertype_frames', 'rx_short_frames', 'rx_crc_frames', 'rx_link_frames', 'rx_long_frames',
          'rx_cut_frames']


def balance(port, ends):
  """Each frame that came, or was to go, is somewhere."""
  c = port['counters']
  taken = sum(end[f'rx_{what}_frames'] for end in ends for what in RECEIVED)
  TAP.ok(c['rx_frames'] == taken + sum(c[what] for what in THROWN),
         f'port {port["name"]}: each frame that came', (c, taken))
  given = sum(end[f'tx_{what}_frames'] for end in ends for what in SENT) + c['tx_refusals']
  gone = sum(c[f'tx_{what}frames'] for what in ('', 'dropped_', 'pending_', 'no_buffer_', 'cut_'))
  if 'impaired' in port:
    harm = port['impaired']
    TAP.ok(harm['frames'] == given, f'port {port["name"]}: all go through the stage', (harm, given))
    gone += harm['dropped_frames'] + harm['held_frames'] - harm['duplicated_frames']
  TAP.ok(given == gone, f'port {port["name"]}: each frame that was to go', (c, given, gone))


def wires(ports):
  """Two ends of a memif lose nothing but what is in its rings when a process ends."""
  by_name = {port['name']: port['counters'] for port in ports}
  for node in ('cn', 'mn'):
    for sender, receiver in ((node, f'sw-{node}'), (f'sw-{node}', node)):
      left = by_name[sender]['tx_frames'] - by_name[receiver]['rx_frames']
      TAP.ok(0 <= left <= IN_FLIGHT, f'from {sender} to {receiver}: all arrive', left)


# The whole

def latencies(value):
  """All histograms that there are."""
  if isinstance(value, dict):
    if 'histogram_ps' in value:
      yield value
    for each in value.values():
      yield from latencies(each)


def whole(parts, folder):
  paths = {role: save(folder, f'{role}.part', part) for role, part in parts.items()}
  target = os.path.join(folder, 'all.json')
  process = tool(REPORT, 'merge', *paths.values(), '-o', target)
  if not TAP.ok(process.returncode == 0, 'merge: the whole', why(process)):
    return
  merged = read(target)
  result, bad = merged['result'], errors(merged)
  TAP.ok(not bad and 'roles' not in result, 'merge: as the schema says', '\n'.join(bad))
  TAP.ok(result['operations'] == parts['cn']['result']['operations'], 'merge: operations of who asks')
  TAP.ok(all(result[key] == parts['sw0']['result'][key] for key in ('scheduler', 'switch')),
         'merge: switch and scheduler of who has them')
  TAP.ok(result['drops']['hosts'].keys() == parts['mn']['result']['drops']['hosts'].keys()
         and result['links']['to_switch']['payload_octets']
         == sum(parts[role]['result']['links']['to_switch']['payload_octets'] for role in ('cn', 'mn')),
         'merge: nodes add up', result['links'])
  TAP.ok(result['series'] == [each for part in parts.values() for each in part['result']['series']]
         and len(result['series']) == 3 and sum(len(each['links']) for each in result['series']) == 4
         and sum(len(each['memories']) for each in result['series']) == 1, 'merge: the series of all')
  octets = sum(link['memory_octets_all'] for each in result['series'] for link in each['links'])
  TAP.ok(8 * result['control']['memory_blocks'] == octets, 'merge: series add up', octets)
  TAP.ok(len(result['carried']) == 4 and len(result['ports']) == 4, 'merge: both ends of each link')
  TAP.ok(all(f'link of {node}, {way}' in process.stdout for node in ('cn', 'mn') for way in ('up', 'down'))
         and ' arrived' in process.stdout, 'merge: says how the links did', process.stdout)
  two = os.path.join(folder, 'two.json')
  tool(REPORT, 'merge', paths['sw0'], paths['mn'], '-o', two)
  TAP.ok(not errors(read(two)) and read(two)['result']['roles'] == ['mn', 'sw0', 'scheduler'],
         'merge: of some it is a part again', errors(read(two)))
  tool(REPORT, 'merge', paths['cn'], two, '-o', os.path.join(folder, 'again.json'))
  again = read(os.path.join(folder, 'again.json'))['result']
  lists = dict.fromkeys(('ports', 'carried', 'series'))
  TAP.ok({**again, **lists} == {**result, **lists},
         'merge: in any order', [key for key in result if again.get(key) != result[key]])
  process = tool(REPORT, 'show', target, *paths.values(), '-o', os.path.join(folder, 'page'))
  if TAP.ok(process.returncode == 0, 'show: the whole and its parts', why(process)):
    shown = {name: open(os.path.join(folder, 'page', f'show.{name}'), encoding='utf-8').read()
             for name in ('csv', 'html')}
    with open(os.path.join(folder, 'page', 'series.csv'), encoding='utf-8') as file:
      steps = file.read()
    TAP.ok('frame_octets,cn,sw0,0,' in steps and 'read_octets,mn,' in steps
           and 'Over time' in shown['html'], 'show: series', steps[:500])
    TAP.ok('read' in shown['csv'] and 'Links over ports' in shown['html'] and 'sw-mn' in shown['html'],
           'show: latencies, and how the links did')
  refusals(parts, paths, target, folder)


def refused(what, says, *args):
  process = tool(REPORT, 'merge', *args)
  TAP.ok(process.returncode == 2 and says in process.stderr and process.stderr.count('\n') == 1, what,
         why(process))


def refusals(parts, paths, target, folder):
  out = ['-o', os.path.join(folder, 'none.json')]
  other = copy.deepcopy(parts['mn'])
  other['result']['fingerprint'] = '0123456789abcdef'
  refused('merge: of another fabric', 'another fabric', paths['cn'], save(folder, 'other', other), *out)
  refused('merge: a role twice', 'plays cn', paths['cn'], save(folder, 'same', parts['cn']), *out)
  refused('merge: a file twice', 'named twice', paths['cn'], paths['cn'], *out)
  refused('merge: what is whole', 'all roles', paths['cn'], target, *out)
  refused('merge: no result', 'no result', paths['cn'], save(folder, 'empty', {}), *out)
  refused('merge: no file', 'No such file', paths['cn'], os.path.join(folder, 'nowhere'), *out)
  TAP.ok(not os.path.exists(out[1]), 'merge: what is refused leaves nothing')


def percentiles(parts):
  """The rule of the program, from its own histograms: so what is merged goes by the same."""
  found = list(latencies(parts['cn']['result']))
  for latency in found:
    most = round(latency['max_ns'] * 1000)
    mine = {key: histogram.percentile(latency['histogram_ps'], most, ppm) / 1000
            for key, ppm in histogram.AT.items()}
    if any(abs(mine[key] - latency[key]) > 1e-6 for key in mine):
      TAP.ok(False, 'percentiles are those of the program', (mine, {key: latency[key] for key in mine}))
      return
  TAP.ok(len(found) > 4, 'percentiles are those of the program', len(found))


def run(folder, harm):
  ports, links = memif(folder, harm)
  config = fabric(ports, links)
  config['clock']['wall'].update(duration='300ms')
  config['report'] = {'series': {'every': '20ms'}}
  path, printing = write(folder, 'fabric.json', config), os.path.join(folder, 'emu')
  with open(printing, 'w', encoding='utf-8') as file:  # the second argument is the role
    file.write(f'#!/bin/sh\nexec {os.path.abspath(EMU)} "$@" >{folder}/$2.txt\n')
  os.chmod(printing, 0o755)
  group = Group(Emu(printing, ROOT), folder)
  for role in ROLES:
    group.start(role, path)
  status = group.end()
  sound(TAP, 'three processes', group, status)
  if any(code != 0 for code in status.values()):
    return None, None
  texts = {}
  for role in ROLES:
    with open(os.path.join(folder, f'{role}.txt'), encoding='utf-8') as file:
      texts[role] = file.read()
  return {role: read(os.path.join(folder, f'{role}.json')) for role in ROLES}, texts


def three():
  with tempfile.TemporaryDirectory() as folder:
    parts, texts = run(folder, {'drop': 0.02, 'duplicate': 0.02, 'corrupt': 0.02, 'reorder': 0.02})
    if parts is None:
      return
    own(parts)
    said(texts)
    percentiles(parts)
    ends, ports = ([each for part in parts.values() for each in part['result'][key]]
                   for key in ('carried', 'ports'))
    TAP.ok(counters(ends, ports) > 0, 'frames were replayed')
    wires(ports)
    whole(parts, folder)


# memfab-perf

def served(what, args, check):
  """memfab-perf as the compute node, and the others."""
  with tempfile.TemporaryDirectory() as folder:
    ports, links = memif(folder)
    config = fabric(ports, links)
    config['clock']['wall'].update(warmup='1ms', duration='1ms')  # those that serve stay nevertheless
    path, group = write(folder, 'fabric.json', config), Group(THE_EMU, folder)
    for role in ('sw0', 'mn'):
      group.start(role, path)
    process = tool(PERF, *args(folder), '--run', 'cn', path)
    if process.returncode != 0:  # nobody will tell them that it is over
      for role in group.running:
        group.kill(role)
    status = group.end()
    TAP.ok(process.returncode == 0, f'memfab-perf, {what}: sound', why(process) + process.stdout)
    TAP.ok(all(code == 0 for code in status.values()), f'memfab-perf, {what}: the others end with it',
           (status, group.said('sw0'), group.said('mn')))
    check(folder, process)


def perf():
  def one(folder, process):
    result = read(os.path.join(folder, 'perf.json'))
    bad = errors(result, 'perf')
    TAP.ok(not bad and result['runs'][0]['latencies'][0]['count'] == 30, 'memfab-perf: as the schema says',
           bad)
    TAP.ok('This process     : cn' in process.stdout, 'memfab-perf: says what it is', process.stdout)
    TAP.ok(('oversubscribed' in process.stdout) == result['runs'][0]['run']['oversubscribed'],
           'memfab-perf: oversubscribed where it is', process.stdout)

  def several(_, process):
    started = process.stdout.count('has been started')
    TAP.ok(process.stderr.count('is up') == started + 1 == 4,  # and a goodbye
           'memfab-perf: links come back with each test', process.stderr + process.stdout)
    TAP.ok(process.stdout.count('not verified: memory of other processes') == 1,
           'memfab-perf: what an earlier test wrote is not verified', process.stdout)

  def commands(folder):
    lines = [line for test in ('read_lat', 'mixed', 'atomic_lat')
             for line in (f'set test {test}', 'set iters 20', 'start', 'wait')]
    return ['--cmdline-file', write_lines(folder, lines)]

  def latency(folder):
    return ['read_lat', '-n', '30', '--out_json', os.path.join(folder, 'perf.json')]

  served('read_lat', latency, one)
  served('commands', commands, several)
  again()
  path = os.path.join(ROOT, 'examples', 'three-hosts', 'memif.json')
  process = tool(PERF, 'read_lat', '--run', 'mn0', path)
  TAP.ok(process.returncode == 2 and 'no compute node' in process.stderr, 'memfab-perf: nobody asks',
         why(process))
  process = tool(PERF, 'read_lat', '--run', 'nobody', path)
  TAP.ok(process.returncode == 2 and "'nobody' is no role" in process.stderr, 'memfab-perf: no such role',
         why(process))
  process = tool(PERF, 'read_lat', '--run', 'cn0', '--clock', 'virtual', path)
  TAP.ok(process.returncode == 2 and 'virtual clock' in process.stderr,
         'memfab-perf: no parts of a virtual clock', why(process))


def again():
  """Rings outlive the ports of a test: what is left in them is not what the next one finds."""
  with tempfile.TemporaryDirectory() as folder:
    ports = [{'name': node, 'device': f'net_ring{number}'} for number, node in enumerate(('cn', 'mn'))]
    path = write(folder, 'fabric.json', fabric(ports, {node: {'node': node, 'switch': node, 'when': 'always'}
                                                       for node in ('cn', 'mn')},
                                               clock={'wall': {'warmup': '1ms'}}))
    commands = write_lines(folder, ['set test read_bw', 'set iters 10', 'start', 'wait', 'start', 'wait',
                                    'set size 20000', 'start', 'wait', 'start', 'wait'])
    process = tool(PERF, '--cmdline-file', commands, path)
    TAP.ok(process.returncode == 0 and process.stdout.count(' 10 operations measured, 0 failed') == 4,
           'memfab-perf: test after test over rings', why(process) + process.stdout)


def write_lines(folder, lines):
  path = os.path.join(folder, 'commands')
  with open(path, 'w', encoding='utf-8') as file:
    file.write(''.join(line + '\n' for line in lines))
  return path


# Loss

def loss():
  """The table of docs/running-on-servers.md, in small: nothing is lost, and the more is dropped the more is
  replayed."""
  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'loss.json')
    program = os.path.join(ROOT, 'examples', 'three-hosts', 'loss.py')
    process = tool(program, '--emu', EMU, '--rings', '--loss', '0,5', '--warmup', '0', '--duration',
                   '300ms', '--json', path)
    if not TAP.ok(process.returncode == 0 and process.stdout.count('\n') == 3, 'loss.py', why(process)):
      return
    none, some = read(path)
  for line in none, some:
    counters(line['carried'], line['ports'])
  dropped = sum(port['impaired']['dropped_frames'] for port in some['ports'])
  TAP.ok(dropped > 0 and some['efficiency'] < min(none['efficiency'], 0.97), 'efficiency falls with loss',
         (dropped, some['efficiency'], none['efficiency']))


def chain():
  """Three switches in a row, each process with what is at its switch."""
  with tempfile.TemporaryDirectory() as folder:
    group, path = Group(THE_EMU, folder), save(folder, 'fabric.json', chains.fabric(False))
    for part in chains.RACKS:
      group.start(part, path)
    status = group.end()
    files = [os.path.join(folder, f'{part}.json') for part in chains.RACKS]
    target = os.path.join(folder, 'whole.json')
    process = tool(REPORT, 'merge', *files, '-o', target)
    if not TAP.ok(process.returncode == 0 and not any(status.values()), 'a chain: merged',
                  why(process) + group.all_said(status)):
      return
    whole, parts = read(target), [read(file) for file in files]
    TAP.ok(not errors(whole) and 'roles' not in whole['result'], 'a chain: whole, and as the schema says',
           '\n'.join(errors(whole)))
    frames = [part['result']['bridge']['counters']['frames'] for part in parts]
    TAP.ok(whole['result']['bridge']['counters']['frames'] == sum(frames) and all(frames),
           'a chain: what all switches forwarded', frames)
    lines = [line for line in process.stdout.splitlines() if line.startswith('link of ')]
    TAP.ok(len(lines) == 4 and all(' arrived' in line for line in lines) and
           any(line.startswith('link of left and middle, from left: ') for line in lines),
           'a chain: links by their switches', process.stdout)
    process = tool(REPORT, 'merge', *files[:2], '-o', target)
    TAP.ok(process.returncode == 0 and 'of cn, left, middle only' in process.stdout and
           read(target)['result']['roles'] == ['cn', 'left', 'middle'], 'a chain: without one', why(process))
    process = tool(REPORT, 'show', *files, '-o', folder)
    TAP.ok(process.returncode == 0, 'a chain: shown', why(process))


def main():
  need_eal(TAP, THE_EMU, 'parts')
  three()
  chain()
  loss()
  perf()
  TAP.done()


main()
