# SPDX-License-Identifier: BSD-3-Clause
"""memfab-report show: any results side by side."""
import json
import os

from . import export, html, output, parts, plot, report, series, stats, store, table, text
from .entries import all_of
from .failure import MISSHAPEN, Failure
from .version import COMMIT, VERSION

CLOCKS = {'virtual': 'VIRTUAL CLOCK: what the modelled hardware does',
          'wall': 'WALL CLOCK: what this software does on the machine that is named below'}
COLUMNS = ('file', 'run', 'clock', 'operation', 'from_to', *export.PERCENTILES)
MOST_CURVES = 10  # in a plot; more are in the tables


def show(paths, folder):
  """@return exit status"""
  target = {end: os.path.join(folder, f'show.{end}') for end in ('json', 'csv', 'html')}
  target['series'] = os.path.join(folder, 'series.csv')
  output.apart([('RESULT', path) for path in paths], [('-o', path) for path in target.values()])
  plot.library()
  entries = all_of(paths)
  try:
    made, rows, text_of_page = content(entries), list(lines(entries)), page(entries)
    steps = list(series.lines(entries))
  except MISSHAPEN as error:
    raise Failure(f'{", ".join(paths)}: not as their schema says: {type(error).__name__}: {error}') from error
  store.folder(folder, ())
  store.write_json(target['json'], made)
  export.write_csv(target['csv'], COLUMNS, rows)
  if steps:
    export.write_csv(target['series'], series.COLUMNS, steps)
  report.write_page(target['html'], text_of_page)
  print(f'{len(entries)} runs of {len(paths)} files: {os.path.join(folder, "show.html")}')
  return 0


def content(entries):
  return {'memfab_report': VERSION, 'commit': COMMIT, 'runs': [content_of(e) for e in entries]}


def content_of(e):
  return {
      'name': e.name, 'file': e.file, 'clock': e.clock, 'counts': e.counts,
      'rates': {kind: {'per_s': rate[0], 'gbps': rate[1]} for kind, rate in e.rates.items()},
      'latencies': [{'operation': operation, 'from_to': where, **store.pruned(figures)}
                    for (operation, where), figures in e.latencies.items()],
      'carried': e.carried, 'config': e.config, 'run': e.run,
  }


def lines(entries):
  for e in entries:
    for (operation, where), figures in e.latencies.items():
      yield {'file': e.file, 'run': e.name, 'clock': e.clock, 'operation': operation, 'from_to': where,
             **{key: figures.get(key) for key in export.PERCENTILES}}


def keys(entries):
  """All (operation, from where to where), in the order in which they come."""
  return list(dict.fromkeys(key for e in entries for key in e.latencies))


def page(entries):
  clocks = list(dict.fromkeys(e.clock for e in entries))
  said = ''.join(f'<div class="clock">{html.escape(CLOCKS.get(c, c))}</div>\n' for c in clocks)
  if len(clocks) > 1:
    said += html.paragraphs(['Here are results of both clocks: figures of one say nothing about the other.'])
  head = f'<h1>Results of {len(entries)} runs, side by side</h1>\n{said}'
  body = (head + curves(entries) + latency_tables(entries) + throughput(entries) + links(entries)
          + series.section(entries) + origin(entries))
  return html.page('memfab: results', report.style(), body)


def curves(entries):
  drawn = ''
  for number, (operation, where) in enumerate(keys(entries)):
    mine = [e for e in entries if (operation, where) in e.latencies]
    drawn += html.plot(f'{operation}, {where}' + ('' if len(mine) <= MOST_CURVES else '; the first '
                                                                                      f'{MOST_CURVES} runs'),
                       plot.svg(cdf(mine[:MOST_CURVES], (operation, where)), f'cdf{number}', 'CDF of '
                                                                                             f'{operation}, '
                                                                                             f'{where}'))
  drawn += ''.join(html.plot(title, plot.svg(made, f'by{number}', title)) for number, (title, made)
                   in enumerate(by_parameter(entries)))
  return ('<section><h2>Latency: share of operations that took at most so long</h2>'
          f'<div class="plots">{drawn}</div></section>\n')


def cdf(entries, key):
  """The clock is the entry's own: a mark in the legend where they differ."""
  figure, area = plot.axes()
  mixed = len({e.clock for e in entries}) > 1
  for index, e in enumerate(entries):
    values, shares = stats.cdf(e.latencies[key]['histogram_ps'])
    area.step([v / 1000 for v in values[:1] + values], [0] + shares, where='post',
              color=plot.SERIES[index % len(plot.SERIES)],
              linestyle=('-', '--', ':')[index // 4 % 3], label=e.name + (f' ({e.clock})' if mixed else ''))
  area.set_xscale('log')
  area.set_ylim(0, 1.02)
  area.set_xlabel('ns')
  plot.plain(area.xaxis)
  plot.legend(area, columns=1)
  return figure


def by_parameter(entries):
  """memfab-perf over sizes or delays: p50 and p99, and goodput."""
  for what in dict.fromkeys(e.at[0] for e in entries if e.at):
    mine = [e for e in entries if e.at and e.at[0] == what]
    for key in keys(mine):
      figure, area = plot.axes()
      for index, file in enumerate(dict.fromkeys(e.file for e in mine)):
        found = [e for e in mine if e.file == file and key in e.latencies]
        for percentile, line in (('p50_ns', '-'), ('p99_ns', '--')):
          area.plot([e.at[1] for e in found], [e.latencies[key][percentile] for e in found], line, marker='o',
                    color=plot.SERIES[index % len(plot.SERIES)], label=f'{file}, {percentile[:-3]}')
        mark(area, [(e.at[1], e.latencies[key]['p99_ns']) for e in found if e.saturated], file)
      yield f'{key[0]}, {key[1]}, by {what}', finished(figure, area, what, 'ns')
    figure, area = plot.axes()
    for index, file in enumerate(dict.fromkeys(e.file for e in mine)):
      found = [e for e in mine if e.file == file]
      area.plot([e.at[1] for e in found], [sum(r[1] for r in e.rates.values()) for e in found], marker='o',
                color=plot.SERIES[index % len(plot.SERIES)], label=file)
      mark(area, [(e.at[1], sum(r[1] for r in e.rates.values())) for e in found if e.saturated], file)
    yield f'Goodput by {what}', finished(figure, area, what, 'Gb/s')


def mark(area, points, file):
  """Runs in which less was done than offered."""
  if points:
    area.plot(*zip(*points), 'kx', markersize=9, label=f'{file}: saturated')


def finished(figure, area, what, unit):
  if 'delay' in what:
    area.set_xscale('symlog', linthresh=10)
    area.xaxis.set_major_formatter(plot.spoken)
  else:
    area.set_xscale('log')
    plot.plain(area.xaxis)
  area.set_yscale('log')
  plot.plain(area.yaxis)
  area.set_xlabel(what)
  area.set_ylabel(unit)
  plot.legend(area, columns=1)
  return figure


def latency_tables(entries):
  made = ''
  for key in keys(entries):
    found = [(e.name, *(text.number(e.latencies[key].get(p), 6) for p in export.PERCENTILES))
             for e in entries if key in e.latencies]
    heads = tuple(p.removesuffix('_ns') for p in export.PERCENTILES)
    made += html.table(table.Table(f'{key[0]}, {key[1]}, ns', ('run', *heads), tuple(found)))
  return f'<section><h2>Latency: percentiles</h2>\n{made}</section>\n'


def throughput(entries):
  named = entries[:MOST_CURVES]
  figure, area = plot.axes(height=1.2 + 0.35 * len(named))
  area.barh(range(len(named)), [sum(r[1] for r in e.rates.values()) for e in named], color=plot.SERIES[0])
  area.set_yticks(range(len(named)), [e.name if len(e.name) < 30 else e.name[:28] + '..' for e in named])
  area.invert_yaxis()
  area.set_xlabel('goodput, Gb/s')
  found = tuple((e.name, kind, text.number(rate[0], 6), text.number(rate[1], 5),
                 ', '.join(f'{n:,} {what}' for what, n in e.counts.items()))
                for e in entries for kind, rate in e.rates.items())
  drawn = html.plot('Goodput of all operations together', plot.svg(figure, 'goodput', 'Goodput'))
  heads = ('run', 'operation', 'operations/s', 'goodput, Gb/s', 'operations of the run')
  return (f'<section><h2>Throughput</h2>\n<div class="plots">{drawn}</div>\n'
          + html.table(table.Table('By operation', heads, found)) + '</section>\n')


def links(entries):
  """Over ports, by who sends: what they carried, and what of it was sent more than once."""
  heads = ('run', 'link', 'sent by', 'port', 'goodput, Gb/s', 'new frames', 'replayed', 'efficiency, %',
           'round trip, us')
  found = tuple((e.name, parts.link_of(end), f'the {end["end"]}' if 'node' in end else end['end'],
                 end['port'],
                 text.number(end['tx_goodput_gbps'], 5),
                 *(text.number(end['counters'][f'tx_{what}_frames']) for what in ('data', 'replayed')),
                 text.number(end.get('tx_efficiency', 1) * 100.0, 5),
                 text.number(end['round_trip_ns'] / 1000)) for e in entries for end in e.carried)
  if not found:
    return ''
  return ('<section><h2>Links over ports</h2>\n' + html.table(table.Table('By who sends', heads, found))
          + '</section>\n')


def origin(entries):
  """Machine and configuration of each run."""
  made = ''
  for e in entries:
    made += html.folded(e.name, html.pre(json.dumps({'run': e.run, 'config': e.config}, indent=1)))
  return (f'<section id="origin"><h2>Exact parameters and machines</h2>\n'
          f'<p class="soft">memfab-report {VERSION}, commit {COMMIT}</p>\n{made}</section>\n')
