# SPDX-License-Identifier: BSD-3-Clause
"""Headless Chromium, spoken to through its debugging pipe: JSON with a NUL behind, descriptors 3 and 4."""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ('chromium', 'chromium-browser', 'google-chrome')
OPTIONS = ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
           '--disable-background-networking', '--remote-debugging-pipe')
LISTENED = ('Runtime.exceptionThrown', 'Log.entryAdded', 'Runtime.consoleAPICalled')


def found():
  """The program, or None."""
  return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
  """One tab. complaints: what scripts threw and what came to the console."""

  def __init__(self, program, seconds=60):
    self.seconds, self.last, self.buffer, self.complaints, self.loaded = seconds, 0, b'', [], False
    self.profile = tempfile.TemporaryDirectory(prefix='memfab-browser-', ignore_cleanup_errors=True)
    theirs_in, self.out = os.pipe()
    self.inp, theirs_out = os.pipe()
    command = [program, *OPTIONS, f'--user-data-dir={self.profile.name}', 'about:blank']
    # The shell puts the descriptors where Chromium wants them, whatever they are here.
    moved = f'exec 3<&{theirs_in} 4>&{theirs_out}; exec "$@"'
    quiet = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
    self.process = subprocess.Popen(['/bin/sh', '-c', moved, 'sh', *command],
                                    pass_fds=(theirs_in, theirs_out), **quiet)
    os.close(theirs_in)
    os.close(theirs_out)
    self.session = None
    target = next(t for t in self.call('Target.getTargets')['targetInfos'] if t['type'] == 'page')
    self.session = self.call('Target.attachToTarget', targetId=target['targetId'], flatten=True)['sessionId']
    for domain in ('Page', 'Runtime', 'Log'):
      self.call(f'{domain}.enable')

  def call(self, method, **parameters):
    """The result of a command; what comes in between is listened to."""
    self.last += 1
    message = {'id': self.last, 'method': method, 'params': parameters}
    if self.session:
      message['sessionId'] = self.session
    os.write(self.out, json.dumps(message).encode() + b'\0')
    while True:
      answer = self.receive()
      if answer.get('id') == self.last:
        if 'error' in answer:
          raise RuntimeError(f'{method}: {answer["error"]}')
        return answer['result']

  def receive(self):
    end = time.monotonic() + self.seconds
    while b'\0' not in self.buffer:
      if not select.select([self.inp], [], [], max(0, end - time.monotonic()))[0]:
        raise TimeoutError('the browser says nothing')
      data = os.read(self.inp, 1 << 20)
      if not data:
        raise EOFError(f'the browser ended, status {self.process.wait()}')
      self.buffer += data
    text, _, self.buffer = self.buffer.partition(b'\0')
    message = json.loads(text)
    if message.get('method') in LISTENED:
      self.complaints.append(json.dumps(message['params'])[:500])
    self.loaded |= message.get('method') == 'Page.loadEventFired'
    return message

  def open(self, path, width, dark):
    """A file in a window of that width; it has been laid out when this returns."""
    scheme = [{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}]
    self.call('Emulation.setEmulatedMedia', features=scheme)
    self.call('Emulation.setDeviceMetricsOverride', width=width, height=900, deviceScaleFactor=1,
              mobile=width < 600)
    self.loaded = False
    self.call('Page.navigate', url=pathlib.Path(path).absolute().as_uri())
    while not self.loaded:
      self.receive()

  def value(self, expression):
    result = self.call('Runtime.evaluate', expression=expression, returnByValue=True)
    if 'exceptionDetails' in result:
      raise RuntimeError(f'{expression}: {result["exceptionDetails"]}')
    return result['result'].get('value')

  def picture(self, path):
    """The whole page as a PNG."""
    data = self.call('Page.captureScreenshot', format='png', captureBeyondViewport=True)['data']
    with open(path, 'wb') as file:
      file.write(base64.b64decode(data))

  def close(self):
    try:
      self.session = None
      self.call('Browser.close')
    except (OSError, EOFError, TimeoutError, RuntimeError):
      self.process.kill()
    self.process.wait()
    os.close(self.inp)
    os.close(self.out)
    self.profile.cleanup()
