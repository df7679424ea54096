#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""memfab-trace: what it makes, that conversions keep what they say, and what it refuses."""
import json
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fabric'))
from emu import Emu, Tap, why  # noqa: E402

GOOD = '0,1,0,1,16,64,0\n1,3,1,0,4096,-1,5\n'

REFUSED = {
  'nothing': [],
  'no such command': ['make'],
  'no trace': ['info'],
  'two traces': ['info', 'GOOD', 'GOOD'],
  'no such file': ['info', 'NOWHERE'],
  'a folder': ['info', '/'],
  'unknown option': ['info', '--fast', 'GOOD'],
  'option of another command': ['info', '--seed', '1', 'GOOD'],
  'convert to nothing': ['convert', 'GOOD'],
  'convert to an unknown format': ['convert', '--to', 'csv', 'GOOD'],
  'convert messages to keys': ['convert', '--to', 'ycsb', 'GOOD'],
  'reads as flows': ['convert', '--to', 'hpcc', 'GOOD'],
  'flows of another format': ['convert', '--to', 'edm', '--reads-as-flows', 'GOOD'],
  'output into no folder': ['convert', '--to', 'memfab', '-o', 'NOWHERE/x', 'GOOD'],
  'link without a rate': ['info', '--link', 'fast', 'GOOD'],
  'gen of nothing': ['gen'],
  'gen without load': ['gen', '--nodes', '4', '--messages', '5'],
  'gen with load and rate': ['gen', '--nodes', '4', '--messages', '5', '--load', '1', '--rate', '5'],
  'gen without end': ['gen', '--nodes', '4', '--load', '1'],
  'gen of one node': ['gen', '--nodes', '1', '--load', '1', '--messages', '5'],
  'gen of an unknown distribution': ['gen', '--nodes', '4', '--load', '1', '--messages', '5', '--dist', 'x'],
  'gen of an unknown kind': ['gen', '--nodes', '4', '--load', '1', '--messages', '5', '--mix', 'peek:1'],
  'gen of a mix that names a kind twice': ['gen', '--nodes', '4', '--load', '1', '--messages', '5', '--mix',
                                           'read:1,read:2'],
  'gen of a mix in hexadecimal': ['gen', '--nodes', '4', '--load', '1', '--messages', '5', '--mix',
                                  'read:0x10'],
  'gen of a load in hexadecimal': ['gen', '--nodes', '4', '--load', '0x1', '--messages', '5'],
  'gen of a load with a blank': ['gen', '--nodes', '4', '--load', ' 1', '--messages', '5'],
  'gen of half a mix': ['gen', '--nodes', '4', '--load', '1', '--messages', '5', '--mix', 'read:1,'],
  'gen of atomics for edm': ['gen', '--nodes', '4', '--load', '1', '--messages', '5', '--mix', 'fadd:1'],
  'gen of a closed loop': ['gen', 'CLOSED'],
  'gen of a file and nodes': ['gen', '--nodes', '4', 'CLOSED'],
}


class Tool:
  """The program, in a folder of its own."""

  def __init__(self, program, folder):
    self.program = os.path.abspath(program)
    self.folder = folder

  def run(self, *args, **more):
    return subprocess.run([self.program, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          cwd=self.folder, timeout=600, check=False, **more)

  def write(self, name, text):
    with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as file:
      file.write(text)

  def read(self, name):
    with open(os.path.join(self.folder, name), encoding='utf-8') as file:
      return file.read()


def refuses(tap, tool, emu):
  for name, args in REFUSED.items():
    args = [emu.example('incast') if a == 'CLOSED' else a for a in args]
    process = tool.run(*args)
    good = process.returncode == 2 and process.stdout == '' and process.stderr.count('\n') == 1
    tap.ok(good, f'refused: {name}', why(process) + process.stdout)
  for name in ('--help', '--version'):
    process = tool.run(name)
    tap.ok(process.returncode == 0 and process.stdout and not process.stderr, name, why(process))


def complains(tap, tool):
  """With file and line, and nothing half written."""
  tool.write('bad', GOOD + '2,1,0,1,16,64,4\n')
  for args in (['info', 'bad'], ['convert', '--to', 'memfab', '-o', 'out', 'bad']):
    process = tool.run(*args)
    says = 'bad:3: time goes backwards: 2560 ps behind 3200 ps\n'
    tap.ok(process.returncode == 2 and process.stderr == says and process.stdout == '',
           f'{args[0]}: line of the fault', why(process))
  tap.ok(not os.path.exists(os.path.join(tool.folder, 'out')), 'nothing is half written')


def garbage(tap, tool):
  """Ten gigabytes of it, in 64 MiB of address space, and none of it read beyond the first line."""
  path = os.path.join(tool.folder, 'garbage')
  for name, start in {'holes': b'', 'a long line': b'0,1,0,1,16,64,0,' * 1000,
                      'a good beginning': GOOD.encode() + b'\x80'}.items():
    with open(path, 'wb') as file:
      file.write(start)
      file.truncate(10 << 30)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = tool.run('info', 'garbage')
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    tap.ok(process.returncode == 2 and process.stderr.startswith('garbage:') and seconds < 2,
           f'10 GB of garbage: {name}', why(process) + f'{seconds} s')
    tap.ok(process.stderr.count('\n') == 1, f'10 GB of garbage: {name}: one line', process.stderr)
  os.unlink(path)


def reads_of_edm(tap, tool, emu):
  """Column 5 of a read is its request, column 6 its data: in info, in gen, in a fabric, and when
  converted."""
  tool.write('read', '0,1,0,1,16,64,10\n')
  process = tool.run('info', 'read')
  tap.ok('1, 100.00 %, of 64 octets' in process.stdout, 'info: a read of EDM', process.stdout + why(process))
  process = tool.run('convert', '--to', 'memfab', 'read')
  tap.ok(process.stdout.endswith('\n6400,read,0,1,64,16\n'), 'convert: a read of EDM', process.stdout)
  process = tool.run('convert', '--to', 'hpcc', '--reads-as-flows', 'read')
  tap.ok(process.stdout == '1\n1 0 3 100 64 0.000000006400\n', 'as a flow: a read of EDM', process.stdout)
  process = tool.run('gen', '--nodes', '4', '--load', '1', '--messages', '50', '--mix', 'read:1', '--dist',
                     '300')
  tap.ok({tuple(line.split(',')[4:6]) for line in process.stdout.splitlines()} == {('16', '300')},
         'gen: a read of EDM', process.stdout[:200])
  tool.write('read.json', json.dumps({
    'nodes': [{'name': 'n', 'role': 'both', 'count': 2}], 'workload': [{'trace': 'read'}]}))
  _, both = emu.result('--clock', 'virtual', os.path.join(tool.folder, 'read.json'))
  tap.ok(both and both['result']['phases']['steady']['octets']['offered'] == 64, 'a fabric: a read of EDM',
         both and both['result']['phases'])


def exchanged(tap, tool):
  """What memfab once wrote is refused, and the command that the line names makes it good."""
  tool.write('old', '0,1,0,1,5840,8,10\n1,3,1,0,4096,-1,12\n')
  process = tool.run('info', 'old')
  tap.ok(process.returncode == 2 and process.stderr.startswith('old:1: column 5 of a read is its request'),
         'sizes exchanged: refused', why(process))
  command = process.stderr[process.stderr.index('awk'):].replace('OLD', 'old').replace('NEW', 'new')
  subprocess.run(command, shell=True, cwd=tool.folder, check=True)
  tap.ok(tool.read('new') == '0,1,0,1,8,5840,10\n1,3,1,0,4096,-1,12\n', 'sizes exchanged: made good',
         tool.read('new'))


def flow_files(tap, tool, emu):
  """As simulators ship them: read as far as the first line says, in a fabric as writes of at most 32 MiB."""
  tool.write('flow.txt',
             '2\n2 1 3 100 40000000 2\n3 1 3 100 150 2\n4 1 3 100 5 2\n\nFirst line: # of flows\n...\n')
  says = 'flow.txt: the first line says 2 flows: 3 lines after them are left out\n'
  process = tool.run('info', 'flow.txt')
  tap.ok(process.returncode == 0 and process.stderr == says
         and 'octets                 40000150\n' in process.stdout,
         'flows with an explanation: info', why(process) + process.stdout)
  process = tool.run('convert', '--to', 'memfab', 'flow.txt')
  tap.ok(process.returncode == 0 and process.stderr == says and process.stdout.splitlines()[1:] ==
         ['2000000000000,write,2,1,40000000,0', '2000000000000,write,3,1,150,0'],
         'flows with an explanation: convert', why(process) + process.stdout)
  tool.write('five', '2 \n0 1 3 4096 2.000000123\n1 0 3 64 2.5\n')
  process = tool.run('convert', '--to', 'hpcc', 'five')
  tap.ok(process.stdout == '2\n0 1 3 100 4096 2.000000123000\n1 0 3 100 64 2.500000000000\n'
         and not process.stderr,
         'flows without a port', why(process) + process.stdout)
  tool.write('flows.json', json.dumps({
    'nodes': [{'name': 'n', 'role': 'both', 'count': 4}],
    'workload': [{'trace': 'flow.txt', 'time_zero': '2s'}],
    'link': {'rate': '100G'},
    'memory': {'size': '256MiB', 'huge_pages': False},
    'clock': {'virtual': {'duration': '20ms', 'drain': '1s'}}}))
  process, both = emu.result('--clock', 'virtual', os.path.join(tool.folder, 'flows.json'))
  done = both['result']['operations'] if both else {}
  path = os.path.join(tool.folder, 'flow.txt')
  tap.ok(process.returncode == 0 and done.get('completed_all') == 3 and
         process.stderr.startswith(f'{path}: the first line says 2 flows: 3 lines after them are left out\n'
                                   f'{path}: 1 flows of more than 32 MiB are 2 writes of at most that\n'),
         'flows in a fabric', why(process))


def log_of_ycsb(tap, tool, emu):
  tool.write('log', '*** properties ***\n"recordcount"="100"\nREAD usertable user72 [ <all fields>]\n'
             f'UPDATE usertable user5 [ field1={"x" * 3000} ]\nSCAN usertable user7 3 [ <all fields>]\n')
  process = tool.run('convert', '--to', 'ycsb', 'log')
  tap.ok(process.returncode == 0 and process.stdout == '0,READ,72\n1,UPDATE,5\n2,SCAN,7,3\n' and
         process.stderr == 'log: 2 lines are no operation and are left out\n', 'a log of YCSB',
         why(process) + process.stdout)
  tool.write('log.json', json.dumps({
    'nodes': [{'name': 'c', 'role': 'compute'}, {'name': 'm', 'role': 'memory'}],
    'workload': [{'ycsb': 'trace', 'trace': 'log', 'records': 100}]}))
  process, both = emu.result('--clock', 'virtual', '--warmup', '0', os.path.join(tool.folder, 'log.json'))
  queries = both['result']['operations']['queries'] if both else {}
  tap.ok(process.returncode == 0 and queries['in_all']['begun'] == 3, 'a log of YCSB in a fabric',
         why(process) + str(queries))
  process = tool.run('convert', '--to', 'ycsb-log', 'log')
  tap.ok(process.returncode == 2 and 'format ycsb-log is only read' in process.stderr, 'a log is not written',
         why(process))


def pipes(tap, tool, emu):
  """Standard input, a named pipe and the shell's: in info, convert and a fabric, which read them twice."""
  def shell(command, **more):
    return subprocess.run(['bash', '-c', command, 'bash', tool.program, emu.program], cwd=tool.folder,
                          timeout=600,
                          capture_output=True, text=True, check=False, **more)

  tool.run('gen', '--nodes', '4', '--load', '0.5', '--messages', '20000', '-o', 'whole')
  want = tool.run('convert', '--to', 'memfab', 'whole').stdout
  for name, command in {
      'standard input': 'cat whole | $1 convert --to memfab -',
      '/dev/stdin': 'cat whole | $1 convert --to memfab /dev/stdin',
      'a file as standard input': '$1 convert --to memfab - <whole',
      'of the shell': '$1 convert --to memfab <(cat whole)',
      'by name': 'mkfifo p; (sleep 0.2; cat whole >p) & $1 convert --to memfab p'}.items():
    process = shell(command)
    tap.ok(process.stdout == want and process.returncode == 0, f'pipe, {name}: convert', process.stderr)
  process = shell('cat whole | $1 info -')
  tap.ok('messages               20000\n' in process.stdout, 'pipe: info', process.stdout + process.stderr)
  for name, command in {'garbage': 'yes hello | $1 info -', 'zeros': '$1 info /dev/zero',
                        'nothing': '$1 info - </dev/null'}.items():
    process = shell(command)
    tap.ok(process.returncode == 2 and process.stderr.count('\n') == 1, f'pipe: {name}', process.stderr)
  process = shell('$1 convert --to memfab <(cat whole)', env={**os.environ, 'TMPDIR': '/nowhere'})
  tap.ok(process.returncode == 2 and process.stderr.count('\n') == 1, 'pipe: no room for a copy',
         process.stderr)
  results = []
  for name, trace, before in (('file', 'whole', ''), ('input', '-', 'cat whole | ')):
    tool.write(f'{name}.json', json.dumps({
      'nodes': [{'name': 'n', 'role': 'both', 'count': 4}], 'workload': [{'trace': trace}]}))
    process = shell(f'{before}$2 --clock virtual --json {name}.result {name}.json')
    tap.ok(process.returncode == 0, f'a fabric, {name}', process.stderr)
    results.append(json.loads(tool.read(f'{name}.result'))['result'])
  paths = [r['config']['workload'][0].pop('trace') for r in results]
  tap.ok(results[0] == results[1] and paths[1] == '-', 'a fabric: from a pipe as from a file', paths)


SEARCH = '0 0\n10000 15\n20000 20\n30000 30\n50000 40\n80000 53\n200000 60\n1000000 70\n2000000 80\n' \
  '5000000 90\n10000000 97\n30000000 100\n'


def distributions(tap, tool, emu):
  """Files of sizes and percentages, or shares, as simulators of flows have them."""
  args = ('gen', '--nodes', '8', '--load', '0.5', '--messages', '4000', '--to', 'memfab', '--dist')
  tool.write('search.txt', SEARCH)
  tool.write('share.txt', ''.join(f'{int(size)}\t{int(share) / 100} \n' for size, share in
                                  (line.split() for line in SEARCH.splitlines())))
  process = tool.run(*args, 'search.txt')
  sizes = [int(line.split(',')[4]) for line in process.stdout.splitlines()[1:]]
  tap.ok(process.returncode == 0 and len(sizes) == 4000 and min(sizes) >= 1 and max(sizes) <= 30000000,
         'a distribution: sizes', why(process))
  for most, share in ((10000, .15), (80000, .53), (1000000, .7), (10000000, .97)):
    found = sum(size <= most for size in sizes) / 4000
    tap.ok(abs(found - share) < 4 * (share * (1 - share) / 4000) ** .5, f'a distribution: up to {most}',
           found)
  tap.ok(tool.run(*args, './share.txt').stdout == process.stdout, 'percent and shares are the same')
  tool.write('many.txt', '0 0\n' + ''.join(f'{100 * n} {n / 10}\n' for n in range(1, 1001)))
  tap.ok(tool.run(*args, 'many.txt').returncode == 0, 'a distribution of 1,001 lines')
  for name, text, says in (
      ('three', '0 0\n5 50 1\n', '2: is not a size and a percentage'),
      ('word', '0 0\nx 50\n', '2: is not a size'),
      ('hex', '0 0\n0x10 100\n', '2: is not a size'),
      ('long', '0 0\n33554433 100\n', '2: size 33554433 is more than'),
      ('back', '9 10\n8 100\n', '2: is less than the line before it'),
      ('over', '9 101\n', '1: is more than 100 percent'),
      ('part', '0 0\n9 99\n', '2: the last line is neither that of 100 percent nor of 1'),
      ('zero', '0 5\n9 100\n', '1: a size of 0 can only be'), ('empty', '', '1: there is no size'),
      ('half', '0.5 100\n', '1: the size is no whole number'),
      ('more', '1 0\n' * 1025, '1025: there are more than 1024'),
      ('line', ' ' * 300 + '5 100\n', '1: the line is too long')):
    tool.write(f'{name}.txt', text)
    process = tool.run(*args, f'{name}.txt')
    tap.ok(process.returncode == 2 and process.stderr.startswith(f'memfab-trace: {name}.txt:{says}') and
           process.stderr.count('\n') == 1, f'a bad distribution: {name}', why(process))
  tool.write('sizes.json', json.dumps({
    'nodes': [{'name': 'c', 'role': 'compute'}, {'name': 'm', 'role': 'memory'}], 'memory': {'size': '64MiB'},
    'clock': {'virtual': {'duration': '3ms', 'drain': '1s'}},
    'workload': [{'size': {'dist': 'cdf', 'file': 'search.txt'}, 'depth': 1, 'span': '32MiB'}]}))
  process, both = emu.result('--clock', 'virtual', os.path.join(tool.folder, 'sizes.json'))
  tap.ok(process.returncode == 0 and both and
         both['result']['config']['workload'][0]['size']['points'][:3] == [[0, 0], [0.15, 10000],
                                                                           [0.2, 20000]],
         'a distribution in a fabric', why(process))
  if both:
    tool.write('again.json', json.dumps(both['result']['config']))
    process, again = emu.result('--clock', 'virtual', os.path.join(tool.folder, 'again.json'))
    tap.ok(again and again['result'] == both['result'], 'its effective configuration gives it again',
           why(process))


def converts(tap, tool):
  tool.write('GOOD', GOOD)
  to = tool.run('convert', '--to', 'memfab', 'GOOD')
  tool.write('own', to.stdout)
  back = tool.run('convert', '--to', 'edm', 'own')
  tap.ok(to.returncode == 0 and back.stdout == GOOD, 'edm to memfab and back', why(to) + why(back))
  flows = tool.run('convert', '--to', 'hpcc', '--reads-as-flows', 'GOOD')
  tap.ok(flows.stdout == '2\n1 0 3 100 64 0.000000000000\n1 0 3 100 4096 0.000000003200\n',
         'reads become flows of their data', flows.stdout)
  tool.write('keys', '0,READ,user5\r\n1,SCAN,7,3\r\n')
  keys = tool.run('convert', '--to', 'ycsb', 'keys')
  tap.ok(keys.stdout == '0,READ,5\n1,SCAN,7,3\n', 'keys', keys.stdout + why(keys))


def generates(tap, tool):
  """The same for the same seed; load and mix are what was asked for."""
  args = ['gen', '--nodes', '16', '--load', '0.5', '--dist', 'spark', '--mix', 'read:1,write:3',
          '--messages', '20000', '-o']
  for seed, name in (('7', 'a'), ('7', 'b'), ('8', 'c')):
    process = tool.run(*args, name, '--seed', seed)
    tap.ok(process.returncode == 0 and process.stdout == '', f'gen, seed {seed}', why(process))
  tap.ok(tool.read('a') == tool.read('b') != tool.read('c'), 'a seed is a trace')
  process = tool.run('info', '--json', 'info.json', 'a')
  info = json.loads(tool.read('info.json'))
  kinds = info['kinds']
  tap.ok(process.returncode == 0 and info['messages'] == 20000 and info['format'] == 'edm', 'info', info)
  tap.ok(abs(kinds['read']['messages'] / 20000 - 0.25) < 0.02, 'gen: mix', kinds)
  tap.ok(sum(k['octets'] for k in kinds.values()) == info['octets'], 'info: octets', info)
  # Blocks of 256 octets payload have 34 words: what is left of a load of 0.5 is payload.
  load = info['payload_load']['to_switch']
  tap.ok(0.42 < load['mean'] < 0.5 <= load['busiest'] + 0.1, 'gen: load', load)
  split = tool.run('gen', '--nodes', '5', '--split', '--rate', '1e6', '--messages', '500', '--to', 'memfab',
                   '--mix', 'cas:1,write_ack:2', '--duration', '1ms')
  rows = [line.split(',') for line in split.stdout.splitlines()[1:]]
  tap.ok(len(rows) == 500 and all(int(r[2]) < 2 <= int(r[3]) for r in rows), 'gen: split', split.stdout[:200])
  tap.ok({r[1] for r in rows} == {'cas', 'write_ack'}, 'gen: kinds')


def runs(tap, tool, emu):
  """A fabric runs what gen has made, its path taken from the folder of the fabric file."""
  tool.run('gen', '--nodes', '8', '--load', '0.6', '--dist', '256', '--messages', '3000', '-o', 'run.csv')
  tool.write('run.json', json.dumps({
    'nodes': [{'name': 'n', 'role': 'both', 'count': 8}], 'link': {'rate': '100G'},
    'workload': [{'trace': 'run.csv'}]}))
  path = os.path.join(tool.folder, 'run.json')
  process, both = emu.result('--clock', 'virtual', path)
  done = both['result']['operations'] if both else {}
  tap.ok(process.returncode == 0 and done.get('completed_all') == 3000 and done.get('mismatches') == 0,
         'a trace under the virtual clock', why(process))
  effective = both['result']['config']
  tool.write('again.json', json.dumps(effective))
  process, again = emu.result('--clock', 'virtual', os.path.join(tool.folder, 'again.json'))
  tap.ok(again and again['result'] == both['result'], 'the effective configuration gives it again',
         why(process))
  tool.write('run.csv', tool.read('run.csv').replace(',256,', ',255,', 1))
  process = emu.run('--check', os.path.join(tool.folder, 'again.json'))
  tap.ok(process.returncode == 2 and 'digest: the trace is another one' in process.stderr,
         'another trace is noticed', why(process))
  tool.write('run.csv', tool.read('run.csv') + '3000,1,0,1\n')
  process = emu.run('--check', path)
  says = 'run.csv:3001: 4 columns, a line of format edm has 7\n'
  tap.ok(process.returncode == 2 and process.stderr.endswith(says), 'memfab-emu names the line',
         why(process))


def main(program, emu_program, root):
  tap, emu = Tap(), Emu(os.path.abspath(emu_program), root)
  with tempfile.TemporaryDirectory() as folder:
    tool = Tool(program, folder)
    tool.write('GOOD', GOOD)
    refuses(tap, tool, emu)
    complains(tap, tool)
    garbage(tap, tool)
    reads_of_edm(tap, tool, emu)
    exchanged(tap, tool)
    flow_files(tap, tool, emu)
    log_of_ycsb(tap, tool, emu)
    pipes(tap, tool, emu)
    distributions(tap, tool, emu)
    converts(tap, tool)
    generates(tap, tool)
    runs(tap, tool, emu)
  tap.done()


main(*sys.argv[1:])
