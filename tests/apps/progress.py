#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The line that says how far a run is fits the terminal, however narrow, and when it is made narrower."""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from programs import Tap

WIDTHS = (3, 8, 12, 20, 30, 40, 45, 60, 80, 200)
CLEAR = b'\r\x1b[K'
ENOUGH = 3  # lines


class Screen:
  """A program whose standard error is a terminal of this many columns."""

  def __init__(self, command, columns):
    self.columns, self.shown = columns, b''
    self.master, end = pty.openpty()
    self.resize(columns)
    self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=end)
    os.close(end)

  def resize(self, columns):
    self.columns = columns
    fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))

  def read(self, seconds=0.1):
    if select.select([self.master], [], [], seconds)[0]:
      try:
        self.shown += os.read(self.master, 65536)
      except OSError:  # nobody has the other end
        return False
    return True

  def lines(self):
    return [line.decode() for line in self.shown.split(CLEAR)[1:]]

  def until(self, enough):
    end = time.monotonic() + 60
    while len(self.lines()) < enough and time.monotonic() < end and self.read():
      pass

  def end(self):
    self.process.send_signal(signal.SIGINT)
    while self.read(0.5) and self.process.poll() is None:
      pass
    self.process.wait(60)
    os.close(self.master)


def main(root, emu, perf, _trace, chaos, *_):
  tap = Tap()
  fabric = os.path.join(root, 'examples', 'quickstart.json')
  run = [emu, '--clock', 'virtual', '--duration', '1000s', fabric]
  screens = [Screen(run, columns) for columns in WIDTHS]
  for screen in screens:
    screen.until(ENOUGH)
  for screen in screens:
    screen.end()
    longest = max(map(len, screen.lines()), default=0)
    tap.ok(len(screen.lines()) >= ENOUGH and longest < screen.columns,
           f'{screen.columns} columns: the longest line fits', screen.lines()[:5])
    wanted = screen.columns < 8 or any('%' in line for line in screen.lines())
    tap.ok(wanted, f'{screen.columns} columns: something is said', screen.lines()[:5])
    if screen.columns >= 30:
      tap.ok(any('virtual' in line for line in screen.lines()), f'{screen.columns} columns: whose clock',
             screen.lines()[:5])
  others = {'memfab-perf': [perf, 'read_lat', '--clock', 'virtual', '-n', '100000000', fabric],
            'memfab-chaos': [chaos, '--minutes', '5', '--jobs', '1',
                             os.path.join(root, 'examples', 'chaos.json')]}
  for name, command in others.items():
    screen = Screen(command, 80)
    screen.until(1)
    screen.resize(10)
    before = len(screen.lines())
    screen.until(before + 2)
    narrow = screen.lines()[before + 1:]  # one may have been under way
    screen.end()
    tap.ok(narrow and max(map(len, narrow)) < 10, f'{name}: made narrower', screen.lines()[:8])
  tap.done()


main(os.path.abspath(sys.argv[1]), *(os.path.abspath(path) for path in sys.argv[2:]))
