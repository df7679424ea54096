# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole or not at all, and none over one that is read."""
import contextlib
import itertools
import os
import stat
import sys

from .failure import Failure

NUMBER = itertools.count()


@contextlib.contextmanager
def whole(path):
  """A file for text. It takes its place when it is whole: until then, and where that fails, the old stays."""
  try:
    with standard() if path in ('-', '/dev/stdout') else placed(path) as file:
      yield file
  except OSError as error:
    raise Failure(f'{path}: {error.strerror}') from error


def opened(file):
  """What no encoding has, such as half of a surrogate pair, is told by its number."""
  return open(file, 'w', encoding='utf-8', errors='backslashreplace', newline='')


def standard():
  sys.stdout.flush()
  return opened(os.dup(sys.stdout.fileno()))


@contextlib.contextmanager
def placed(path):
  """Pipes and devices are written directly. Links are followed, the rights of an old file are kept."""
  target, old = os.path.realpath(path), None
  with contextlib.suppress(FileNotFoundError):
    old = os.stat(path)
  if old and not stat.S_ISREG(old.st_mode):
    with opened(path) as file:
      yield file
    return
  if old and not os.access(target, os.W_OK):
    raise PermissionError(0, 'Permission denied')
  beside = f'{target}.part-{os.getpid()}-{next(NUMBER)}'
  descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
  try:
    with opened(descriptor) as file:
      if old:
        keep_rights(descriptor, old)
      yield file
      file.flush()
      if old:
        os.fsync(descriptor)  # if the machine fails now, one of the two is there
    os.replace(beside, target)
  except BaseException:
    with contextlib.suppress(OSError):
      os.unlink(beside)
    raise


def keep_rights(descriptor, old):
  if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
    with contextlib.suppress(OSError):
      os.fchown(descriptor, old.st_uid, old.st_gid)
  os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)


def identity(path):
  """Which file it is, whatever it is called; None: what may be shared, or cannot be known."""
  try:
    found = os.stat(path)
  except FileNotFoundError:
    found = None
  except (OSError, ValueError):
    return None
  if found:
    shared = not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode))
    return None if shared else (found.st_dev, found.st_ino)
  real = os.path.realpath(path)
  with contextlib.suppress(OSError):
    found = os.stat(os.path.dirname(real))
    return found.st_dev, found.st_ino, os.path.basename(real)
  return None


def apart(read, written):
  """Both [(what it is on the command line, path)]. Standard output is written, too, if it is a file."""
  seen = {}
  with contextlib.suppress(OSError):
    found = os.fstat(1)
    if stat.S_ISREG(found.st_mode):
      seen[found.st_dev, found.st_ino] = 'standard output'
  for what, path in written:
    here = identity(path)
    if here in seen:
      raise Failure(f'{what} {path}: is the same file as {seen[here]}, which is written, too')
    if here:
      seen[here] = f'{what} {path}'
  for what, path in read:
    if identity(path) in seen:
      raise Failure(f'{seen[identity(path)]}: is the same file as {what} {path}, which is read')
