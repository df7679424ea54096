# SPDX-License-Identifier: BSD-3-Clause
"""A line that says how far it is and what time is left; on a terminal only."""
import os
import sys
import time


def spoken(seconds):
  seconds = int(seconds + 0.5)
  return f'{seconds} s' if seconds < 100 else f'{seconds // 60} min {seconds % 60:02} s'


class Progress:
  """done and total are in estimated seconds of a core: what they come to here is seen as it goes."""

  def __init__(self, runs, total, out=sys.stderr):
    self.out = out if out.isatty() else None
    self.runs, self.total = runs, total
    self.finished, self.done = 0, 0.0
    self.began = time.monotonic()

  def step(self, seconds, what):
    self.finished += 1
    self.done += seconds
    if self.out:
      line = f'[{self.finished}/{self.runs}] {self.left()}  {what}'
      self.out.write(f'\r\x1b[K{line[:self.columns() - 1]}')
      self.out.flush()

  def columns(self):
    """Of the terminal, as it is now; what is behind the last one but one would wrap."""
    try:
      return os.get_terminal_size(self.out.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):
      return 80

  def left(self):
    passed = time.monotonic() - self.began
    return f'about {spoken(passed * (self.total - self.done) / self.done)} left' if self.done else ''

  def end(self):
    if self.out:
      self.out.write('\r\x1b[K')
      self.out.flush()
