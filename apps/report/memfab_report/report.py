# SPDX-License-Identifier: BSD-3-Clause
"""Page, CSV and JSON of a plan whose runs are made."""
import json
import os
import pkgutil

from . import export, figures, html, output, plot, published, store, text
from .study import study
from .version import COMMIT, VERSION

CLOCK = 'VIRTUAL CLOCK: what the modelled hardware does'
SIZES = {
    'full': 'The full set.',
    'quick': 'The quick set: fewer loads, fewer and shorter runs and smaller fabrics than in the full set '
             '(without --quick). Intervals are wider. What the runs are is said at each figure.',
    'tiny': 'The tiny set: it only shows that everything works. Its figures mean nothing.',
}


NAMES = {'edm': 'EDM and its rivals', 'clio': 'Clio\'s memory node'}
FILES = ('figures.json', 'figures.csv', 'runs.csv', 'figures.html')


def write(folder, plan, records, host):
  """@return the studies of all figures"""
  plot.library()
  studies = [study(figures.BY_KEY[key], plan.size, records) for key in plan.keys]
  mine = sorted(r.id for r in plan.runs() if r.id in records)
  store.write_json(os.path.join(folder, 'figures.json'), content(plan, studies, records, mine, host))
  export.write_csv(os.path.join(folder, 'figures.csv'), export.POINTS,
                   (export.point(s, p) for s in studies for p in s.points))
  export.write_csv(os.path.join(folder, 'runs.csv'), export.RUNS,
                   (line for i in mine for line in export.run_lines(records[i])))
  write_page(os.path.join(folder, 'figures.html'), page(plan, studies, records, mine, host))
  return studies


def content(plan, studies, records, mine, host):
  """result: of fabric files and seeds alone; run: how it went on which machines."""
  return {
      'memfab_report': VERSION,
      'result': {
          'size': plan.size, 'paper': papers(plan),
          'figures': [export.figure(s) for s in studies],
          'missing': missing(studies),
          'runs': {i: {'fabric': records[i]['fabric'], 'error': records[i].get('error')} for i in mine},
      },
      'run': {'commit': COMMIT, **host, 'machines': machines(records, mine),
              'cpu_seconds': {i: records[i]['run']['cpu_seconds'] for i in mine if 'run' in records[i]}},
  }


def papers(plan):
  return '; '.join(published.PAPERS[name] for name in figures.systems(plan.keys))


def machines(records, mine):
  """Those that made the runs, each once, with the versions that ran there."""
  seen = {json.dumps({key: records[i]['run'].get(key) for key in ('machine', 'memfab', 'dpdk', 'compiler')},
                     sort_keys=True) for i in mine if 'run' in records[i]}
  return [json.loads(one) for one in sorted(seen)]


def missing(studies):
  """A line for all cells of a panel that are missing for the same reason."""
  groups = {}
  for s in studies:
    for p in s.missing:
      groups.setdefault((s, p.cell.panel, p.cell.series, p.missing), []).append(str(p.cell.x))
  return [f'{s.figure.KEY}, {panel}, {series}, '
          f'{"all" if len(xs) == len(s.of(panel, series)) else ", ".join(xs)}: {why}'
          for (s, panel, series, why), xs in groups.items()]


def write_page(path, content_of_page):
  with output.whole(path) as file:
    file.write(content_of_page)


def style():
  return pkgutil.get_data(__package__, 'style.css').decode()


def page(plan, studies, records, mine, host):
  body = ''.join([heading(plan, studies, mine), *(section(s) for s in studies), origin(records, mine, host)])
  return html.page(f'memfab: the figures of {named(plan)}', style(), body)


def named(plan):
  """The systems that its figures are of."""
  return ' and '.join(NAMES[name] for name in figures.systems(plan.keys))


def heading(plan, studies, mine):
  cells = sum(len(s.points) for s in studies)
  lost = missing(studies)
  said = [f'{cells:,} cells out of {len(mine):,} runs; '
          + (f'{sum(len(s.missing) for s in studies):,} cells are missing.' if lost else 'none is missing.')]
  listed = html.folded('The missing cells and why', html.bullets(map(html.escape, lost)))
  links = html.bullets(f'<a href="#figure-{s.figure.KEY}">{html.escape(s.figure.TITLE)}</a>' for s in studies)
  return (f'<h1>{named(plan)}: ours beside published</h1>\n<div class="clock">{CLOCK}</div>\n'
          + html.paragraphs([
              SIZES[plan.size],
              'Each value is the mean over seeds with its 95 % interval (Student), below it what the paper '
              'has with the relative difference, to the nearer end of a range, and the absolute mean '
              'latency. A point that carries less than 98 % of what it is offered is saturated: it has no '
              'ratio. Every stack pays for its bytes on the same links under the same clock.',
              f'Published: {papers(plan)}.', *said])
          + (listed if lost else '') + links)


def section(s):
  figure = s.figure
  source = published.SOURCES.get(figure.KEY)
  drawn = ''.join(html.plot(title, plot.svg(made, f'f{figure.KEY}-{i}', f'{figure.TITLE}. {title}'),
                            made.get_size_inches()[0] > plot.WIDTH)
                  for i, (title, made) in enumerate(figure.plots(s)))
  why = html.paragraphs(figure.why(s))
  said = f'<p class="soft">Published values: {html.escape(source)}.</p>\n' if source else ''
  head = f'<h2>{html.escape(figure.TITLE)}</h2>\n{html.paragraphs([figure.ABOUT, amount(s)])}{said}'
  reasons = f'<h3>{"Why it differs" if source else "What it says"}</h3>\n{why}' if why else ''
  tables = ''.join(map(html.table, figure.tables(s)))
  return (f'<section id="figure-{figure.KEY}">\n{head}<div class="plots">{drawn}</div>\n{reasons}{tables}'
          f'{parameters(s)}</section>\n')


def amount(s):
  """How much was run for a figure, in this size of the set."""
  given, parts = s.parameters, []
  if 'racks' in given:
    parts.append(' and '.join(map(str, given['racks'])) + ' nodes')
  elif 'nodes' in given:
    parts.append(f'{given["nodes"]} nodes')
  if 'measured_us' in given:
    parts.append(f'{given["measured_us"]:,} us measured after {given.get("warmup_us", 0):,} us of warm-up')
  if 'seeds' in given:
    parts.append(f'{given["seeds"]} seeds')
  count = len({r.id for p in s.points for r in p.cell.needs()})
  return f'Run here: {", ".join([*parts, f"{count:,} runs in all"])}.'


def parameters(s):
  """Every fabric file of the figure; those of a cell differ in their seed."""
  by_series = {}
  for p in s.points:
    by_series.setdefault(p.cell.series, {}).setdefault(p.cell.runs, p)
  inside = ''
  for series, found in by_series.items():
    lines = ''
    for runs, p in found.items():
      seeds = ', '.join(str(r.fabric['seed']) for r in runs)
      lines += f'{p.cell.panel}, {p.cell.x}; seeds {seeds}\n{runs[0].text}\n\n'
    inside += html.folded(html.title(series), html.pre(lines.rstrip()))
  said = 'Each is a fabric file as it stands: memfab-emu --clock virtual FILE; the other seeds with --seed.'
  return html.folded('Exact parameters', f'<p class="soft">{said}</p>\n{inside}')


def origin(records, mine, host):
  lines = [f'memfab-report {VERSION}, commit {COMMIT}']
  for one in machines(records, mine):
    machine = one['machine']
    lines.append(f'memfab-emu {one["memfab"]}, {one["dpdk"]}, compiler {one["compiler"]}; '
                 f'{machine.get("cpu", "unknown CPU")}, {machine["cpus"]} CPUs, Linux '
                 f'{machine.get("kernel", "unknown")}')
  cpu = sum(records[i]['run']['cpu_seconds'] for i in mine if 'run' in records[i])
  took = f', {text.number(host["host_seconds"], 3)} s with {host["jobs"]} at a time' if 'jobs' in host else ''
  lines.append(f'{len(mine):,} runs, {text.number(cpu, 3)} s of CPU{took}')
  return f'<section id="origin">\n<h2>How it was made</h2>\n{html.paragraphs(lines)}</section>\n'
