# SPDX-License-Identifier: BSD-3-Clause
"""Clio's Figure 13: retries of allocations, by how full the memory is."""
from .. import plot, published, table
from ..cell import Cell
from ..outcome import Missing
from . import clio

KEY = 'clio-13'
TITLE = 'Clio, Figure 13: retries of an allocation by fill'
ABOUT = ('A space allocates ranges of 1, 10 or 100 pages until so much of the physical memory is given out. '
         'Retries a request are those of the last hundredth: of a run up to there, less those of a run up to '
         'a hundredth before, with the same seed. Table of 16 slots a bucket and 2 slots a page; requests '
         'come over the wire.')
SIZES = {
    'full': {'pages': 1 << 18, 'fills': (60, 70, 80, 85, 90, 95, 99), 'seeds': 5},
    'quick': {'pages': 1 << 18, 'fills': (80, 90, 95, 99), 'seeds': 3},
    'tiny': {'pages': 1 << 14, 'fills': (99,), 'seeds': 2},
}
REQUESTS = (1, 10, 100)  # pages
HALF = 50  # percent; the first half is one cell
MEAN, MOST = 'retries a request', 'most retries of a request'


def run(request, percent, seed, size):
  pages = size['pages'] * percent // 100 // request * request
  workload = {'mix': {'read': 1}, 'size': 16, 'spaces': 1, 'pages': pages, 'range': request, 'operations': 1}
  return clio.make('fill', workload, clio.SMALL, size['pages'], seed, seconds=0.1 + 7e-6 * pages / request)


def runs(request, percent, size):
  return tuple(run(request, percent, seed, size) for seed in range(1, size['seeds'] + 1))


def retries(result):
  """Requests and the sum of their retries."""
  found = clio.memory(result)['retries']
  return found['allocations'], found['allocations'] * found['mean']


def whole(result, _):
  requests, sum_of = retries(result)
  return sum_of / requests


def name(request):
  return 'requests of a page' if request == 1 else f'requests of {request} pages'


def last_hundredth(result, reference):
  (requests, sum_of), (before, sum_before) = retries(result), retries(reference)
  if requests == before:
    raise Missing('there is no request in that hundredth')
  return (sum_of - sum_before) / (requests - before)


def most(result, _):
  return clio.memory(result)['retries']['max']


def at(percent):
  return f'{percent} %'


def cells(size):
  size, made = SIZES[size], []
  full = size['fills'][-1]
  for request in REQUESTS:
    series = name(request)
    made.append(Cell(MEAN, series, f'to {at(HALF)}', 'retries', runs(request, HALF, size), whole, 0))
    made += [Cell(MEAN, series, at(percent), 'retries', runs(request, percent, size), last_hundredth,
                  published.CLIO13[request] if percent == full else None,
                  runs(request, percent - 1, size)) for percent in size['fills']]
    made += [Cell(MOST, series, f'to {at(percent)}', 'retries', runs(request, percent, size), most,
                  published.CLIO13_MOST if percent == full else 0) for percent in (HALF, full)]
  return made


def plots(study):
  figure, area = plot.axes()
  plot.bars(area, study.of(MEAN), [f'to {at(HALF)}', *map(at, study.parameters['fills'])])
  area.set_xlabel('physical pages that are given out')
  area.set_ylabel('retries a request')
  plot.legend(area, columns=3)
  return [('Retries a request; lines across the bars: published', figure)]


def tables(study):
  return [table.of_points(MEAN, 'fill', study.of(MEAN)), table.of_points(MOST, 'fill', study.of(MOST))]


def why(study):
  said = [beside(study, request) for request in REQUESTS] + [costs(study)]
  said = [text for text in said if text]
  return said + [WHY] if said else []


def beside(study, request):
  full = study.parameters['fills'][-1]
  half, last, highest = (study.one(panel, name(request), x) for panel, x in (
      (MEAN, f'to {at(HALF)}'), (MEAN, at(full)), (MOST, f'to {at(full)}')))
  if not (half and last and highest):
    return ''
  results = study.results(highest)
  requests = sum(retries(r)[0] for r in results)
  failed = sum(clio.memory(r)['tasks']['failed']['allocate'] for r in results)
  return (f'{name(request).capitalize()}: {half.value.mean:g} retries a request below half, '
          f'{last.value.mean:.4f} in the hundredth below {full} %, published '
          f'{published.CLIO13[request]:g} there; {max(most(r, None) for r in results)} for one request at '
          f'most. {requests:,} requests, {failed} failed.')


def costs(study):
  """What a retry of the longest requests costs: steps beyond those that a request has without any."""
  full, request = study.parameters['fills'][-1], REQUESTS[-1]
  half, whole_run = (study.one(MOST, name(request), f'to {at(percent)}') for percent in (HALF, full))
  if not half or not whole_run:
    return ''
  steps = tried = 0
  for free, all_of in zip(study.results(half), study.results(whole_run)):
    requests, sum_of = retries(all_of)
    a_request = clio.memory(free)['slow_path']['steps'] / retries(free)[0]
    steps += clio.memory(all_of)['slow_path']['steps'] - a_request * requests
    tried += sum_of
  if not tried:
    return ''
  ns = clio.nanoseconds(clio.settings(study.results(half)[0])['slow']['step'])
  return (f'A retry of a request of {request} pages costs {steps / tried:.0f} steps of the slow path: '
          f'{steps / tried * ns / 1000:.2f} us with {ns:g} ns a step. Section 4.2 says a few microseconds, '
          'section 7.1 half a millisecond.')


WHY = ('Section 7.1 has at most 60 retries per request near full. The artifact\'s data, 49 to 59, are sums '
       'over the requests of one percent of the slots, so 0.01, 0.09 and 1.1 a request of 1, 10 and 100 '
       'pages. Those are about ours: the same table with twice as many slots as pages, whose buckets of 16 '
       'slots are hardly ever full.')
