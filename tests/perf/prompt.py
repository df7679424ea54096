#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The prompt of memfab-perf, out of a file and on a terminal, under both clocks. Nothing depends on speed:
what is waited for is text that has to come."""
import os
import pty
import re
import select
import signal
import sys
import tempfile
import time

from perf import LATENCY, Perf, Tap, tables, why

PROMPT = 'memfab-perf> '
PATIENCE = 300  # seconds; a busy machine


class Terminal:
  """The program on a terminal of its own."""

  def __init__(self, program, *args):
    self.pid, self.fd = pty.fork()
    if self.pid == 0:
      os.execv(program, [program, *args])
    self.text = self.cut = ''

  def read(self, seconds):
    if not select.select([self.fd], [], [], seconds)[0]:
      return True
    try:
      data = os.read(self.fd, 65536)
    except OSError:  # the other end is closed
      data = b''
    # An escape sequence may come in two pieces: its beginning waits for the rest.
    text = self.cut + data.decode(errors='replace')
    self.cut = re.search(r'(\x1b(\[[0-9;]*)?)?$', text).group()
    text = text[:len(text) - len(self.cut)]
    self.text += re.sub(r'\x1b(\[[0-9;]*)?[A-Za-z]', '', text).replace('\r', '')
    return data != b''

  def until(self, what):
    """What came up to and with this text, and is not looked at again; None: it did not come."""
    end = time.monotonic() + PATIENCE
    while what not in self.text:
      if time.monotonic() > end or not self.read(0.1):
        return None
    at = self.text.index(what) + len(what)
    found, self.text = self.text[:at], self.text[at:]
    return found

  def send(self, keys, what):
    os.write(self.fd, keys.encode())
    return self.until(what)

  def end(self):
    """Exit status; -1: it did not end."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
      self.read(0.05)
      pid, status = os.waitpid(self.pid, os.WNOHANG)
      if pid != 0:
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)
    os.kill(self.pid, signal.SIGKILL)
    os.waitpid(self.pid, 0)
    return -1


def script(perf, clock, lines, *args):
  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'commands')
    with open(path, 'w', encoding='utf-8') as file:
      file.write('\n'.join(lines) + '\n')
    process = perf.run('--cmdline-file', path, '--clock', clock, *args, perf.rack)
    return process, path


def count(text, name):
  found = re.search(rf'^{name}: (\d+)$', text, re.M)
  return int(found.group(1)) if found else -1


def out_of_a_file(tap, perf, clock):
  process, _ = script(perf, clock, [
    '# a comment', '', 'show config', 'set size 128', 'set iters 40', 'show port stats all', 'start', 'wait',
    'show port stats cn0', 'show port xstats 0', 'show sched', 'show node mn1', 'clear port xstats all',
    'show port xstats all', 'set test write_lat', 'set clients all', 'start', 'wait', 'help', 'quit',
    'nonsense'])
  out = process.stdout
  name = f'file, {clock} clock'
  if not tap.ok(process.returncode == 0 and process.stderr == '', f'{name}: sound',
                why(process) + out[-3000:]):
    return
  found = tables(out, LATENCY)
  tap.ok(len(found) == 2 and found[0][0]['#bytes'] == 128 and found[0][0]['#iterations'] == 40,
         f'{name}: the report of a test', found)
  tap.ok(found[1][0]['#iterations'] == 120, f'{name}: another test, three clients', found)
  tap.ok('nothing has run yet' in out, f'{name}: before the first test')
  tap.ok(re.search(r'^  #+ NIC statistics for port 0  #+$', out, re.M) is not None,
         f'{name}: testpmd\'s block')
  packets = int(re.search(r'RX-packets: (\d+)', out).group(1))
  tap.ok(packets >= 40, f'{name}: counters outlive the test', packets)
  parts = out.split(PROMPT)
  xstats = [p for p in parts if p.startswith('show port xstats')]
  tap.ok(count(xstats[0], 'rx_rres_chunks') >= 40 and count(xstats[0], 'tx_rreq_blocks') >= 80,
         f'{name}: direction first, unit last', xstats[0])
  tap.ok(count(xstats[0], 'rx_crc_errors') == 0, f'{name}: no errors')
  tap.ok(xstats[1].count('NIC extended statistics for port') == 5 and count(xstats[1], 'rx_rres_chunks') == 0,
         f'{name}: cleared, of all ports', xstats[1])
  tap.ok(int(re.search(r'^  grants +(\d+)$', out, re.M).group(1)) >= 40, f'{name}: the scheduler')
  tap.ok(re.search(r'^  queue_bound +[1-9]\d*$', out, re.M) is not None
         and re.search(r'^  drops\.switch\n    check +0$', out, re.M) is not None,
         f'{name}: all that the scheduler and the switch count', out)
  tap.ok('nonsense' not in out, f'{name}: quit ends it')


def frames(tap, perf):
  """A stack of frames has no scheduler."""
  example = os.path.join(perf.root, 'examples', 'stacks', 'tcp.json')
  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'commands')
    with open(path, 'w', encoding='utf-8') as file:
      file.write('set iters 40\nstart\nwait\nshow sched\nclear sched\nshow sched\n')
    process = perf.run('--cmdline-file', path, '--clock', 'virtual', example)
  parts = process.stdout.split(PROMPT + 'show sched\n')
  if not tap.ok(process.returncode == 0 and len(parts) == 3, 'a stack of frames: sound',
                why(process) + process.stdout[-3000:]):
    return
  first, second = (re.findall(r'^  (segments_sent|frames|buffer_max_octets) +(\d+)$', part, re.M)
                   for part in parts[1:])
  tap.ok(len(first) == 3 and all(int(n) > 0 for _, n in first),
         'a stack of frames: its counters and its bridge\'s', parts[1])
  tap.ok(second == [(name, n if name == 'buffer_max_octets' else '0') for name, n in first],
         'a stack of frames: cleared', parts[2])
  tap.ok('Scheduler' not in process.stdout, 'a stack of frames: no scheduler')


def direct(tap, perf):
  """Two nodes without a switch have a stack, and no more."""
  example = os.path.join(perf.root, 'examples', 'direct.json')
  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, 'commands')
    with open(path, 'w', encoding='utf-8') as file:
      file.write('set iters 40\nstart\nwait\nshow sched\nclear sched\nshow port xstats all\n')
    process = perf.run('--cmdline-file', path, '--clock', 'virtual', example)
  tap.ok(process.returncode == 0 and re.search(r'^  packets_sent +[1-9]', process.stdout, re.M) is not None
         and 'Switch' not in process.stdout, 'no switch: its stack alone',
         why(process) + process.stdout[-3000:])


def faults(tap, perf):
  for line, says in {'set size 33MiB': 'set size: 33MiB is more than 32MiB', 'bogus': 'no such command',
                     'set size': 'bad arguments', 'stop': 'stop: no test is running',
                     'show node cn7': "show node: there is no node 'cn7'",
                     'set pattern ring': 'bad arguments',
                     'set burst 4\nstart': 'start: burst: has no effect without a rate',
                     'start\nwait': 'wait: the test ends when it is stopped',
                     'start\nstart': 'start: a test is running', 'wait soon': "wait: 'soon' is not a time",
                     'set clients 9\nstart': 'start: clients: 9 clients are more than'}.items():
    process, path = script(perf, 'virtual', ['show config', *line.split('\n'), 'set size 64'])
    number = 2 + line.count('\n')
    tap.ok(process.returncode == 2 and process.stderr.count('\n') == 1
           and process.stderr.startswith(f'memfab-perf: {path}:{number}: {says}'), f'fault: {line!r}',
           why(process))
  process = perf.run('--cmdline-file', os.path.join(perf.root, 'nowhere'), '--clock', 'virtual', perf.rack)
  tap.ok(process.returncode == 2 and 'No such file' in process.stderr, 'no file of commands', why(process))
  process, _ = script(perf, 'virtual', ['start', 'wait 20ms', 'stop'], '--warmup', '1s')
  tap.ok(process.returncode == 1 and 'nothing was measured' in process.stdout, 'no samples: exit 1',
         why(process))
  process, _ = script(perf, 'virtual', ['set test mixed', 'set mix read:1,cas:1', 'set iters 50', 'start',
                                        'wait', 'set test read_lat', 'start', 'wait'])
  tap.ok(process.returncode == 0 and process.stdout.count('operations measured') == 2,
         'the mix of one test does not refuse the next one', why(process))
  process, _ = script(perf, 'virtual', ['start'], 'read_lat', '-n', '50')
  tap.ok(process.returncode == 0 and len(tables(process.stdout, LATENCY)) == 1,
         'a test that ends by itself is waited for', why(process))


def on_a_terminal(tap, perf, clock):
  name = f'terminal, {clock} clock'
  t = Terminal(perf.program, '-i', 'read_lat', '--clock', clock, perf.rack)
  tap.ok(t.until(PROMPT) is not None, f'{name}: a prompt', t.text)
  tap.ok(t.send('sh\tco\t', 'show config ') is not None, f'{name}: commands are completed', t.text)
  tap.ok(t.send('\n', PROMPT) is not None, f'{name}: and done')
  tap.ok(t.send('set size 99MiB\n', 'memfab-perf: set size: 99MiB is more than') is not None,
         f'{name}: a fault')
  t.send('set size 256\n', PROMPT)
  tap.ok(t.send('start\n', 'read_lat has been started') is not None, f'{name}: start')
  begun = 0
  for _ in range(200):  # until something was measured
    shown = t.send('show node cn\t0\n', '##\n' + PROMPT)
    begun = re.search(r'read +(\d+) measured', shown or '')
    if begun or shown is None:
      break
    time.sleep(0.05)
  tap.ok(begun is not None, f'{name}: looked at while it runs; names of nodes are completed', shown)
  tap.ok(re.search(r'^  drops\.hosts\n    check +0$', shown or '', re.M) is not None,
         f'{name}: all that a host counts', shown)
  tap.ok(t.send('stop\n', 'operations measured') is not None, f'{name}: stop', t.text)
  t.send('set iters 40\nstart\n', 'has been started')
  tap.ok(t.until(' 40 operations measured') is not None, f'{name}: a test that ends by itself reports',
         t.text)
  t.send('set until stop\n', PROMPT)
  t.send('start\n', 'has been started')
  time.sleep(0.5)
  tap.ok(t.send('\x03', 'operations measured') is not None, f'{name}: Ctrl-C ends the test', t.text)
  tap.ok(t.send('show sched\n', 'Switch statistics') is not None, f'{name}: but not the prompt', t.text)
  os.write(t.fd, b'quit\n')
  status = t.end()
  tap.ok(status == 0, f'{name}: quit', f'{status}\n{t.text}')


def signals(tap, perf, clock):
  t = Terminal(perf.program, '-i', '--clock', clock, '--stats-period', '0.2', perf.rack)
  t.until(PROMPT)
  t.send('start\n', 'has been started')
  tap.ok(t.until('NIC statistics for port 4') is not None, f'{clock} clock: --stats-period shows the ports')
  time.sleep(0.5)
  os.kill(t.pid, signal.SIGTERM)
  tap.ok(t.until('operations measured') is not None, f'{clock} clock: SIGTERM ends with the report', t.text)
  status = t.end()
  tap.ok(status == 0, f'{clock} clock: SIGTERM ends the program', f'{status}\n{t.text}')
  t = Terminal(perf.program, '-i', '--clock', clock, perf.rack)
  t.until(PROMPT)
  os.write(t.fd, b'\x04')
  tap.ok(t.end() == 0, f'{clock} clock: Ctrl-D ends the program')


def main(program, _, root):
  perf, tap = Perf(program, root), Tap()
  clocks = ['virtual']
  process = perf.run('read_lat', '-n', '10', perf.rack)
  if 'EAL' in process.stderr:
    tap.skip('the wall clock', process.stderr.strip().splitlines()[-1])
  else:
    clocks.append('wall')
  for clock in clocks:
    out_of_a_file(tap, perf, clock)
    on_a_terminal(tap, perf, clock)
    signals(tap, perf, clock)
  frames(tap, perf)
  direct(tap, perf)
  faults(tap, perf)
  tap.done()


main(*sys.argv[1:])
