# SPDX-License-Identifier: BSD-3-Clause
"""Runs of memfab-emu, as many at a time as there are cores."""
import concurrent.futures
import json
import os
import shutil
import subprocess
import tempfile
import threading

from . import store
from .failure import Failure
from .progress import Progress

NAME = 'memfab-emu'
UNSOUND = 1  # its exit status where something failed, was lost or wrong


def cores():
  return len(os.sched_getaffinity(0))


def find_emu(wanted, program):
  """The program to run: as told, or beside this one, installed or in the build folder, or on the path."""
  if wanted:
    found = shutil.which(wanted)
    if not found:
      raise Failure(f'{wanted}: no such program')
    return os.path.abspath(found)
  beside = os.path.dirname(os.path.realpath(program))
  for path in (os.path.join(beside, NAME), os.path.join(beside, '..', 'emu', NAME), shutil.which(NAME)):
    if path and os.access(path, os.X_OK):
      return os.path.abspath(path)
  raise Failure(f'{NAME} is neither beside this program nor on the path; name it with --emu')


def only_failed(result):
  """Operations failed, which a stack under too much load may let them, and nothing else is wrong."""
  operations = result.get('operations', {})
  return (operations.get('failed_all', 0) > 0 and operations.get('mismatches', 1) == 0
          and 'stages' not in result)


class Runner:
  """Keeps what it has begun, so that Ctrl-C can end it."""

  def __init__(self, emu, jobs, seconds):
    self.emu, self.jobs, self.seconds = emu, jobs, seconds
    self.lock, self.processes, self.stopping = threading.Lock(), set(), False

  def all(self, runs, keep):
    """keep(record) is called for each as it ends, by this thread. @return whether none was given up"""
    runs = sorted(runs, key=lambda run: (-run.seconds, run.id))  # long ones first: the cores end together
    progress = Progress(len(runs), sum(run.seconds for run in runs))
    with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
      waiting = {pool.submit(self.one, run): run for run in runs}
      try:
        for future in concurrent.futures.as_completed(waiting):
          keep(future.result())
          progress.step(waiting[future].seconds, waiting[future].fabric.get('name', ''))
      except KeyboardInterrupt:
        self.stop(waiting)
      except BaseException:
        self.stop(waiting)  # what cannot be kept need not be run
        raise
      finally:
        progress.end()
    return not self.stopping

  def stop(self, waiting):
    with self.lock:
      self.stopping = True
      for process in self.processes:
        process.kill()
    for future in waiting:
      future.cancel()

  def one(self, run):
    """The record of a run: its result, or in a line what went wrong."""
    record = {'id': run.id, 'fabric': run.fabric}
    with tempfile.TemporaryDirectory(prefix='memfab-report-') as folder:
      source, target = os.path.join(folder, 'fabric.json'), os.path.join(folder, 'result.json')
      with open(source, 'w', encoding='utf-8') as file:
        file.write(run.text)
      status, said = self.call([self.emu, '--clock', 'virtual', '--json', target, source])
      said = said.replace(source, 'fabric file').replace(folder, '')
      try:
        with open(target, encoding='utf-8') as file:
          both = json.load(file)
        result, how = store.pruned(both['result']), both['run']
      except (OSError, ValueError, KeyError, TypeError):
        result = None
    if status == 0 and result is None:
      return {**record, 'error': f'{NAME} wrote no result'}
    if status == 0 or status == UNSOUND and result is not None and only_failed(result):
      return {**record, 'result': result, 'run': how}
    return {**record, 'error': said}

  def call(self, command):
    """Exit status, and in a line what went wrong."""
    with self.lock:
      if self.stopping:
        return None, 'interrupted'
      try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, errors='replace',
                                   start_new_session=True)  # Ctrl-C is for this program, which ends them
      except OSError as error:
        return None, f'{command[0]}: {error.strerror}'
      self.processes.add(process)
    try:
      _, said = process.communicate(timeout=self.seconds)
    except subprocess.TimeoutExpired:
      process.kill()
      process.communicate()
      return None, f'took longer than {self.seconds:g} s'
    finally:
      with self.lock:
        self.processes.discard(process)
    if self.stopping:
      return None, 'interrupted'
    lines = said.strip().splitlines()
    return process.returncode, f'{lines[-1] if lines else NAME}: exit {process.returncode}'
