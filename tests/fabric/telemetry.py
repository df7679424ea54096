#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Telemetry: every number is that of the report, and whatever is asked while a fabric runs harms nothing."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import sys

from emu import Emu, Tap, timers_ran_out
from parts import Folder, without_root
from reader import Reader, runtime_dir, WAIT

RATES = {'rate_per_s', 'goodput_gbps', 'missing', 'histogram_ps', 'tx_goodput_gbps', 'rx_goodput_gbps',
         'rates',
         'rated', 'rated_octets'}
CONNECTIONS = 10  # that DPDK serves at a time; it closes more of them
MEASURED = {'memory_blocks', 'frame_blocks', 'gap_blocks', 'payload_octets'}  # in a part of the run alone
COMMANDS = ('config', 'fabric', 'node', 'link', 'port', 'carried', 'scheduler', 'switch', 'latency',
            'watchdog', 'spaces')
PARAMETERS = ('', ',cn0', ',nobody', ',cn0,cn0', ',fabric=0', ',fabric=9', ',fabric=', ',first=1',
              ',first=-1', ',first=99999999999', ',kind=read', ',kind=queries/', ',cn0,kind=write', ',=',
              ',,,', ',%n%s', ',' + 'x' * 300, ',' + 'y=' * 60, ',\x01\x7f', ',"\\', ',é')


class Run:
  """memfab-emu with telemetry, which stays behind its report until it is told to end."""

  def __init__(self, emu, folder, config, *args):
    path = os.path.join(folder, 'fabric.json')
    with open(path, 'w', encoding='utf-8') as file:
      json.dump(config, file)
    self.json = os.path.join(folder, 'result.json')
    with open(os.path.join(folder, 'err'), 'w+', encoding='utf-8') as err:
      self.process = subprocess.Popen(
        [emu.program, '--telemetry', '--linger', f'{WAIT}s', '--json', self.json, *args, path],
        stdout=subprocess.DEVNULL, stderr=err)
    self.err = os.path.join(folder, 'err')
    self.prefix = None

  def said(self):
    with open(self.err, encoding='utf-8') as file:
      return file.read()

  def reader(self):
    """Once it has said how it is to be asked, and has a fabric."""
    end, reader = time.monotonic() + WAIT, None
    while time.monotonic() < end and self.process.poll() is None:
      found = re.search(r'dpdk-telemetry\.py -f (\S+)', self.said())
      if found and reader is None:
        self.prefix = found[1]
        reader = Reader(self.prefix)
      if reader is not None and reader.get('list'):
        return reader
      time.sleep(0.02)
    return None

  def result(self):
    """When it is written; the fabric is there still."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end and self.process.poll() is None:
      try:
        with open(self.json, encoding='utf-8') as file:
          return json.load(file)['result']
      except (FileNotFoundError, ValueError):
        time.sleep(0.05)
    return None

  def end(self):
    self.process.send_signal(signal.SIGINT)
    try:
      return self.process.wait(WAIT)
    except subprocess.TimeoutExpired:
      self.process.kill()
      return self.process.wait()


def name_of(key):
  return re.sub('[^A-Za-z0-9_/]', '_', key)


def unlike(tel, report, path=''):
  """Where telemetry differs from the report, of whose objects it has all but rates."""
  if isinstance(report, dict) and isinstance(tel, dict):
    for key, value in report.items():
      if key not in RATES:
        yield from unlike(tel.get(name_of(key)), value, f'{path}/{key}')
    return
  if isinstance(report, float):
    tel = float(tel) if isinstance(tel, str) else tel
  if tel != report:
    yield f'{path}: {str(tel)[:60]}, report {str(report)[:60]}'


def same(tap, what, pairs):
  wrong = [line for where, tel, report in pairs for line in unlike(tel, report, where)]
  tap.ok(not wrong, what, '\n'.join(wrong[:20]))


def wide_low(value):
  """The quarter of a power of two that a bucket of the report is part of."""
  shift = max(0, value.bit_length() - 3)
  return value >> shift << shift


def folded(hist):
  wide = {}
  for low, count in hist:
    wide[wide_low(low)] = wide.get(wide_low(low), 0) + count
  return wide


def same_buckets(tap, reader, operations):
  wrong = []
  for kind, of in operations['kinds'].items():
    for what, hist in ((k, v) for k, v in of.items() if isinstance(v, dict)):
      tel = reader.get('latency', f'kind={kind}')[what]
      got = dict(zip(tel['bucket_from_ps'], tel['bucket_count']))
      if got != folded(hist['histogram_ps']):
        wrong.append(f'{kind} {what}: {got}')
  tap.ok(not wrong, 'buckets are those of the report', '\n'.join(wrong))


def times(of):
  """Of the report's kinds what telemetry tells as latencies."""
  return {kind: {k: v for k, v in values.items() if isinstance(v, dict)} for kind, values in of.items()}


def counts(operations):
  out = {k: v for k, v in operations.items() if k not in ('kinds', 'queries')}
  out['kinds'] = {kind: {k: v for k, v in values.items() if not isinstance(v, dict)}
                  for kind, values in operations['kinds'].items()}
  return out


def same_whole(tap, what, reader, result):
  tel = reader.get('fabric')
  frames = {k: v for k, v in result['frames'].items() if k != 'latency'}
  pairs = [('operations', tel['operations'], counts(result['operations'])), ('frames', tel['frames'], frames),
           ('drops', tel['drops'], result['drops']),
           ('latency', reader.get('latency')['kinds'], times(result['operations']['kinds']))]
  if 'scheduler' in result:
    pairs += [('scheduler', reader.get('scheduler'), result['scheduler']),
              ('switch', reader.get('switch'), {**result['switch'], 'drops': result['drops']['switch']})]
  else:
    pairs += [('bridge', reader.get('switch'), result['bridge'])]
  if 'watchdog' in result:
    pairs.append(('watchdog', reader.get('watchdog'), result['watchdog']))
  same(tap, f'{what}: the fabric\'s numbers are those of the report', pairs)
  tap.ok(tel['state'] == 'over', f'{what}: it is known to be over', tel)


def add_up(many):
  """Numbers of several objects alike: maxima by their names, sums else."""
  out = {}
  for one in many:
    for key, value in one.items():
      if isinstance(value, dict):
        out[key] = add_up([out.get(key, {}), value])
      elif isinstance(value, int):
        old = out.get(key, 0)
        out[key] = max(old, value) if key.endswith('_max') or key == 'last_done_ps' else old + value
  return out


def same_parts(tap, what, reader, result):
  """Nodes and links add up to what the report says of all."""
  names = reader.get('node')['names']
  nodes = add_up([reader.get('node', name) for name in names])
  links = add_up([reader.get('link', name) for name in reader.get('link')['names']])
  pairs = [('operations', nodes['operations'], counts(result['operations'])),
           ('drops', nodes['drops'], result['drops']['hosts'])]
  for way in ('to_switch', 'from_switch'):
    whole_run = {k: v for k, v in result['links'][way].items() if k not in MEASURED and isinstance(v, int)}
    pairs.append((way, links[way]['sent'], whole_run))
  bad = links['to_switch']['received']['bad_blocks'] + links['from_switch']['received']['bad_blocks']
  pairs.append(('bad_blocks', bad, result['drops']['pcs']['bad_blocks']))
  blocks = links['to_switch']['sent']['memory_blocks'] + links['from_switch']['sent']['memory_blocks']
  pairs.append(('control/memory_blocks', blocks, result['control']['memory_blocks']))
  if 'stack' in result:
    for key, value in add_up([reader.get('node', name)['stack']['counters'] for name in names]).items():
      if '_max' not in key:
        pairs.append((f'stack/{key}', value, result['stack']['counters'][key]))
  same(tap, f'{what}: nodes and links add up to the report', pairs)


def same_ports(tap, what, reader, result):
  pairs = [(f'port {port["name"]}', reader.get('port', port['name']), port) for port in result['ports']]
  pairs += [(f'{end["node"]} {end["end"]}', reader.get('carried', end['node'])[end['end']], end)
            for end in result['carried']]
  same(tap, f'{what}: ports and links over them are as in the report', pairs)
  names = [port['name'] for port in result['ports']]
  tap.ok(reader.get('port')['names'] == names and pairs, f'{what}: they are listed', reader.get('port'))


def with_tool(tap, run):
  """The program that DPDK brings says the same."""
  tool = shutil.which('dpdk-telemetry.py')
  if tool is None:
    tap.skip('dpdk-telemetry.py', 'it is not installed')
    return
  asked = ('/memfab/list', '/memfab/scheduler', '/memfab/node,cn0')
  process = subprocess.run([tool, '-f', run.prefix], input='\n'.join(asked) + '\n', capture_output=True,
                           text=True, timeout=WAIT, check=False)
  reader = Reader(run.prefix)
  want = [reader.ask(text) for text in asked]
  reader.close()
  try:
    got = [json.loads(line) for line in process.stdout.splitlines()]
  except ValueError:
    got = None
  tap.ok(got == want, 'dpdk-telemetry.py says the same', process.stdout[:2000] + process.stderr[-500:])


class Crowd:
  """Many that ask for anything at the same time, garbage among it."""

  def __init__(self, prefix, many, seed):
    self.over = threading.Event()
    self.failures, self.asked, self.errors = [], 0, 0
    self.threads = [threading.Thread(target=self.ask, args=(prefix, random.Random(seed + n)))
                    for n in range(many)]
    for thread in self.threads:
      thread.start()

  def ask(self, prefix, rng):
    try:
      reader = Reader(prefix)
      while not self.over.is_set():
        command = f'/memfab/{rng.choice(COMMANDS)}'
        got = reader.ask(command + rng.choice(PARAMETERS))
        self.asked += 1
        self.errors += 'error' in got[command]
        if not isinstance(got[command], dict) or not got[command]:
          self.failures.append(f'{command}: {got}')
        time.sleep(rng.random() * 0.02)
      reader.close()
    except (OSError, ValueError, KeyError) as error:
      self.failures.append(repr(error))

  def until(self, asked):
    end = time.monotonic() + WAIT
    while time.monotonic() < end and self.asked < asked and not self.failures:
      time.sleep(0.05)

  def end(self):
    self.over.set()
    for thread in self.threads:
      thread.join(WAIT)


def fabric(**more):
  return {'nodes': [{'name': 'cn', 'role': 'compute', 'count': 2},
                    {'name': 'mn', 'role': 'memory', 'count': 2}],
          'clock': {'wall': {'warmup': '0', 'duration': '1s', 'drain': '60s'}},
          'workload': [{'mix': {'read': 4, 'write': 2, 'write_ack': 1, 'cas': 1}, 'verify': True}],
          'ethernet': [{'from': '*', 'to': '*', 'size': 1500, 'load': 0.0005}], **more}


def loaded(tap, emu, seed):
  """As many at once as DPDK serves, without end, while the fabric runs; then all is compared."""
  with tempfile.TemporaryDirectory() as folder:
    run = Run(emu, folder, fabric())
    reader = run.reader()
    if reader is None:
      if 'cannot start DPDK' in run.said():
        tap.skip('telemetry', run.said())
      else:
        tap.ok(False, 'telemetry is there', run.said())
      return False
    crowd = Crowd(run.prefix, CONNECTIONS - 1, seed)
    result = run.result()
    crowd.until(300)
    crowd.end()
    tap.ok(crowd.asked >= 300 and crowd.errors > 0 and not crowd.failures,
           f'{crowd.asked} questions under load, all answered', crowd.failures[:5])
    if tap.ok(result is not None, 'the run ends, and its counters stay', run.said()):
      same_whole(tap, 'loaded', reader, result)
      same_parts(tap, 'loaded', reader, result)
      same_buckets(tap, reader, result['operations'])
      with_tool(tap, run)
      file = os.path.join(folder, 'fabric.json')
      same(tap, 'the file is known', [('', reader.get('config')['file'], file)])
    folder_of_eal = runtime_dir(run.prefix)
    reader.close()
    tap.ok(run.end() == 0 or timers_ran_out(run.said(), result), 'the run was sound', run.said())
    tap.ok(not os.path.exists(folder_of_eal), 'nothing is left behind', folder_of_eal)
  return True


def rings(tap, emu):
  """Links that go over ports, within the process."""
  links = {node: {'node': node, 'switch': node, 'when': 'always'} for node in ('cn', 'mn')}
  config = fabric(
    nodes=[{'name': 'cn', 'role': 'compute'}, {'name': 'mn', 'role': 'memory'}],
    ports=[{'name': 'cn', 'device': 'net_ring0'},
           {'name': 'mn', 'device': 'net_ring1', 'impair': {'drop': 0.01, 'corrupt': 0.01}}],
    links=[{'node': node, 'carried': carried} for node, carried in links.items()])
  with tempfile.TemporaryDirectory() as folder:
    run = Run(emu, folder, config)
    reader = run.reader()
    if tap.ok(reader is not None, 'rings: it can be asked', run.said()):
      crowd = Crowd(run.prefix, 4, 1)
      result = run.result()
      crowd.end()
      tap.ok(not crowd.failures, 'rings: asked under load', crowd.failures[:5])
      if tap.ok(result is not None, 'rings: it ends', run.said()):
        same_whole(tap, 'rings', reader, result)
        same_ports(tap, 'rings', reader, result)
      reader.close()
    run.end()


def all_spaces(reader, node):
  """By as many replies as it takes. @return by name, and how many there are said to be"""
  spaces, total = {}, 1
  while len(spaces) < total:
    reply = reader.get('spaces', node, f'first={len(spaces)}')
    if not reply.get('spaces'):
      return spaces, None
    spaces |= reply['spaces']
    total = reply['total']
  return spaces, total


def address_spaces(tap, emu):
  """Those of a memory node together are its memory, in the report."""
  config = fabric(nodes=[{'name': 'cn', 'role': 'compute', 'count': 2},
                         {'name': 'mn', 'role': 'memory',
                          'memory': {'type': 'virtual', 'size': '16MiB', 'pages': '4KiB'}}],
                  workload=[{'mix': {'read': 3, 'write_ack': 1}, 'spaces': 60, 'pages': 4, 'depth': 4,
                             'operations': 2000}])
  config.pop('ethernet', None)
  config['clock']['wall'] |= {'duration': '100s'}
  with tempfile.TemporaryDirectory() as folder:
    run = Run(emu, folder, config)
    reader = run.reader()
    if tap.ok(reader is not None, 'spaces: it can be asked', run.said()):
      result = run.result()
      if tap.ok(result is not None, 'spaces: it ends', run.said()):
        memory = result['memory']['mn']
        tap.ok(reader.get('spaces')['names'] == ['mn'], 'spaces: of one node', reader.get('spaces'))
        spaces, total = all_spaces(reader, 'mn')
        tap.ok(len(spaces) == total == memory['spaces'] == 120 and
               {name.split('/')[0] for name in spaces} == {'cn0', 'cn1'}, 'spaces: all are there', spaces)
        sums = {key: sum(space[key] for space in spaces.values())
                for key in ('hits', 'faults', 'refused', 'entries', 'pages')}
        tap.ok(sums == {'hits': memory['hits'], 'faults': memory['faults'], 'refused': 0,
                        'entries': memory['entries'], 'pages': memory['faults']},
               'spaces: together they are the memory', (sums, memory))
        hot = sum(samples for space in spaces.values() for samples in space['hot'].values())
        tap.ok(0 < hot <= 1024 and all(len(space['hot']) <= 3 for space in spaces.values()),
               'spaces: some pages are hot', hot)
        tap.ok('error' in reader.get('spaces', 'cn0'), 'spaces: a compute node has none')
      reader.close()
    run.end()


def other_stack(tap, emu):
  """A stack above the MAC: its counters, and its bridge's."""
  with tempfile.TemporaryDirectory() as folder:
    config = fabric(stack='ethernet')
    del config['ethernet']
    run = Run(emu, folder, config)
    reader = run.reader()
    if tap.ok(reader is not None, 'stack: it can be asked', run.said()):
      result = run.result()
      if tap.ok(result is not None, 'stack: it ends', run.said()):
        same_whole(tap, 'stack', reader, result)
        same_parts(tap, 'stack', reader, result)
        tap.ok('error' in reader.get('scheduler'), 'stack: there is no scheduler')
      reader.close()
    run.end()


def between(tap, emu):
  """Links between switches, named by their two ends."""
  config = fabric(stack='rocev2', switches=[{'name': 'tor', 'count': 2}, {'name': 'spine'}],
                  nodes=[{'name': 'cn', 'role': 'compute', 'count': 2, 'ends': [{'to': 'tor'}]},
                         {'name': 'mn', 'role': 'memory', 'count': 2, 'ends': [{'to': 'tor'}]}],
                  ports=[{'name': 'a', 'device': 'net_ring0'}],
                  links=[{'node': '*'}, {'between': ['tor0', 'spine'], 'count': 2},
                         {'between': ['tor1', 'spine'],
                          'carried': {'between': ['a', 'a'], 'when': 'always'}}],
                  workload=[{'mix': {'read': 1, 'write': 1}}])
  del config['ethernet']
  with tempfile.TemporaryDirectory() as folder:
    run = Run(emu, folder, config)
    reader = run.reader()
    if tap.ok(reader is not None, 'switches: it can be asked', run.said()):
      result = run.result()
      if tap.ok(result is not None, 'switches: it ends', run.said()):
        names = [name for name in reader.get('link')['names'] if ':' in name]
        tap.ok(sorted(names) == ['spine:tor0:0', 'spine:tor0:1', 'spine:tor1'], 'switches: their links',
               names)
        links = [reader.get('link', name) for name in names]
        ways = [link[way] for link in links for way in ('from_first', 'from_second')]
        blocks = [(way['sent']['frame_blocks'], way['received']['frame_blocks']) for way in ways]
        tap.ok(all(sent == received for sent, received in blocks) and sum(sent for sent, _ in blocks) > 0,
               'switches: all that was sent was received', blocks)
        turned, other = reader.get('link', 'tor1:spine'), links[names.index('spine:tor1')]
        tap.ok(turned['from_first'] == other['from_second'], 'switches: either order', turned)
        tap.ok('error' in reader.get('link', 'tor0:tor1') and 'error' in reader.get('link', 'tor0:spine:2'),
               'switches: no such link')
        tap.ok(reader.get('carried')['names'] == ['spine:tor1'], 'switches: carried', reader.get('carried'))
        ends = reader.get('carried', 'tor1:spine')
        tap.ok(sorted(ends) == ['spine', 'tor1'] and ends['tor1']['counters']['tx_data_frames'] ==
               ends['spine']['counters']['rx_data_frames'] > 0, 'switches: both ends of a carried link', ends)
        tap.ok(reader.get('config')['switches'] == 3, 'switches: how many there are', reader.get('config'))
      reader.close()
    run.end()


def many_nodes(tap, emu):
  """More names than a reply has room for."""
  config = fabric(nodes=[{'name': 'compute-node-with-a-name', 'role': 'compute', 'count': 2},
                         {'name': 'memory-node-with-a-long-name', 'role': 'memory', 'count': 510}],
                  clock={'wall': {'warmup': '0', 'duration': '100ms', 'drain': '60s'}})
  del config['ethernet']
  with tempfile.TemporaryDirectory() as folder:
    run = Run(emu, folder, config)
    reader = run.reader()
    if tap.ok(reader is not None, 'many: it can be asked', run.said()):
      names, total = [], 1
      while len(names) < total:
        got = reader.get('node', f'first={len(names)}')
        total = got['total']
        if not tap.ok(got['names'] and got['first'] == len(names), f'many: names from {len(names)} on', got):
          break
        names += got['names']
      tap.ok(len(set(names)) == 512, 'many: all names', len(names))
      reader.close()
    run.end()


def usage(tap, emu):
  for args, what in (
    (('--telemetry', '--clock', 'virtual'), '--telemetry needs'),
    (('--telemetry', '--check'), '--telemetry needs'),
    (('--linger', '1s'), '--linger has no effect'), (('--telemetry', '--linger', 'x'), '--linger')):
    process = emu.run(*args, emu.example('quickstart'))
    tap.ok(process.returncode == 2 and what in process.stderr, f'{" ".join(args)} is refused', process.stderr)
  process = emu.run('--no-huge', '--', '--telemetry', emu.example('quickstart'))
  tap.ok(process.returncode == 2, 'EAL options say themselves whether there is telemetry', process.stderr)


def absent(tap, emu):
  """Where its socket cannot be, the run ends before it has begun, with the reason; nothing else is harmed."""
  short = ('--telemetry', '--duration', '50ms', emu.example('quickstart'))

  def none(what, before, why, directory=None, variable='RUNTIME_DIRECTORY'):
    env = os.environ | ({variable: directory} if directory else {})
    process = subprocess.run([*before, emu.program, *short], env=env, stdin=subprocess.DEVNULL,
                             capture_output=True,
                             text=True, timeout=WAIT, check=False)
    lines = process.stderr.splitlines()
    tap.ok(process.returncode == 1 and len(lines) == 1 and '--telemetry: ' in lines[0] and why in lines[0],
           f'no telemetry: {what}', f'exit {process.returncode}: {process.stderr}')

  none('no folder', [], 'folder /nonexistent/dpdk of its socket: No such file', '/nonexistent')
  with Folder() as folder:
    nobody = without_root()
    if nobody:
      closed = os.path.join(folder, 'closed')
      os.mkdir(closed, 0o700)
      none('the folder of another user', nobody, 'Permission denied', closed, 'XDG_RUNTIME_DIR')
    else:
      tap.skip('no telemetry: the folder of another user', 'needs root and setpriv')
    long = os.path.join(folder, 'x' * 80)
    os.mkdir(long)
    none('a long path', [], 'characters, at most 107', long)
    precious = f'{folder}/dpdk/memfab-$$'
    made = ['sh', '-c', f'mkdir -p {precious} && echo precious >{precious}/dpdk_telemetry.v2 && exec "$@"',
            'sh']
    none('something else is there', made, 'a regular file is there, and not a socket', folder)
    kept = [os.path.join(path, name) for path, _, names in os.walk(os.path.join(folder, 'dpdk'))
            for name in names]
    tap.ok(len(kept) == 1 and os.stat(kept[0]).st_size == len('precious\n'), 'and it stays', kept)
  mount = ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs -o ro none /run && exec "$@"', 'sh']
  if os.getuid() == 0 and subprocess.run([*mount, 'true'], capture_output=True, check=False).returncode == 0:
    none('a read-only /run', mount, 'Read-only file system')
  else:
    tap.skip('no telemetry: a read-only /run', 'needs root and unshare')


def main():
  tap, emu = Tap(), Emu(sys.argv[1], sys.argv[2])
  seed = random.randrange(1 << 32)
  print(f'# seed {seed}', flush=True)
  usage(tap, emu)
  absent(tap, emu)
  if loaded(tap, emu, seed):
    rings(tap, emu)
    address_spaces(tap, emu)
    other_stack(tap, emu)
    between(tap, emu)
    many_nodes(tap, emu)
  tap.done()


main()
