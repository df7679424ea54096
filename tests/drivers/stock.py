# SPDX-License-Identifier: BSD-3-Clause
"""For the tests that give drivers of this project to DPDK's own programs."""
import atexit
import glob
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

from emu import threads

WAIT = 300  # seconds that an answer may take on a busy machine
HANGS = 120  # seconds: a stock program that has nothing of ours to wait for, and takes so long, hangs


def open_to_all(path):
  """The folder on the way to a file that anybody may write to: EAL loads nothing from below it"""
  while path != '/':
    path = os.path.dirname(path)
    if os.stat(path).st_mode & stat.S_IWOTH:
      return path
  return None


TAKEN = ('/opt', '/var/lib', os.path.expanduser('~'))  # where a copy may be


def copied(driver):
  """A copy of the driver, and of the library that it looks for beside it, where EAL takes it; gone at the
  end. None: there is no such place that this user may write to"""
  for place in TAKEN:
    if not os.path.isabs(place) or not os.path.isdir(place) or open_to_all(os.path.join(place, 'driver')):
      continue
    try:
      folder = tempfile.mkdtemp(prefix='memfab-drivers-', dir=place)
    except OSError:
      continue
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what is registered is done
    for kind in ('drivers', 'lib'):
      os.mkdir(os.path.join(folder, kind))
    for library in glob.glob(os.path.join(os.path.dirname(driver), '..', 'lib', 'libmemfab.so*')):
      if os.path.isfile(library):
        shutil.copy(library, os.path.join(folder, 'lib'))
    return shutil.copy(driver, os.path.join(folder, 'drivers'))
  return None


def loadable(driver):
  """The driver where EAL takes it: itself, or a copy. Itself, too, where there is no place for one"""
  if not driver or open_to_all(os.path.realpath(driver)) is None:
    return driver
  return copied(os.path.realpath(driver)) or driver


def why_not(program, driver, left_out):
  """Why a stock program cannot be run with a driver that is loadable(), or None"""
  if left_out:
    return left_out
  if shutil.which(program) is None:
    return f'{program} is not installed'
  folder = open_to_all(os.path.realpath(driver))
  return folder and (f'EAL loads no drivers from below {folder}, which anybody may write to, and this user '
                     f'may write to none of {", ".join(TAKEN)}')


def eal(prefix, driver, vdevs, lcores='(0-1)@{cpu}', memory=512, more=()):
  """Arguments that need neither hugepages nor devices; all lcores on one CPU"""
  cpu = min(os.sched_getaffinity(0))
  args = ['--no-huge', '-m', str(memory), '--no-shconf', '--no-pci', '--file-prefix', prefix, '--lcores',
          lcores.format(cpu=cpu), '-d', driver, *more]
  for vdev in vdevs:
    args += ['--vdev', vdev]
  return args


def run_stock(args, text):
  """
  A stock program with a driver that has no loop and no thread. Once in many thousand starts dpdk-testpmd was
  seen to hang: it is started again then, once, and where it hung is told.

  @param text  what it reads
  """
  for last in (False, True):
    with subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
      try:
        out, err = process.communicate(text, timeout=HANGS)
        return subprocess.CompletedProcess(args, process.returncode, out, err)
      except subprocess.TimeoutExpired:
        where = threads(process)
        process.kill()
        out, err = process.communicate()
        print(f'# {args[0]} does not end: {where}: {(out + err)[-2000:]!r}', flush=True)
        if last:
          return subprocess.CompletedProcess(args, process.returncode, out, err)
  return None


class Testpmd:
  """dpdk-testpmd at its prompt"""

  PROMPT = 'testpmd> '
  number = 0

  def __init__(self, driver, vdevs, *options, **eal_options):
    Testpmd.number += 1
    self.prefix = f'testpmd-{os.getpid()}-{Testpmd.number}'
    args = ['stdbuf', '-o0', 'dpdk-testpmd', *eal(self.prefix, driver, vdevs, **eal_options), '--', '-i',
            '--total-num-mbufs=8192', '--no-flush-rx', *options]
    self.text = ''
    self.process = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True, errors='replace')
    self.reader = threading.Thread(target=self.read, daemon=True)
    self.reader.start()
    self.wait_for(self.PROMPT, 0)

  def read(self):
    for piece in iter(lambda: os.read(self.process.stdout.fileno(), 65536), b''):
      self.text += piece.decode(errors='replace')

  def wait_for(self, what, begin, seconds=WAIT):
    """What stands in its output from begin on, to the text that is waited for"""
    end = time.monotonic() + seconds
    while what not in self.text[begin:]:
      if time.monotonic() > end or (self.process.poll() is not None and not self.reader.is_alive()):
        raise RuntimeError(f'no "{what}" in:\n{self.text[-3000:]}\n{threads(self.process)}')
      time.sleep(0.002)
    return self.text[begin:]

  def do(self, command):
    """What a command says"""
    begin = len(self.text)
    mark = f'mark{time.monotonic_ns()}'
    self.process.stdin.write(f'{command}\n{mark}\n')
    self.process.stdin.flush()
    # It does not know the mark, and says so behind all that came before.
    end = begin + self.wait_for('Command not found', begin).index('Command not found')
    self.wait_for(self.PROMPT, end)
    return self.text[begin:end]

  def stats(self, port):
    """Counters of a port, as show port stats has them"""
    return {k: int(v) for k, v in re.findall(r'([RT]X-\w+): *(\d+)', self.do(f'show port stats {port}'))}

  def xstats(self, port):
    return {k: int(v) for k, v in re.findall(r'^(\w+): (\d+)', self.do(f'show port xstats {port}'), re.M)}

  def telemetry(self, command):
    """The answer of DPDK's own telemetry"""
    base = '/var/run' if os.getuid() == 0 else os.environ.get('XDG_RUNTIME_DIR', '/tmp')
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
      s.settimeout(10)
      s.connect(f'{base}/dpdk/{self.prefix}/dpdk_telemetry.v2')
      s.recv(1024)
      s.send(command.encode())
      answer = json.loads(s.recv(65536))
    return answer[command.split(',')[0]]

  def quit(self):
    """@return its exit code"""
    self.process.stdin.write('quit\n')
    self.process.stdin.flush()
    code = self.process.wait(WAIT)
    self.reader.join(10)
    return code

  def __enter__(self):
    return self

  def __exit__(self, *unused):
    if self.process.poll() is None:
      self.process.kill()
      self.process.wait()
