#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tables of memfab-perf under the virtual clock: their shape, and figures that follow from the fabric."""
import os
import re
import sys

from perf import BANDWIDTH, GBITS, LATENCY, Perf, Tap, tables, why

# 25 Gb/s, chunks of 256 octets in 34 blocks of 8.
LIMIT = 25 * 32 / 34
ROW = r'^ (\d{5})\t(\d+\.\d+)\t'  # of loaded_latency: delay, latency


def ordered(row):
  return (row['t_min[usec]'] <= row['t_typical[usec]'] <= row['99% percentile[usec]']
          <= row['99.9% percentile[usec]'] <= row['t_max[usec]'] + 0.001
          and row['t_min[usec]'] <= row['t_avg[usec]'] <= row['t_max[usec]'])


def latencies(tap, perf):
  typical = {}
  for test in ('read_lat', 'write_lat', 'atomic_lat'):
    process = perf.virtual(test, '-n', '300')
    found = tables(process.stdout, LATENCY)
    if not tap.ok(process.returncode == 0 and len(found) == 1 and len(found[0]) == 1,
                  f'{test}: a table of a row', why(process) + process.stdout):
      continue
    row = found[0][0]
    typical[test] = row['t_typical[usec]']
    tap.ok(row['#iterations'] == 300 and ordered(row), f'{test}: 300 iterations, percentiles in order', row)
    tap.ok(row['#bytes'] == (8 if test == 'atomic_lat' else 64), f'{test}: octets', row)
    tap.ok('virtual: what the modelled hardware does' in process.stdout, f'{test}: the clock is named')
    tap.ok('Nothing is divided by two' in process.stdout, f'{test}: what latency is')
  # A read goes there and back through the DRAM; a write's effect waits for notification and grant first.
  tap.ok(0 < typical.get('write_lat', 0) < typical.get('read_lat', 0),
         'a write takes effect before a read is back', typical)
  tap.ok('effect at the memory' in perf.virtual('write_lat').stdout, 'write_lat says what it measures')


def bandwidths(tap, perf):
  for test in ('read_bw', 'write_bw'):
    process = perf.virtual(test, '-n', '200', '--report_gbits')
    found = tables(process.stdout, GBITS)
    if tap.ok(process.returncode == 0 and len(found) == 1, f'{test}: a table', why(process) + process.stdout):
      row = found[0][0]
      tap.ok(0.98 * LIMIT < row['BW average[Gb/sec]'] <= 1.002 * LIMIT, f'{test}: the link is full', row)
      tap.ok(row['BW average[Gb/sec]'] <= row['BW peak[Gb/sec]'] <= 1.05 * LIMIT, f'{test}: peak', row)
      rate = row['BW average[Gb/sec]'] * 1e3 / 8 / 65536
      tap.ok(abs(row['MsgRate[Mpps]'] - rate) < 1e-4, f'{test}: rate is bandwidth over size', row)
    tap.ok(len(tables(process.stdout, LATENCY)) == 1, f'{test}: the latency under this load')
  process = perf.virtual('read_bw', '-n', '200')
  mib = tables(process.stdout, BANDWIDTH)[0][0]['BW average[MiB/sec]']
  tap.ok(0.98 * LIMIT < mib * 1048576 * 8 / 1e9 <= 1.002 * LIMIT, 'MiB are MiB', mib)
  process = perf.virtual('read_bw', '-n', '100', '-q', 'all', '--report_gbits')
  row = tables(process.stdout, GBITS)[0][0]
  tap.ok(row['#iterations'] == 300, 'three clients', row)
  tap.ok(1.5 * LIMIT < row['BW average[Gb/sec]'] <= 2.01 * LIMIT, 'of two memory nodes', row)


def all_sizes(tap, perf):
  process = perf.virtual('read_lat', '-a', '-n', '20')
  rows = tables(process.stdout, LATENCY)[0]
  tap.ok(process.returncode == 0 and [r['#bytes'] for r in rows] == [2 ** k for k in range(1, 24)],
         '-a: 2, 4, 8 to 8 MiB', why(process) + process.stdout)
  tap.ok(all(a['t_min[usec]'] <= b['t_min[usec]'] for a, b in zip(rows, rows[1:])), '-a: more takes longer',
         rows)
  rows = tables(perf.virtual('read_bw', '-a', '-n', '5', '-t', '64').stdout, BANDWIDTH)[0]
  tap.ok(rows[-1]['#bytes'] == 262144, '-a: as far as 64 of them fit 16 MiB of memory', rows)


def by_time(tap, perf):
  process = perf.virtual('read_lat', '-D', '410us')
  row = tables(process.stdout, LATENCY)[0][0]
  tap.ok(900 < row['#iterations'] < 1100 and ordered(row), '-D: percentiles in the duration mode, too', row)
  process = perf.virtual('mixed', '-n', '500', '--mix', 'read:2,write:1,cas:1')
  found = {name: rows for name, rows in zip(re.findall(r'Latency of (\w+) under', process.stdout),
                                            tables(process.stdout, LATENCY))}
  tap.ok(process.returncode == 0 and set(found) == {'read', 'write', 'cas'}, 'mixed: a table for each kind',
         why(process) + process.stdout)
  tap.ok(sum(r[0]['#iterations'] for r in found.values()) == 500, 'mixed: all of them', found)


def open_loop(tap, perf):
  process = perf.virtual('read_lat', '--rate', '500k', '-n', '400')
  found = tables(process.stdout, LATENCY)
  tap.ok(process.returncode == 0 and len(found) == 2, '--rate: two tables', why(process) + process.stdout)
  intended, service = found[0][0], found[1][0]
  tap.ok(abs(intended['t_typical[usec]'] - service['t_typical[usec]']) < 0.1,
         '--rate: without load both are alike', found)
  # More than the client can have: those who wait wait from their intended start.
  found = tables(perf.virtual('read_lat', '--rate', '10M', '-t', '1', '-n', '400').stdout, LATENCY)
  intended, service = found[0][0], found[1][0]
  tap.ok(intended['t_typical[usec]'] > 10 * service['t_typical[usec]'], '--rate: waiting counts', found)
  burst = tables(perf.virtual('read_lat', '--rate', '500k', '--burst', '16', '-n', '400').stdout,
                 LATENCY)[0][0]
  tap.ok(burst['99% percentile[usec]'] > service['t_min[usec]'], '--burst: some wait for the others', burst)
  process = perf.virtual('write_lat', '--rate', '500k', '-n', '50')
  tap.ok(process.returncode == 0 and 'acknowledg' in process.stdout, '--rate: writes are acknowledged',
         why(process))


def saturation(tap, perf):
  """With a time given, rates are of what was done in it, not of what was offered; offered stands beside
  it."""
  for rate, saturated in (('20M', True), ('500k', False)):
    process, result = perf.json('read_bw', '-s', '64', '-q', '3', '--rate', rate, '-D', '100us')
    found = result['runs'][0]['bandwidth']
    offered = 3 * float(rate[:-1]) * {'M': 1e6, 'k': 1e3}[rate[-1]]
    tap.ok(found['offered_operations_per_s'] == offered and found['saturated'] is saturated,
           f'--rate {rate}: saturated is {saturated}', found)
    # Two memory nodes, each with a link of 25 Gb/s.
    tap.ok(found['average_octets_per_s'] * 8e-9 < 2 * 25, f'--rate {rate}: no more than the links carry',
           found)
    tap.ok((found['operations_per_s'] < 0.9 * offered) is saturated, f'--rate {rate}: what was done', found)
    tap.ok(f'offered {offered / 1e6:.6f} Mpps, done' in process.stdout and
           (': saturated' in process.stdout) is saturated, f'--rate {rate}: on the screen', process.stdout)


def phases(tap, perf):
  """
  Clients in step with each other are always met at the same point of their period: latencies are that,
  divided. With many clients at one memory node nearly all were. One alone may fall into step by itself.
  """
  process = perf.virtual('loaded_latency', '-D', '100us',
                         file=os.path.join(perf.root, 'examples', 'incast.json'))
  rows = {int(d): float(latency) for d, latency in re.findall(ROW, process.stdout, re.M)}
  step = [(d, k) for d in (500, 700, 1000, 1300, 2500, 5000, 20000) for k in range(1, 60)
          if d in rows and abs(rows[d] - d / k) < 0.006]
  tap.ok(len(rows) == 19 and len(step) <= 1, 'loaded_latency: clients start at random phases', (step, rows))


def mlc(tap, perf):
  process = perf.virtual('loaded_latency', '-D', '200us')
  rows = re.findall(ROW + r' +(\d+\.\d)$', process.stdout, re.M)
  tap.ok(process.returncode == 0 and len(rows) == 19 and rows[0][0] == '00000' and rows[-1][0] == '20000',
         'loaded_latency: MLC\'s delays', why(process) + process.stdout)
  tap.ok('Inject\tLatency\tBandwidth\nDelay\t(ns)\tMB/sec\n' in process.stdout, 'loaded_latency: MLC\'s head')
  tap.ok('cn2, which probes alone at depth 1' in process.stdout, 'loaded_latency: the probe is named')
  by_delay = {int(d): (float(latency), float(mb)) for d, latency, mb in rows}
  tap.ok(all(abs(by_delay[d][1] - 2 * 64e3 / d) < 0.05 * 2 * 64e3 / d for d in (500, 1000, 2500)),
         'loaded_latency: two clients, 64 octets each delay', by_delay)
  tap.ok(by_delay[0][1] > 4 * by_delay[1000][1], 'loaded_latency: without delay as much as it can', by_delay)
  tap.ok('none is left to probe' in perf.virtual('loaded_latency', '-D', '50us', '-q', '3').stdout,
         'loaded_latency: without a probe it says so')

  process = perf.virtual('bandwidth_matrix', '-D', '1ms', '-s', '4096')
  rows = re.findall(r'^ +(cn\d)\t +(\d+\.\d)\t +(\d+\.\d)$', process.stdout, re.M)
  tap.ok(process.returncode == 0 and [r[0] for r in rows] == ['cn0', 'cn1', 'cn2'],
         'bandwidth_matrix: each compute node', why(process) + process.stdout)
  tap.ok(all(0.95 < float(mb) * 8e-3 / LIMIT < 1.02 for row in rows for mb in row[1:]),
         'bandwidth_matrix: each pair alone fills its link', rows)


def unsound(tap, perf):
  """A line that says why, and exit 1."""
  process = perf.virtual('read_lat', '-D', '1ps')
  tap.ok(process.returncode == 1 and 'nothing was measured' in process.stderr, 'no samples', why(process))
  process = perf.virtual('read_bw', '-n', '20', file=perf.rack.replace('rack', 'timeout'))
  tap.ok(process.returncode == 1 and 'operations failed' in process.stderr,
         'operations that were lost', why(process))


def deterministic(tap, perf):
  args = ('mixed', '-q', 'all', '-n', '300', '--seed', '7')
  one, two = perf.virtual(*args).stdout, perf.virtual(*args).stdout
  tap.ok(one == two, 'the same seed, the same figures')
  other = perf.virtual(*args[:-1], '8').stdout
  tap.ok(other != one, 'another seed, other figures')


def documented(tap, perf):
  """What docs/perf.md shows of the virtual clock is what comes out."""
  with open(os.path.join(perf.root, 'docs', 'perf.md'), encoding='utf-8') as file:
    shown = re.findall(r'^    memfab-perf ([^\n]*--clock virtual[^\n]*)\n\n```\n(.*?)^```$', file.read(),
                       re.M | re.S)
  tap.ok(len(shown) >= 5, 'docs/perf.md has commands with their output', shown)
  for command, output in shown:
    args = [os.path.join(perf.root, a) if a.startswith('examples/') else a for a in command.split()]
    lines = perf.run(*args).stdout.splitlines()
    missing = [line for line in output.splitlines() if line not in lines]
    tap.ok(not missing, f'docs/perf.md: {command}', '\n'.join(missing))


def main(program, _, root):
  perf, tap = Perf(program, root), Tap()
  for part in (latencies, bandwidths, all_sizes, by_time, open_loop, saturation, phases, mlc, unsound,
               deterministic, documented):
    part(tap, perf)
  tap.done()


main(*sys.argv[1:])
