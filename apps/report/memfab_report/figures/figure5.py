# SPDX-License-Identifier: BSD-3-Clause
"""Figure 5: the stages of a read and of a write, one after the other."""
from .. import plot, published, table
from ..cell import Cell
from ..outcome import Missing
from . import table1

KEY = '5'
TITLE = 'Figure 5: breakdown of the latency of EDM\'s fabric'
ABOUT = ('The same run as Table 1 of EDM: each stage with where it is. The paper gives cycles of 2.56 ns; '
         'what it leaves out has no published value.')
SIZES = {size: {} for size in ('quick', 'full', 'tiny')}
WHAT = ('read', 'write')
CYCLES = {
    'read message queue': 1, 'create request block': 1, 'PCS, TX': 2, 'PCS, RX': 2, 'identify block': 1,
    'generate /G/': 1, 'forward RX to TX': 4, 'process RREQ': 2, 'send to memory controller': 1,
    'read grant queue': 4, 'read message state table': 1, 'read data buffer': 1, 'create data block': 1,
    'parse /G/': 1, 'add to grant queue': 1, 'parse data block': 1, 'extract memory address': 1, 'deliver '
                                                                                                 'data': 1,
}
WIRES = {'PMA, PMD, transceiver': 19.0, 'propagation': 10.0}
BEYOND = ('serialisation', 'wait for the check', 'scheduler', 'DRAM')
COMPUTE, SWITCH, MEMORY = 'compute node', 'switch', 'memory node'
OUT = ('PCS, TX', 'PMA, PMD, transceiver', 'propagation')
IN = ('PMA, PMD, transceiver', 'PCS, RX')
DATA = ('read grant queue', 'read message state table', 'read data buffer', 'create data block')
TAKE = ('parse data block', 'extract memory address', 'deliver data')
HOPS = {  # in the order in which a message comes by
    'read': ((COMPUTE, ('read message queue', 'create request block') + OUT),
             (SWITCH, IN + ('identify block', 'generate /G/', 'forward RX to TX') + OUT),
             (MEMORY, IN + ('process RREQ', 'send to memory controller') + DATA + OUT),
             (SWITCH, IN + ('identify block', 'forward RX to TX') + OUT),
             (COMPUTE, IN + TAKE)),
    'write': ((COMPUTE, ('read message queue', 'create request block') + OUT),
              (SWITCH, IN + ('identify block', 'generate /G/', 'forward RX to TX') + OUT),
              (COMPUTE, IN + ('parse /G/', 'add to grant queue') + DATA + OUT),
              (SWITCH, IN + ('identify block', 'forward RX to TX') + OUT),
              (MEMORY, IN + TAKE)),
}
NAMES = {COMPUTE: 'compute', SWITCH: 'switch', MEMORY: 'memory'}


def cost(stage):
  return CYCLES[stage] * published.CYCLE_NS if stage in CYCLES else WIRES[stage]


def rows(what):
  """{(place, stage): ns of the paper}"""
  found = {}
  for place, stages in HOPS[what]:
    for stage in stages:
      found[place, stage] = found.get((place, stage), 0) + cost(stage)
  return found


def timeline(result, what):
  steps = result.get('stages', {}).get(what, {}).get('timeline')
  if not steps:
    raise Missing(f'the result has no stages of a {what}')
  return steps


def at(what, place, stage):
  def metric(result, _):
    steps = [s for s in timeline(result, what) if s['stage'] == stage and place in (None, s['place'])]
    if not steps and place:
      raise Missing(f'no stage "{stage}" at the {place}')
    return sum(s['to_ps'] - s['from_ps'] for s in steps) / 1000
  return metric


def end(what):
  def metric(result, _):
    return timeline(result, what)[-1]['to_ps'] / 1000
  return metric


def cells(_):
  runs, made = table1.run('edm'), []
  for what in WHAT:
    made += [Cell(what, 'edm', f'{place}: {stage}', 'ns', runs, at(what, place, stage), ns)
             for (place, stage), ns in rows(what).items()]
    made.append(Cell(what, 'edm', 'fabric latency', 'ns', runs, table1.part_of(what, 'fabric latency'),
                     sum(rows(what).values())))
    made += [Cell(what, 'edm', stage, 'ns', runs, at(what, None, stage)) for stage in BEYOND]
    made.append(Cell(what, 'edm', 'end to end', 'ns', runs, end(what)))
  return made


def plots(study):
  return [(f'A {what}: each stage where and when it is', drawn) for what in WHAT
          for drawn in drawings(study, what)]


def drawings(study, what):
  points = [p for p in study.of(what) if p.value]
  if not points:
    return
  figure, area = plot.axes(height=2.6)
  places, labels = (COMPUTE, SWITCH, MEMORY), set()
  for step in timeline(study.results(points[0])[0], what):
    name, colour = shade(step['stage'])
    began, ended = step['from_ps'] / 1000, step['to_ps'] / 1000
    area.barh(places.index(step['place']), ended - began, left=began, color=colour,
              edgecolor=plot.PAPER, linewidth=0.5, label='' if name in labels else name)
    labels.add(name)
  area.set_yticks(range(3), [NAMES[p] for p in places])
  area.invert_yaxis()
  area.set_xlabel('ns')
  area.legend(loc='upper center', bbox_to_anchor=(0.45, -0.3), ncols=3, columnspacing=1, handlelength=1)
  yield figure


def shade(stage):
  """Kind of stage and its colour."""
  if stage == 'propagation':
    return 'fibre', plot.SERIES[2]
  if stage in WIRES:
    return stage, plot.SERIES[1]
  if stage in BEYOND:
    return 'beyond the paper\'s sum', plot.SERIES[6]
  return ('PCS', plot.SERIES[5]) if stage.startswith('PCS') else ('EDM', plot.SERIES[0])


def tables(study):
  return [table.of_points(f'A {what}, ns', 'stage', study.of(what)) for what in WHAT]


def why(study):
  said = []
  for what in WHAT:
    whole, first = study.one(what, 'edm', 'end to end'), study.one(what, 'edm', 'fabric latency')
    if not whole or not first:
      continue
    more = [(stage, study.one(what, 'edm', stage)) for stage in BEYOND]
    parts = ', '.join(f'{stage} {p.value.mean:.2f}' for stage, p in more if p and p.value.mean)
    said.append(f'A {what} ends {whole.value.mean - first.value.mean:.2f} ns later than the paper\'s sum '
                f'says ({whole.value.mean:.2f} ns instead of {first.value.mean:.2f}). That is what the sum '
                f'leaves out: {parts} ns.')
  return said
