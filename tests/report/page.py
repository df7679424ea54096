#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pages in a real browser: every plot is there, nothing complains, nothing is wider than a phone."""
import os
import re
import subprocess
import sys
import tempfile

REPORT, EMU, ROOT = sys.argv[1:]
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

import browser
from emu import Emu, Tap

PHONE, DESK = 390, 1280
# Elements that reach over the right edge and are not in a box that scrolls.
WIDE = '''[...document.querySelectorAll("body *")].filter(e => !e.closest(".scroll, pre")
  && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map(e => e.outerHTML.slice(0, 80))'''
DRAWN = '''[...document.querySelectorAll("figure svg")].filter(e =>
  e.getBBox().width > 100 && e.clientHeight > 50).length'''
SMALLEST = '''Math.min(...[...document.querySelectorAll("svg text")].map(e =>
  parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.clientWidth
  / e.ownerSVGElement.viewBox.baseVal.width))'''


def looked_at(tap, tab, path, name, plots):
  for width in (PHONE, DESK):
    for dark in (False, True):
      tab.open(path, width, dark)
      what = f'{name}, {width} wide, {"dark" if dark else "light"}'
      tap.ok(tab.value('document.documentElement.scrollWidth') <= width and not tab.value(WIDE),
             f'{what}: no wider than the window', tab.value(WIDE))
      tap.ok(tab.value(DRAWN) == plots, f'{what}: {plots} plots', tab.value(DRAWN))
      tap.ok(tab.value(SMALLEST) >= 8, f'{what}: letters of plots can be read', tab.value(SMALLEST))
      ink, paper = (colour(tab.value(f'getComputedStyle(document.body).{key}'))
                    for key in ('color', 'backgroundColor'))
      tap.ok((ink > paper) is dark and abs(ink - paper) > 400, f'{what}: colours', (ink, paper))
      lines = tab.value('getComputedStyle(document.querySelector("svg text")).fill')
      tap.ok(colour(lines) == ink, f'{what}: plots have the colours of the page', lines)
  tap.ok(not tab.complaints, f'{name}: no error, nothing on the console', '\n'.join(tab.complaints))
  tap.ok(not tab.value('performance.getEntriesByType("resource").length'), f'{name}: nothing is fetched')


def colour(text):
  """Sum of red, green and blue."""
  return sum(int(n) for n in re.findall(r'\d+', text)[:3])


def pages(folder):
  """Path, name and number of plots of each kind of page."""
  emu = Emu(EMU, ROOT)
  subprocess.run([REPORT, 'figures', '--size', 'tiny', '--emu', EMU, '-o', folder], stdin=subprocess.DEVNULL,
                 capture_output=True, check=False, timeout=600)
  result = os.path.join(folder, 'result.json')
  emu.run('--clock', 'virtual', '--duration', '20us', '--json', result, emu.example('quickstart'))
  subprocess.run([REPORT, 'show', result, '-o', folder], stdin=subprocess.DEVNULL, capture_output=True,
                 check=True, timeout=600)
  for name in ('figures', 'show'):
    path = os.path.join(folder, name + '.html')
    with open(path, encoding='utf-8') as file:
      yield path, name, file.read().count('<figcaption>')


def main():
  program = browser.found()
  if not program:
    print('1..0 # SKIP there is no browser; apt-get install chromium')
    return
  tap = Tap()
  with tempfile.TemporaryDirectory() as folder:
    for path, name, plots in pages(folder):
      tap.ok(plots >= {'figures': 12, 'show': 3}[name], f'{name}: has plots', plots)
      tab = browser.Browser(program)
      try:
        looked_at(tap, tab, path, name, plots)
      finally:
        tab.close()
  tap.done()


main()
