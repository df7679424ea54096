# SPDX-License-Identifier: BSD-3-Clause
"""For the tests of memfab-perf: running it, and reading its tables."""
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'fabric'))
from emu import Emu, Tap, text_of, why  # noqa: E402,F401 (for those who import from here)

LATENCY = ['#bytes', '#iterations', 't_min[usec]', 't_max[usec]', 't_typical[usec]', 't_avg[usec]',
           't_stdev[usec]', '99% percentile[usec]', '99.9% percentile[usec]']
BANDWIDTH = ['#bytes', '#iterations', 'BW peak[MiB/sec]', 'BW average[MiB/sec]', 'MsgRate[Mpps]']
GBITS = ['#bytes', '#iterations', 'BW peak[Gb/sec]', 'BW average[Gb/sec]', 'MsgRate[Mpps]']


class Perf(Emu):
  """memfab-perf with a fabric of its own."""

  def __init__(self, program, root):
    super().__init__(program, root)
    self.rack = os.path.join(root, 'tests', 'perf', 'rack.json')

  def virtual(self, *args, file=None):
    return self.run(*args, '--clock', 'virtual', file or self.rack)

  def json(self, *args, file=None):
    """The finished process and what it wrote with --out_json, or None."""
    with tempfile.TemporaryDirectory() as folder:
      path = os.path.join(folder, 'result.json')
      process = self.virtual(*args, '--out_json', path, file=file)
      try:
        with open(path, encoding='utf-8') as stream:
          return process, json.load(stream)
      except (OSError, ValueError):
        return process, None


def tables(text, columns):
  """The rows of all tables with these columns: lists of dicts."""
  head = re.compile(r'\s*' + r'\s+'.join(re.escape(c) for c in columns) + r'\s*$')
  found, rows = [], None
  for line in text.splitlines():
    if head.match(line):
      rows = []
      found.append(rows)
    elif rows is not None:
      words = line.split()
      try:
        values = [float(w) for w in words]
      except ValueError:
        values = []
      if len(values) != len(columns):
        rows = None
      else:
        rows.append(dict(zip(columns, values)))
  return found
