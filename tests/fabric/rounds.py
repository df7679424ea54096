# SPDX-License-Identifier: BSD-3-Clause
"""Tests that kill processes of a fabric, many times, over memif and over veth: their options, and rounds of
kills with a look at the result behind each."""
import argparse
import random
import time

from emu import Emu, Tap, need_eal
from parts import Folder, Group, Spaces, write

A_ROUND = 10  # kills between two looks at the result
TRIES = 4  # of a round in which the processes got no CPU for as long as it takes to think one of them dead


def options(what):
  """What all of them take; a test may add to it."""
  parser = argparse.ArgumentParser(description=what)
  parser.add_argument('emu')
  parser.add_argument('root')
  parser.add_argument('--kills', type=int)
  parser.add_argument('--over', choices=('memif', 'veth'), default='memif')
  parser.add_argument('--seed', type=int, default=int(time.time()))
  return parser


def over_each(name, args, few, test, make=Spaces):
  """Runs test(tap, emu, over, kills, spaces) over what --over says; without --kills few times over both.
  It is skipped where EAL does not start, or where veth is not to be had.
  @param make  the namespaces; memif has none: spaces is None"""
  tap, emu = Tap(), Emu(args.emu, args.root)
  need_eal(tap, emu, name)
  kills = few if args.kills is None else args.kills
  if args.kills is None or args.over == 'memif':
    test(tap, emu, 'memif', kills, None)
  if args.kills is None or args.over == 'veth':
    with make() as spaces:
      if spaces.reason:
        tap.skip('veth', spaces.reason)
      else:
        test(tap, emu, 'veth', kills, spaces)
  tap.done()


class Table:
  """A line a round, and one of all: sums, but the most of what is in ms."""

  def __init__(self, head):
    self.head, self.total = head, [0] * len(head)
    self.width = max(len(cell) for cell in head) + 1
    self.line(head)

  def line(self, cells):
    print('# ' + ' '.join(f'{cell:>{self.width}}' for cell in cells), flush=True)

  def add(self, row):
    self.line(row)
    self.total = [max(a, b) if head.endswith(' ms') else a + b
                  for head, a, b in zip(self.head, self.total, row)]

  def end(self):
    self.line(self.total)


class Rounds:
  """So many kills in rounds, over one kind of port. A test says what differs."""
  head = ()  # of the table
  quiet_first = False  # a round without kills comes first, for comparison
  patience = float('inf')  # s that processes may stand still; if it is more, what goes wrong is played again
  client = None  # whose result is judged, where play() returns those of several processes

  def __init__(self, over, spaces):
    self.over, self.spaces = over, spaces

  def config(self):
    """@return the fabric file"""
    raise NotImplementedError

  def play(self, group, path, rng, kills):
    """Starts the processes, kills some of them, ends all. @return the result; None: there is none"""
    raise NotImplementedError

  def judge(self, result, kills):
    """@return why the round was not good, or nothing"""
    raise NotImplementedError

  def row(self, result, kills):
    """@return a line of the table"""
    raise NotImplementedError

  def run(self, emu, kills, seed):
    """@return what was wrong in which round"""
    rng, number, faults, table = random.Random(seed), 0, [], Table(self.head)
    quiet = self.quiet_first
    while number < kills:
      n = 0 if quiet else min(A_ROUND, kills - number)
      quiet = False
      number += n
      for _ in range(TRIES):
        fault, again, row = self.round(emu, rng, n)
        if not fault or not again:
          break
        print(f'# {again}: again', flush=True)
      faults += [fault] if fault else []
      if row:
        table.add(row)
    table.end()
    return faults

  def round(self, emu, rng, kills):
    """@return why it was not good, or nothing; why it is no verdict on the program, or nothing; its row, or
    nothing"""
    with Folder() as folder:
      group = Group(emu, folder, self.spaces.before() if self.spaces else {})
      result = self.play(group, write(folder, 'fabric.json', self.config()), rng, kills)
      for role in group.running:
        group.kill(role)
      stood = group.stood()
      again = f'processes stood still for {stood:.3f} s' if stood > self.patience else ''
      fault, row = 'no result', None
      if result is not None and not was_read(result[self.client] if self.client else result):
        fault = again = 'no read was measured'
      elif result is not None:
        fault, row = self.judge(result, kills), self.row(result, kills)
      return (f'{fault}, stood still for {stood:.3f} s\n{group.all_said({})}' if fault else '', again, row)


def was_read(result):
  """Whether the client came to complete a read that is measured. One that got no CPU did not."""
  return result['operations']['kinds'].get('read', {'completed': 0})['completed'] > 0


def reasons(bad):
  """@param bad  a dict: what is said, and whether it is so"""
  return '; '.join(reason for reason, true in bad.items() if true)
