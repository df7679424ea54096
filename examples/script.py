# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts here share: each option is given once, and a result is written whole or not at all."""
import argparse
import contextlib
import json
import os
import stat
import sys


class Once(argparse.Action):
  """An option that is given twice is refused: the last one does not win silently. Nor is one empty."""

  def __call__(self, parser, namespace, values, option_string=None):
    given = namespace.__dict__.setdefault('given', set())
    if self.dest in given:
      parser.error(f'{option_string} is given twice')
    if values == '':
      parser.error(f'{option_string or self.dest} is empty')
    given.add(self.dest)
    setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
  def __init__(self, *args, **more):
    super().__init__(*args, **more)
    self.register('action', None, Once)


def same(path, other):
  with contextlib.suppress(OSError):
    return stat.S_ISREG(os.stat(path).st_mode) and os.path.samefile(path, other)
  return False


@contextlib.contextmanager
def result(path, *read):
  """
  A function that writes a value as JSON to path; it is opened before anything is run, and takes its place
  when the block ends well. None: there is no path. read: files that it must not be.
  """
  if not path:
    yield lambda value: None
    return
  for other in read:
    if same(path, other):
      sys.exit(f'--json {path}: is the same file as {other}, which is read')
  try:
    special = os.path.exists(path) and not os.path.isfile(path)
    target = path if special else os.path.realpath(path)
    beside = target if special else f'{target}.part-{os.getpid()}'
    try:
      with open(beside, 'w' if special else 'x', encoding='utf-8') as file:
        if os.path.isfile(target) and not special:
          os.fchmod(file.fileno(), os.stat(target).st_mode & 0o777)
        yield lambda value: json.dump(value, file, indent=1)
      if not special:
        os.replace(beside, target)
    except BaseException:
      if not special:
        with contextlib.suppress(OSError):
          os.unlink(beside)
      raise
  except OSError as error:
    sys.exit(f'{path}: {error.strerror}')
