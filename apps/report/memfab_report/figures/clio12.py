# SPDX-License-Identifier: BSD-3-Clause
"""Clio's Figure 12: allocation of addresses and of physical pages."""
from .. import plot, published, table
from ..cell import Cell
from . import clio

KEY = 'clio-12'
TITLE = 'Clio, Figure 12: allocation'
ABOUT = ('Ranges of pages of 4 MiB are allocated one after the other in an empty memory, and a physical page '
         'is put into the ring for each first access. Times are steps of the slow path; how long a step is '
         '(slow.step), is a parameter.')
SIZES = {
    'full': {'pages': (1, 4, 16, 64, 256, 1024, 4096), 'ranges': 8, 'first': 1 << 16},
    'quick': {'pages': (1, 4, 16, 64, 256, 1024), 'ranges': 8, 'first': 1 << 14},
    'tiny': {'pages': (1, 16), 'ranges': 2, 'first': 1 << 10},
}
SEEN, ALONE, STEPS = 'as the compute node sees it', 'slow path alone', 'steps a page'
TIME, WORK, PHYSICAL = 'addresses: time', 'addresses: steps', 'physical pages'
RING, RING_STEPS = 'slow path: ns a page', 'slow path: steps a page'
DRY = 'first accesses that found none'
LOAD = 'first accesses, a second'
DEPTH = 64


def ranges(pages, count):
  """Ranges of so many pages, and nothing else but one read."""
  workload = {'mix': {'read': 1}, 'size': 16, 'spaces': 1, 'pages': pages * count, 'range': pages,
              'operations': 1}
  return clio.make('allocation', workload, clio.HUGE, max(1024, 2 * pages * count))


def first_accesses(count, touched):
  """So many pages, each accessed for the first time, as fast as the link carries it, or none of them."""
  workload = {'mix': {'read': 1}, 'size': 16, 'spaces': clio.SPACES, 'pages': count // clio.SPACES,
              'depth': DEPTH, 'operations': count if touched else 1}
  return clio.make('pages', workload, clio.SMALL, 2 * count, seconds=0.2)


def more(key, per):
  """The metric: what a run's slow path has done more than that of the reference, for each of so many."""
  def metric(result, reference):
    paths = [clio.memory(r)['slow_path'][key] for r in (result, reference)]
    return (paths[0] - paths[1]) / per
  return metric


def per_ns(metric):
  return lambda result, reference: metric(result, reference) / clio.PS_PER_NS


def rate(result, _):
  span = result['operations']['last_done_ps'] - result['spaces']['ready_at_ps']
  return result['operations']['completed_all'] * 1e12 / span


def spoken(pages):
  size = pages * 4
  return f'{size} MiB' if size < 1024 else f'{size // 1024} GiB'


def cells(size):
  size, made = SIZES[size], []
  count, first = size['ranges'], size['first']
  for pages in size['pages']:
    runs, one, name = (ranges(pages, count),), ranges(pages, 1), spoken(pages)
    made += [Cell(TIME, SEEN, name, 'ns', runs, lambda result, _: result['spaces']['allocations']['mean_ns']),
             Cell(TIME, ALONE, name, 'ns', runs, per_ns(more('busy_ps', count - 1)), None, one),
             Cell(WORK, STEPS, name, 'steps', runs, more('steps', (count - 1) * pages), None, one)]
  touched, none = (first_accesses(first, touched) for touched in (True, False))
  made += [Cell(PHYSICAL, PHYSICAL, RING, 'ns', (touched,), per_ns(more('busy_ps', first - 1)), 0.0, none,
                published_to=published.CLIO_PAGE_NS),
           Cell(PHYSICAL, PHYSICAL, RING_STEPS, 'steps', (touched,), more('steps', first - 1), None, none),
           Cell(PHYSICAL, PHYSICAL, DRY, 'accesses', (touched,),
                lambda result, _: clio.memory(result)['dry'], 0),
           Cell(PHYSICAL, PHYSICAL, LOAD, '1/s', (touched,), rate)]
  return made


def plots(study):
  figure, area = plot.axes(plot.WIDE)
  plot.bars(area, study.of(TIME), [spoken(pages) for pages in study.parameters['pages']])
  area.set_yscale('log')
  area.set_ylim(bottom=10)
  plot.plain(area.yaxis)
  area.set_xlabel('size of the range')
  area.set_ylabel('time, ns')
  plot.legend(area)
  return [('Allocation of addresses', figure)]


def tables(study):
  return [table.of_points('addresses: ns a range', 'size', study.of(TIME)),
          table.of_points('addresses: steps of the slow path', 'size', study.of(WORK)),
          table.of_points('physical pages', '', study.of(PHYSICAL))]


def why(study):
  said = [text for text in (addresses(study), pages_of(study)) if text]
  return said + [WHY] if said else []


def addresses(study):
  known = [(p, study.one(TIME, SEEN, p.cell.x), study.one(WORK, STEPS, p.cell.x))
           for p in study.of(TIME, ALONE) if p.value]
  known = [(alone, seen, steps) for alone, seen, steps in known if seen and steps]
  if not known:
    return ''
  step = clio.nanoseconds(clio.settings(study.results(known[0][0])[0])['slow']['step'])
  retries = sum(clio.memory(r)['retries']['mean'] for alone, _, _ in known for r in study.results(alone))
  small, large = known[0], known[-1]
  return (f'{small[0].cell.x} take the slow path {small[0].value.mean:,.0f} ns, {large[0].cell.x} '
          f'{clio.microseconds(large[0].value.mean)}: {large[2].value.mean:.2f} steps of {step:g} ns a page '
          f'in long ranges, {small[2].value.mean:.2f} for a page alone, with {retries:g} retries. The '
          f'compute node sees {small[1].value.mean:,.0f} ns and {clio.microseconds(large[1].value.mean)}: '
          'the answer is not ready when it is first asked for, and is asked for again at growing intervals.')


def pages_of(study):
  ring, steps, dry, load = (study.one(PHYSICAL, PHYSICAL, x) for x in (RING, RING_STEPS, DRY, LOAD))
  if not (ring and steps and dry and load):
    return ''
  slow = clio.settings(study.results(ring)[0])['slow']
  zero = clio.nanoseconds(slow['zero']) * clio.OCTETS[clio.HUGE] / clio.OCTETS[clio.SMALL]
  faults = clio.memory(study.results(ring)[0])['faults']
  return (f'For a page that was never used the slow path takes {steps.value.mean:.2f} steps, '
          f'{ring.value.mean:.1f} ns: less than one, since the fast path tells of several that it took at a '
          f'time. Published are below {published.CLIO_PAGE_NS / 1000:g} us. {faults:,} first accesses at '
          f'{load.value.mean / 1e6:.2f} M a second, with {DEPTH} under way, found no page '
          f'{dry.value.mean:,.0f} times; section 4.3 says never. A page that was used before is zeroed '
          f'first: {zero / 1000:,.0f} us for 4 MiB, which is only the parameter slow.zero, and nobody waits '
          'for it while the ring has pages.')


WHY = ('Under the virtual clock these times are numbers of steps times a parameter, so the numbers of steps '
       'are the result, and not the nanoseconds. The paper has no number of the registration of RDMA memory '
       'or of Clio\'s allocation of addresses in its text, only that both take longer for more, and that '
       'allocation is much faster. Its slow path is an ARM core that reaches the FPGA in 40 us (section 5).')
