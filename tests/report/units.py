#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The parts of memfab-report that run nothing: statistics, published values, plan, cells, text, merging."""
import json
import os
import random
import sys
import tempfile

ROOT = sys.argv[1]
sys.path[:0] = [os.path.join(ROOT, 'apps', 'report'), os.path.join(ROOT, 'tests', 'fabric')]

from emu import Tap
from memfab_report import (cell, entries, figures, histogram, html, merge, outcome, parts, plan, plot,
                           published, run, runner, shards as cutting, stats, store, text)
from memfab_report.failure import Failure
from memfab_report.figures import figure5, table1

TAP = Tap()


def near(got, wanted, name, most=1e-9):
  TAP.ok(abs(got - wanted) <= most, name, f'{got} instead of {wanted}')


def fails(function, *args, says=''):
  """Whether it ends as a faulty file does, with these words, in one line."""
  try:
    function(*args)
  except Failure as failure:
    return says in str(failure) and '\n' not in str(failure) or str(failure)
  return 'no failure'


def good(answer, name):
  TAP.ok(answer is True, name, answer)


def statistics():
  for freedom, t in ((1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042)):  # tables of Student's t
    near(stats.student_quantile(freedom), t, f'quantile of Student, {freedom} degrees of freedom', 6e-4)
  one = stats.estimate([5.0])
  TAP.ok((one.mean, one.half, one.count) == (5.0, None, 1), 'one seed has no interval', one)
  three = stats.estimate([1.0, 2.0, 3.0])
  near(three.half, 4.30265 / 3 ** 0.5, 'half of an interval', 1e-4)
  seed = random.randrange(1 << 30)
  draw, inside = random.Random(seed), 0
  for _ in range(2000):
    sample = stats.estimate([draw.gauss(10, 3) for _ in range(4)])
    inside += abs(sample.mean - 10) <= sample.half
  TAP.ok(1860 <= inside <= 1940, 'the interval holds the mean of 95 of 100 samples', f'seed {seed}: '
                                                                                     f'{inside} of 2,000')
  near(stats.difference(1.1, 1.0), 10, 'relative difference')
  for ours, wanted in ((0.9, -10), (1.0, 0), (1.5, 0), (2.2, 10)):
    near(stats.difference(ours, 1.0, 2.0), wanted, f'difference of {ours} to a range from 1 to 2')
  TAP.ok(stats.difference(1.0, None) is None, 'no difference to nothing')
  values, parts = stats.cdf([[30, 1], [10, 2], [20, 1]])
  TAP.ok((values, parts) == ([10, 20, 30], [0.5, 0.75, 1.0]), 'distribution of a histogram', (values, parts))


def bucket(value):
  """The lowest value of the one that it is in (mf_hist.h)."""
  shift = max(0, value.bit_length() - histogram.SUB.bit_length())
  return value >> shift << shift


def latency(values):
  """As a result has it, by exact sorting: percentiles are the ends of buckets, never above the maximum."""
  ordered, found = sorted(values), {}
  for value in ordered:
    found[bucket(value)] = found.get(bucket(value), 0) + 1
  at = {key: ordered[-(-len(ordered) * ppm // 10 ** 6) - 1] for key, ppm in histogram.AT.items()}
  return {'count': len(values), 'mean_ns': sum(values) / len(values) / 1000, 'min_ns': ordered[0] / 1000,
          **{key: min(histogram.high(bucket(value)), ordered[-1]) / 1000 for key, value in at.items()},
          'max_ns': ordered[-1] / 1000, 'histogram_ps': sorted([low, n] for low, n in found.items())}


def latencies():
  """Of several as of all together."""
  seed = random.randrange(1 << 30)
  draw = random.Random(seed)
  for _ in range(100):
    groups = [[int(draw.paretovariate(0.7) * 10 ** draw.randrange(6))
               for _ in range(draw.randrange(1, 300))] for _ in range(draw.randrange(1, 5))]
    all_of_them = latency([value for group in groups for value in group])
    merged = histogram.merged([latency(group) for group in groups])
    mean = merged.pop('mean_ns'), all_of_them.pop('mean_ns')
    if merged != all_of_them or abs(mean[0] - mean[1]) > 1e-9 * mean[1]:
      TAP.ok(False, 'latencies of several parts', f'seed {seed}')
      return
  TAP.ok(True, 'latencies of several parts')
  sizes = [(bucket(v), histogram.high(bucket(v))) for v in (0, 1, 255, 256, 257, 511, 512, 10 ** 12)]
  TAP.ok(sizes[:7] == [(0, 0), (1, 1), (255, 255), (256, 257), (256, 257), (510, 511), (512, 515)]
         and sizes[7][0] <= 10 ** 12 <= sizes[7][1], 'buckets as the program has them', sizes)
  nothing = {'count': 0, 'histogram_ps': []}
  TAP.ok(histogram.merged([nothing, nothing]) == nothing
         and histogram.merged([nothing, latency([7])]) == latency([7]), 'parts without any')


def sections():
  """Numbers add up, maxima are compared, and what only one has is kept."""
  whole = parts.add([{'a': 1, 'b_max': 3, 'name': 'x', 'in': {'c': 1}},
                     {'a': 2, 'b_max': 2, 'name': 'x', 'in': {'c': 2, 'd': 3}}, {'e': 5}])
  TAP.ok(whole == {'a': 3, 'b_max': 3, 'name': 'x', 'in': {'c': 3, 'd': 3}, 'e': 5}, 'sections of parts',
         whole)
  config = {'nodes': [{'name': 'cn', 'count': 2}, {'name': 'mn', 'count': 1}], 'switch': {'name': 's'}}
  TAP.ok(parts.roles_of(config) == ['cn0', 'cn1', 'mn', 's', 'scheduler'], 'all roles of a fabric',
         parts.roles_of(config))


def values():
  for stack, totals in published.TABLE1_TOTALS.items():
    for index, what in enumerate(('read', 'write')):
      own = table1.sums(stack, index)['fabric latency']
      exact = stack == 'edm' or (stack, what) == ('ethernet', 'write')
      near(own, totals[index], f'Table 1, {stack}, {what}: the parts are what is printed',
           0.005 if exact else 11)
  near(table1.sums('edm', 0)['network stack'], 107.52, 'Table 1: network stack of a read', 1e-6)
  near(table1.sums('edm', 1)['network stack'], 104.96, 'Table 1: network stack of a write', 1e-6)
  for index, what in enumerate(figure5.WHAT):
    near(sum(figure5.rows(what).values()), published.TABLE1_TOTALS['edm'][index],
         f'Figure 5: the stages of a {what} add up to Table 1', 1e-6)
  for kind, loads in published.FIGURE8A.items():
    TAP.ok(all(tuple(row) == published.STACKS and row['fastpass'] == max(row.values())
               for row in loads.values()), f'Figure 8a, {kind}: a value a stack, Fastpass the slowest')
  TAP.ok(all(tuple(row) == published.STACKS for row in published.FIGURE8B.values()),
         'Figure 8b: a value a stack')


def work():
  """Cutting it."""
  one, same = run.make({'a': 1, 'b': [1, 2]}, 1), run.make({'b': [1, 2], 'a': 1}, 9)
  TAP.ok(one.id == same.id and one == same, 'the order of keys does not matter')
  TAP.ok(one.id != run.make({'a': 1, 'b': [2, 1]}, 1).id, 'the order of values does')
  for size in figures.SIZES:
    runs = plan.make(size, None).runs()
    ids = [r.id for r in runs]
    TAP.ok(len(set(ids)) == len(ids), f'{size}: each run once')
    for count in (1, 3, 7):
      parts = cutting.cut(runs, count)
      flat = sorted(r.id for part in parts for r in part)
      load = [sum(r.seconds for r in part) for part in parts]
      longest = max(r.seconds for r in runs)
      TAP.ok(flat == sorted(ids) and max(load) - min(load) <= longest, f'{size}: {count} shards, as long, '
                                                                       'all in one', load)
      again = cutting.cut(random.sample(runs, len(runs)), count)
      TAP.ok(again == parts, f'{size}: {count} shards do not depend on the order')
  tiny = {r.id for r in plan.make('tiny', ['8a']).runs()}
  TAP.ok(tiny < {r.id for r in plan.make('tiny', None).runs()}, 'a figure is a part of all')
  good(fails(plan.make, 'tiny', ['9'], says='unknown figure "9"'), 'an unknown figure')
  systems = {name: plan.make('tiny', [name]).keys for name in figures.BY_SYSTEM}
  TAP.ok(sum(systems.values(), ()) == tuple(figures.BY_KEY), 'figures are of the systems', systems)
  TAP.ok(plan.make('tiny', ['5', 'clio', 'clio-4']).keys == ('5', *systems['clio']),
         'a system beside a figure')
  quick, full = (sum(r.seconds for r in plan.make(size, None).runs()) for size in ('quick', 'full'))
  TAP.ok(quick < 2 * 300 and full < 2 * 3600, 'the budget of two cores', (quick, full))


def made(mean, saturated=False):
  """The result of a run with a mean latency."""
  latency = {'count': 10, 'mean_ns': mean}
  kinds = {'read': {'latency': latency, 'begun': 10, 'rate_per_s': 5.0}}
  phase = {unit: {'offered': 4, 'completed': 4, 'failed': 0} for unit in ('messages', 'octets')}
  offered = {'wire': 0.5, 'payload': 0.3}
  flow = {'offered_gbps': 10.0, 'completed_gbps': 9.0 if saturated else 9.9}
  return {'operations': {'kinds': kinds}, 'phases': dict.fromkeys(('warmup', 'steady', 'drain'), phase),
          'messages': {'all': {'normalised': {'mean': mean / 50}}},
          'load': {'offered': offered, 'flow': flow, 'saturated': saturated}}


def cells():
  fabric = run.make({'seed': 1}, 1)
  plain = cell.Cell('p', 's', 1, 'ns', (fabric,), lambda r, _: outcome.mean_ns(r), published=200.0)
  TAP.ok(cell.point(plain, {}).missing == 'was not run', 'a run that was not made')
  TAP.ok(cell.point(plain, {fabric.id: {'error': 'boom'}}).missing == 'boom', 'a run that failed')
  point = cell.point(plain, {fabric.id: {'result': made(100.0)}})
  TAP.ok((point.value.mean, point.difference, point.missing) == (100.0, -50.0, None), 'ours beside published',
         point)
  seeds = tuple(run.make({'seed': i}, 1) for i in (11, 12, 13, 14))
  records = {seed.id: {'result': made(100.0 * (i + 1))} for i, seed in enumerate(seeds)}
  paired = cell.Cell('p', 's', 1, 'ns', seeds[:2], lambda r, s: outcome.mean_ns(s) - outcome.mean_ns(r),
                     100.0, seeds[2:], published_to=150.0)
  both = cell.point(paired, records)
  TAP.ok(set(paired.needs()) == set(seeds) and both.value.mean == 200.0 and both.value.half == 0,
         'a reference for each seed', both)
  TAP.ok('100.00 to 150.00 +33.3 %' in html.cell(both), 'a range on the page', html.cell(both))
  records[seeds[3].id]['result'] = made(320.0)
  TAP.ok('100.00 to 150.00 +' in html.cell(cell.point(paired, records)), 'beyond a range')
  records[seeds[2].id]['result'] = made(200.0)
  records[seeds[3].id]['result'] = made(340.0)
  TAP.ok('100.00 to 150.00 within' in html.cell(cell.point(paired, records)), 'within a range')
  empty = made(1.0)
  empty['operations']['kinds'] = {}
  TAP.ok('no operation' in cell.point(plain, {fabric.id: {'result': empty}}).missing, 'a run without '
                                                                                      'operations')
  TAP.ok('no ' in cell.point(plain, {fabric.id: {'result': {}}}).missing, 'a result of another shape')

  TAP.ok((point.flow.offered, point.flow.octets_completed) == (12, 12), 'all phases count', point.flow)
  seeds = tuple(run.make({'seed': i}, 1) for i in (2, 3, 4))
  busy = cell.Cell('p', 's', 1, 'ns', seeds, outcome.normalised, 1.0, open_loop=True)
  for count in range(4):
    records = {seed.id: {'result': made(100.0, i < count)} for i, seed in enumerate(seeds)}
    point = cell.point(busy, {**records, fabric.id: {'result': made(50.0)}})
    saturated = count >= 2
    TAP.ok(point.saturated is saturated and point.value.mean == 2.0, f'{count} of 3 seeds saturated', point)
    TAP.ok((point.difference is None) is saturated, f'{count} of 3 seeds saturated: the difference')
    TAP.ok(('saturated' in html.cell(point)) is saturated, f'{count} of 3 seeds saturated: on the page')


def words():
  for value, wanted in ((0, '0'), (0.0, '0'), (7, '7'), (1234567, '1,234,567'), (1.23456, '1.235'),
                        (123456.7, '123,457'), (0.00123456, '0.001235')):
    TAP.ok(text.number(value) == wanted, f'{value} as text', text.number(value))
  TAP.ok(text.estimate(stats.Estimate(1.23456, 0.01, 3)) == '1.235 ± 0.010', 'mean and interval')
  TAP.ok(html.cell('<b>&') == '<td>&lt;b&gt;&amp;</td>', 'text is no markup')
  svg = ('<?xml version="1.0"?>\n<svg width="9pt" viewBox="0 0 30 15">\n<metadata>x</metadata><defs><path '
         f'id="a"/></defs><use xlink:href="#a" clip-path="url(#b)" style="fill: {plot.INK}"/></svg>')
  placed = plot.embedded(svg, 'k', 'A "<label>"')
  TAP.ok('metadata' not in placed and 'id="k-a"' in placed and '"#k-a"' in placed and 'url(#k-b)' in placed
         and 'var(--ink)' in placed and 'aria-label="A &quot;&lt;label&gt;&quot;"' in placed, 'a drawing in '
                                                                                              'a '
                                                                                              'page', placed)


def files(folder):
  path = os.path.join(folder, 'x.json')
  for content, says in (('', 'not JSON'), ('{"a": ', 'not JSON'), ('[' * 100000, 'not JSON'),
                        ('[]', 'neither'),
                        ('{"result": {}, "run": {}}', 'not as its schema says'),
                        ('{"memfab_perf": "", "test": {}, "runs": [1]}', 'not as its schema says')):
    with open(path, 'w', encoding='utf-8') as file:
      file.write(content)
    good(fails(entries.read, path, says=says), f'a file with {content[:30]!r}')
  with open(path, 'wb') as file:
    file.write(b'\xff\xfe\0')
  good(fails(entries.read, path, says='not JSON'), 'a file that is not text')
  good(fails(entries.read, os.path.join(folder, 'none'), says='No such file'), 'a file that is not there')
  good(fails(store.load, folder, 'y') if store.folder(folder) and store.write_json(
      os.path.join(folder, store.RUNS, 'y.json'), {'id': 'z'}) is None else '', 'the record of another run')
  good(fails(runner.find_emu, os.path.join(folder, 'emu'), 'x', says='no such program'), 'no program')


def programs(folder):
  """What becomes of a run, by its exit status and what it wrote."""
  path, fabric = os.path.join(folder, 'emu'), run.make({'seed': 1}, 1)
  for status, failed, wrong, stages, kept in (
      (0, 0, 0, False, True), (0, 0, 0, True, True), (1, 0, 0, False, False), (1, 3, 0, False, True),
      (1, 3, 1, False, False), (1, 3, 0, True, False), (2, 3, 0, False, False)):
    result = {'operations': {'failed_all': failed, 'mismatches': wrong}, **({'stages': {}} if stages else {})}
    written = json.dumps({'result': result, 'run': {}})
    with open(path, 'w', encoding='utf-8') as file:
      file.write(f"#!/bin/sh\necho '{written}' >$4\necho why >&2\nexit {status}\n")
    os.chmod(path, 0o755)
    record = runner.Runner(path, 1, 60).one(fabric)
    name = f'exit {status}, {failed} failed, {wrong} wrong{", stages" if stages else ""}'
    TAP.ok(record.get('result') == (result if kept else None), name, record)
    TAP.ok(kept or record['error'] == f'why: exit {status}', f'{name}: the reason', record)


def headers():
  """Of shards."""
  whole = plan.make('tiny', ['table1'])
  shard = [{**whole.text(), 'shard': i, 'of': 3, 'mine': [], 'run': {'host_seconds': 1}} for i in (1, 2, 3)]
  TAP.ok(merge.check(dict(zip('abc', shard))) == whole, 'three shards of a plan')
  good(fails(merge.check, {'a': shard[0], 'c': shard[2]}, says='shard 2/3 is missing'), 'a missing shard')
  good(fails(merge.check, {'a': shard[0], 'b': shard[0]}, says='shard 1/3 twice: a and b'), 'a duplicate '
                                                                                            'shard')
  for key, other in (('size', 'quick'), ('commit', 'other'), ('runs', 'x'), ('of', 4)):
    good(fails(merge.check, {'a': shard[0], 'b': {**shard[1], key: other}}, says='not a shard of the same '
                                                                                 'plan'),
         f'shards of two plans: {key}')
  good(fails(merge.check, {'a': {**shard[0], 'size': 'x'}}, says='unknown size'), 'a size that is none')
  with tempfile.TemporaryDirectory() as folder:
    good(fails(merge.merge, [folder], folder, says='not a finished shard'), 'a folder that is no shard')
    good(fails(merge.merge, [folder, folder], folder, says='not a finished shard'), 'a folder twice')
    for content in ([], {'size': 1}, json.loads('{"shard": 1}')):
      store.write_json(os.path.join(folder, cutting.FILE), content)
      good(fails(merge.merge, [folder], folder, says='not what a shard says'), f'a header of {content}')


statistics()
latencies()
sections()
values()
work()
cells()
words()
with tempfile.TemporaryDirectory() as scratch:
  files(scratch)
  programs(scratch)
headers()
TAP.done()
