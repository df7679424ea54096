# SPDX-License-Identifier: BSD-3-Clause
"""Plots by matplotlib as SVG that stands in a page: its colours are the page's, light or dark."""
import io
import re
from html import escape

from .failure import Failure
from .stacks import title

WIDTH, HEIGHT, WIDE = 5.6, 3.7, 6.8  # inches; at the width of a phone its letters are still to be read
# Stand-ins that the page's style sheet gives a colour: see style.css.
INK, FAINT, PAPER = '#010203', '#010204', '#010205'
SERIES = tuple(f'#0102{0x10 + i:02x}' for i in range(10))
STACKS = ('edm', 'ird', 'pfabric', 'pfc', 'dctcp', 'cxl', 'fastpass', 'ethernet', 'rocev2', 'tcp')
STYLES = dict(zip(STACKS, zip(SERIES, 'os^vDPX<>d')))  # colour, marker
STYLES['edm, fcfs'] = STYLES['ethernet']  # never in one plot
STYLES['edm, letter'] = STYLES['rocev2']
VARIABLES = {INK: 'var(--ink)', FAINT: 'var(--faint)', PAPER: 'var(--paper)',
             **{colour: f'var(--series{i})' for i, colour in enumerate(SERIES)}}
MISSING = 'matplotlib is missing: apt-get install python3-matplotlib'


def library():
  """matplotlib.pyplot, set up; a Failure that says what to install where there is none."""
  try:
    import matplotlib
  except ImportError as error:
    raise Failure(MISSING) from error
  matplotlib.use('svg')
  from matplotlib import pyplot
  pyplot.rcParams.update({
      'svg.fonttype': 'none', 'font.size': 12, 'axes.labelsize': 12, 'legend.fontsize': 11,
      'text.color': INK, 'axes.edgecolor': INK, 'axes.labelcolor': INK,
      'xtick.color': INK, 'ytick.color': INK,
      'axes.spines.top': False, 'axes.spines.right': False, 'axes.grid': True, 'grid.color': FAINT,
      'axes.axisbelow': True, 'figure.facecolor': 'none', 'axes.facecolor': 'none', 'legend.frameon': False,
      'lines.linewidth': 1.8, 'lines.markersize': 5.5})
  return pyplot


def style(series, index=0):
  """Colour and marker of a stack; of anything else by its number."""
  return STYLES.get(series) or list(STYLES.values())[index % len(STYLES)]


def axes(width=WIDTH, height=HEIGHT):
  figure, area = library().subplots(figsize=(width, height))
  area.grid(axis='x', visible=False)
  return figure, area


def spoken(value, _=None):
  """1000000 as 1M."""
  for unit, letter in ((1e9, 'G'), (1e6, 'M'), (1e3, 'k')):
    if value >= unit:
      return f'{value / unit:g}{letter}'
  return f'{value:g}'


def plain(axis):
  """A logarithmic axis with 1, 2, 5, 10 as they are, not as powers; over many decades 1, 10, 100."""
  from matplotlib import ticker
  low, high = axis.get_view_interval()
  axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if high < 300 * low else (1,)))
  axis.set_major_formatter(ticker.FuncFormatter(spoken))
  axis.set_minor_formatter(ticker.NullFormatter())


def logarithmic(area):
  """Values of 1 and more."""
  area.set_yscale('log')
  low, high = area.get_ylim()
  area.set_ylim(min(0.95, low), high * 1.1)
  plain(area.yaxis)


def legend(area, columns=4):
  """Below the axes, where it hides nothing."""
  if area.get_legend_handles_labels()[0]:
    area.legend(loc='upper center', bbox_to_anchor=(0.5, -0.17), ncols=columns, columnspacing=1.2,
                handletextpad=0.4)


def svg(figure, key, label):
  """The drawing as an element of a page. key: its ids begin with it, so that several drawings get along."""
  pyplot = library()
  pyplot.rcParams['svg.hashsalt'] = key
  drawn = io.StringIO()
  figure.savefig(drawn, format='svg', bbox_inches='tight', metadata={'Date': None, 'Creator': None})
  pyplot.close(figure)
  return embedded(drawn.getvalue(), key, label)


def embedded(text, key, label):
  text = text[text.index('<svg'):]
  text = re.sub(r'<metadata>.*?</metadata>', '', text, flags=re.S)
  text = re.sub(r'\b(id="|href="#|url\(#)', lambda found: found.group(1) + key + '-', text)
  for colour, variable in VARIABLES.items():
    text = text.replace(colour, variable)
  # It takes the width that there is, and no more than it was drawn for.
  size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text)
  width, height = (float(size.group(i)) * 4 / 3 for i in (1, 2))
  head = (f'<svg viewBox="0 0 {size.group(1)} {size.group(2)}" role="img" aria-label="{escape(label)}" '
          f'style="width:{width:.0f}px;aspect-ratio:{width:.1f}/{height:.1f}">')
  return head + text[text.index('>') + 1:]


def curves(area, points, value=lambda p: p.value.mean):
  """Ours as lines, published as hollow markers without; what is saturated or missing leaves a gap."""
  for index, series in enumerate(dict.fromkeys(p.cell.series for p in points)):
    colour, marker = style(series, index)
    mine = [p for p in points if p.cell.series == series]
    good = [p for p in mine if p.value and not p.saturated]
    if good:
      area.errorbar([p.cell.x for p in good], [value(p) for p in good],
                    yerr=[p.value.half or 0 for p in good], color=colour, marker=marker, label=title(series))
    known = [(p.cell.x, end) for p in mine for end in (p.cell.published, p.cell.published_to)
             if end is not None]
    area.plot([x for x, _ in known], [end for _, end in known], linestyle='none', marker=marker,
              markerfacecolor='none', markeredgecolor=colour, alpha=0.8)


def bars(area, points, groups):
  """A group of bars an x, a bar a series; published as a short line across its bar."""
  names = list(dict.fromkeys(p.cell.series for p in points))
  width = 0.8 / len(names)
  for index, series in enumerate(names):
    colour, _ = style(series, index)
    mine = [p for p in points if p.cell.series == series]
    place = {p.cell.x: groups.index(p.cell.x) + (index - (len(names) - 1) / 2) * width for p in mine}
    good = [p for p in mine if p.value and not p.saturated]
    if good:
      area.bar([place[p.cell.x] for p in good], [p.value.mean for p in good], width * 0.9, color=colour,
               label=title(series), yerr=[p.value.half or 0 for p in good],
               error_kw={'ecolor': INK, 'elinewidth': 1})
    known = [p for p in mine if p.cell.published is not None]
    area.hlines([p.cell.published for p in known], [place[p.cell.x] - width / 2 for p in known],
                [place[p.cell.x] + width / 2 for p in known], color=INK, linewidth=2)
  area.set_xticks(range(len(groups)), [str(g) for g in groups])
