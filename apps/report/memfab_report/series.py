# SPDX-License-Identifier: BSD-3-Clause
"""Series of results: what links carried, what waited for them, what memories did, in steps of time."""
from . import html, plot

COLUMNS = ('file', 'run', 'clock', 'what', 'from', 'to', 'number', 'from_ps', 'to_ps', 'octets')
OF_LINKS = ('memory_octets', 'frame_octets', 'queue_octets', 'queue_max_octets')
OF_MEMORIES = ('read_octets', 'written_octets')
MOST_LINES = 10  # in a plot: those that did most; all are in series.csv
GIGABIT = 8e3  # octets a picosecond as Gb/s
MICROSECOND = 1e6


def lines(entries):
  """A line a step of each series."""
  for e in entries:
    for each in e.series:
      for link in each['links']:
        yield from steps(e, each, link, OF_LINKS, {'from': link['from'], 'to': link['to'],
                                                   'number': link.get('number', 0)})
      for memory in each['memories']:
        yield from steps(e, each, memory, OF_MEMORIES, {'from': memory['node']})


def steps(entry, each, found, keys, ends):
  for what in keys:
    for begin, end, octets in zip(each['at_ps'], each['at_ps'][1:], found.get(what, ())):
      yield {'file': entry.file, 'run': entry.name, 'clock': entry.clock, 'what': what, **ends,
             'from_ps': begin, 'to_ps': end, 'octets': octets}


def section(entries):
  drawn = ''
  for number, e in enumerate(e for e in entries if e.series):
    for what, (title, unit, curves) in {'links': links(e), 'queues': queues(e),
                                        'memories': memories(e)}.items():
      curves = most(curves)
      if curves:
        svg = plot.svg(figure(curves, unit), f'series{number}{what}', title)
        drawn += html.plot(f'{e.name}: {title}', svg)
  if not drawn:
    return ''
  return (f'<section><h2>Over time</h2>\n<p class="soft">At most {MOST_LINES} lines each, of those that did '
          f'most; all are in series.csv.</p>\n<div class="plots">{drawn}</div></section>\n')


def name(link):
  return f'{link["from"]} to {link["to"]}' + (f', {link["number"]}' if link.get('number') else '')


def rates(times, octets):
  """Gb/s of each step."""
  return [n * GIGABIT / (end - begin) for begin, end, n in zip(times, times[1:], octets)]


def links(entry):
  """Virtual clock: over the rate of the link. A curve: its name, times, values."""
  share = all('rate_gbps' in link for each in entry.series for link in each['links'])
  curves = []
  for each in entry.series:
    for link in each['links']:
      octets = [m + f for m, f in zip(link['memory_octets'], link['frame_octets'])]
      scale = 100 / link['rate_gbps'] if share else 1
      curves.append((name(link), each['at_ps'], [r * scale for r in rates(each['at_ps'], octets)]))
  return 'what links carried', '% of the rate' if share else 'Gb/s', curves


def queues(entry):
  curves = [(name(link), each['at_ps'], link.get('queue_max_octets') or link['queue_octets'])
            for each in entry.series for link in each['links']]
  return 'what waited at their senders', 'octets', curves


def memories(entry):
  curves = [(f'{memory["node"]}, {what}', each['at_ps'], rates(each['at_ps'], memory[f'{what}_octets']))
            for each in entry.series for memory in each['memories'] for what in ('read', 'written')]
  return 'what memories read and wrote', 'Gb/s', curves


def most(curves):
  """Those with anything in them; of many those with the highest sums."""
  some = [curve for curve in curves if any(curve[2])]
  chosen = sorted(some, key=lambda curve: -sum(curve[2]))[:MOST_LINES]
  return [curve for curve in some if curve in chosen]


def figure(curves, unit):
  drawn, area = plot.axes(width=plot.WIDE)
  for index, (label, times, values) in enumerate(curves):
    area.step([t / MICROSECOND for t in times], values + values[-1:], where='post',
              color=plot.SERIES[index % len(plot.SERIES)], label=label)
  area.set_ylim(bottom=0)
  area.set_xlabel('us')
  area.set_ylabel(unit)
  plot.legend(area, columns=2)
  return drawn
