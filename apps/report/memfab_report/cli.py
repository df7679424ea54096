# SPDX-License-Identifier: BSD-3-Clause
"""The command line."""
import argparse
import contextlib
import errno
import os
import re
import signal
import sys

from . import figures, make, merge, parts, plan, show
from .failure import Failure
from .runner import Runner, cores, find_emu
from .version import COMMIT, VERSION

ABOUT = 'The figures of EDM and Clio, ours beside published, and pages of any results of memfab.'
STATUS = '''exit status: 0 all is there; 1 cells are missing, they are named; 2 the command line, a file or
a folder is faulty, in one line; 130 interrupted, the page has what was measured until then'''
SECONDS = {'tiny': 60, 'quick': 200, 'full': 1800}


class Once(argparse.Action):
  """An option that is given twice is refused: the last one does not win silently. Nor is one empty."""

  def __call__(self, parser, namespace, values, option_string=None):
    given = namespace.__dict__.setdefault('given', set())
    if self.dest in given:
      parser.error(f'{option_string} is given twice, or does not go with another one')
    if values == '':
      parser.error(f'{option_string} is empty')
    given.add(self.dest)
    setattr(namespace, self.dest, self.const if self.nargs == 0 else values)


class Switch(Once):
  def __init__(self, option_strings, dest, const, **more):
    super().__init__(option_strings, dest, nargs=0, const=const, **more)


class Parser(argparse.ArgumentParser):
  """One line an error."""

  def __init__(self, *args, **more):
    super().__init__(*args, **more)
    self.register('action', None, Once)
    self.register('action', 'store', Once)
    self.register('action', 'store_const', Switch)

  def error(self, message):
    raise Failure(message)


def shard(text):
  found = re.fullmatch(r'([0-9]{1,6})/([0-9]{1,6})', text)
  if not found or not 1 <= int(found.group(1)) <= int(found.group(2)):
    raise argparse.ArgumentTypeError(f'"{text}" is not i/n with i from 1 to n')
  return int(found.group(1)), int(found.group(2))


def positive(kind):
  """Plain decimals: int() and float() take blanks, signs and underscores, too."""
  plain = {int: r'[0-9]+', float: r'[0-9]+(\.[0-9]+)?'}[kind]

  def parse(text):
    value = kind(text) if re.fullmatch(plain, text, re.ASCII) else 0
    if not 0 < value < 1e9:
      raise argparse.ArgumentTypeError(f'"{text}" is not a number above 0')
    return value
  return parse


def parser():
  top = Parser(prog='memfab-report', description=ABOUT, epilog=STATUS,
               formatter_class=argparse.RawTextHelpFormatter)
  top.add_argument('--version', action='version', version=f'memfab-report {VERSION}, commit {COMMIT}')
  commands = top.add_subparsers(dest='command', metavar='COMMAND', required=True, parser_class=Parser)

  one = commands.add_parser('figures', help='make the runs of the figures and a page of them', epilog=STATUS,
                            formatter_class=argparse.RawTextHelpFormatter)
  one.add_argument('--quick', dest='size', action='store_const', const='quick', help='within 5 minutes on '
                                                                                     'two cores')
  one.add_argument('--size', choices=figures.SIZES, help='default: full, the slowest')
  one.add_argument('-o', dest='folder', metavar='DIR', default='figures', help='where all goes (default: '
                                                                               'figures)')
  one.add_argument('--jobs', type=positive(int), metavar='N', default=cores(), help='runs at a time '
                                                                                    '(default: cores)')
  one.add_argument('--shard', type=shard, metavar='i/n', help='only the i-th of n parts; see merge')
  one.add_argument('--only', nargs='+', metavar='FIG', help=f'of {", ".join(figures.BY_KEY)};\n'
                                                                 f'all of a system: '
                                                                 f'{", ".join(figures.BY_SYSTEM)}')
  one.add_argument('--emu', metavar='FILE', help='memfab-emu (default: the one beside this program)')
  one.add_argument('--timeout', type=positive(float), metavar='S', help='of a run, in seconds of the machine')

  one = commands.add_parser('show', help='a page of results of memfab-emu or memfab-perf, side by side')
  one.add_argument('files', nargs='+', metavar='RESULT.json')
  one.add_argument('-o', dest='folder', metavar='DIR', default='report', help='where all goes (default: '
                                                                              'report)')

  one = commands.add_parser('merge', help='the page of all shards; or one result of those of several '
                                          'processes')
  one.add_argument('shards', nargs='+', metavar='DIR/SHARD | PART.json',
                   help='folders of figures --shard; or results of memfab-emu --run')
  one.add_argument('-o', dest='folder', metavar='DIR | ALL.json', required=True, help='where all goes')
  return top


def run(words, program):
  args = parser().parse_args(words)
  if args.command == 'show':
    return show.show(args.files, args.folder)
  if args.command == 'merge':
    whole = merge if os.path.isdir(args.shards[0]) else parts
    return whole.merge(args.shards, args.folder)
  size = args.size or 'full'
  runner = Runner(find_emu(args.emu, program), args.jobs, args.timeout or SECONDS[size])
  return make.figures(plan.make(size, args.only), args.folder, runner, args.shard)


def interrupt(*_):
  raise KeyboardInterrupt


def complain(text, status):
  with contextlib.suppress(OSError, ValueError, AttributeError):  # without standard error nobody is told
    print(f'memfab-report: {text}', file=sys.stderr)
  return status


def guarded(words, program):
  """What goes wrong is a line, never a traceback."""
  try:
    return run(words, program)
  except Failure as failure:
    return complain(failure, failure.status)
  except SystemExit as end:  # --help, --version
    return end.code
  except KeyboardInterrupt:
    return 130
  except MemoryError:
    return complain('no memory', 1)
  except OSError as error:
    return complain(f'{error.filename or "standard output"}: {error.strerror}', 1)


def flushed(status):
  """Standard output that takes nothing is told. It is given up then: nothing tries again at the end."""
  try:
    if sys.stdout is None:
      raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    sys.stdout.flush()
    return status
  except OSError as error:
    if sys.stdout is not None:
      os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return complain(f'standard output: {error.strerror}', 1) if status == 0 else status


def main():
  signal.signal(signal.SIGTERM, interrupt)
  if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup
    signal.signal(signal.SIGHUP, interrupt)
  if sys.stdout is not None:
    sys.stdout.reconfigure(errors='backslashreplace')
  return flushed(guarded(sys.argv[1:], sys.argv[0]))
