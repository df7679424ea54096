# SPDX-License-Identifier: BSD-3-Clause
"""For the tests of what all programs have in common: starting them, and what their --help says of options."""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'fabric'))
from emu import Tap, why  # noqa: E402, F401

OPTION = re.compile(r'^ +(?:-(?P<letter>\w), )?--(?P<name>[\w-]+)(?: (?P<argument>\S+))?')


class Program:
  """A program, by its path. words: what stands before options."""

  def __init__(self, path):
    self.path = os.path.abspath(path)
    self.name = os.path.basename(path)

  def run(self, *args, timeout=600, **more):
    """The finished process; its output is text."""
    more = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, **more}
    return subprocess.run([self.path, *args], text=True, errors='replace', timeout=timeout, check=False,
                          **more)

  def options(self):
    """{name: (letter or None, what its argument is called or None)}, but for those that end the program."""
    found = {}
    for line in self.run('--help').stdout.splitlines():
      match = OPTION.match(line)
      if match and match['name'] not in ('help', 'version'):
        found.setdefault(match['name'], (match['letter'], match['argument']))
    return found


def refused(process, *words):
  """Exit 2, nothing on standard output, one line that has these words."""
  return (process.returncode == 2 and process.stdout == '' and process.stderr.count('\n') == 1
          and all(word in process.stderr for word in words))
