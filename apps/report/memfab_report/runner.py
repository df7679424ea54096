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
      error = self.call([self.emu, '--clock', 'virtual', '--json', target, source])
      if error:
        return {**record, 'error': error.replace(source, 'fabric file').replace(folder, '')}
      try:
        with open(target, encoding='utf-8') as file:
          both = json.load(file)
        return {**record, 'result': store.pruned(both['result']), 'run': both['run']}
      except (OSError, ValueError, KeyError, TypeError):
        return {**record, 'error': f'{NAME} wrote no result'}

  def call(self, command):
    """Why it went wrong, or None."""
    with self.lock:
      if self.stopping:
        return 'interrupted'
      try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, errors='replace',
                                   start_new_session=True)  # Ctrl-C is for this program, which ends them
      except OSError as error:
        return f'{command[0]}: {error.strerror}'
      self.processes.add(process)
    try:
      _, said = process.communicate(timeout=self.seconds)
    except subprocess.TimeoutExpired:
      process.kill()
      process.communicate()
      return f'took longer than {self.seconds:g} s'
    finally:
      with self.lock:
        self.processes.discard(process)
    if process.returncode == 0:
      return None
    lines = said.strip().splitlines()
    return 'interrupted' if self.stopping else f"{lines[-1] if lines else NAME}: exit {process.returncode}"
