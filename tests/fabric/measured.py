#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is measured, over which time; what a run says that measured nothing, or had too short a drain."""
import os
import re
import signal
import subprocess
import sys
import tempfile

from emu import Emu, Tap, why
from messages import write

HEAD = 'start_ps,kind,src,dst,octets,request_octets\n'


def fabric(workload, compute=1, **more):
  return {'link': {'rate': '25G'}, 'nodes': [{'name': 'c', 'role': 'compute', 'count': compute},
                                             {'name': 'm', 'role': 'memory'}],
          'workload': [workload] if workload else [], **more}


def virtual(**times):
  return {'virtual': times}


def run(emu, folder, config, *args):
  process, both = emu.result('--clock', 'virtual', *args, write(folder, 'measured.json', config))
  return process, both and both['result']


def rates(result):
  return result['operations']['rates']


def over_line(emu, tap, folder):
  """Operations that complete in the drain count for latencies, and for no rate."""
  open_loop = {'mix': {'read': 1}, 'size': 64, 'loop': 'open', 'load': 1.5}
  process, result = run(emu, folder, fabric(open_loop, 8))
  read = result['operations']['kinds']['read']
  tap.ok(19.99 < read['goodput_gbps'] < 20.01 and read['completed'] > read['rated'] > 0 and
         rates(result)['count'] == 'completed_in_steady_state', 'an open loop above the line', read)
  tap.ok(re.search(r'^read .* 20\.0000$', process.stdout, re.M) and 'completed within the steady state' in
         process.stdout, 'the report says the same', process.stdout[:2000])
  writes = {'mix': {'write': 1}, 'size': 1024, 'depth': 16}
  _, result = run(emu, folder, fabric(writes, 8, clock=virtual(warmup='0', duration='100us')))
  write_rate = result['operations']['kinds']['write']['goodput_gbps']
  tap.ok(23 < write_rate < 23.53, 'deep queues without a warm-up', write_rate)


def in_step(emu, tap, folder):
  """Eight long reads in step: what completes had nearly all arrived before the steady state began."""
  reads = {'mix': {'read': 1}, 'size': 1 << 20, 'span': '1MiB', 'depth': 1}
  for duration, reason in (('1ms', 'steady_state_is_short'), ('9ms', 'more_completed_than_arrived')):
    process, result = run(emu, folder, fabric(reads, 8, clock=virtual(warmup='2.6ms', duration=duration)))
    tap.ok(rates(result).get('reason') == reason and rates(result)['count'] == 'measured' and
           22 < result['operations']['kinds']['read']['goodput_gbps'] < 23.53 and
           'from the first begin to the last end' in process.stdout, f'long reads in step, {duration}',
           (rates(result), result['operations']['kinds']['read']['goodput_gbps']))


def traces(emu, tap, folder):
  with open(os.path.join(folder, 'two.csv'), 'w', encoding='utf-8') as file:
    file.write(HEAD + '5000000,read,0,2,64,0\n5000000,read,1,2,64,0\n')
  config = fabric({'trace': 'two.csv'}, 2)
  process, result = run(emu, folder, config)
  read, over = result['operations']['kinds']['read'], rates(result)
  tap.ok(process.returncode == 0 and read['rated'] == read['completed'] == 2, 'a trace is measured whole',
         read)
  tap.ok(over['from_ps'] == 5000000 and over['to_ps'] - over['from_ps'] == read['latency']['max_ns'] * 1000,
         'two messages at a time: over the time that they took', (over, read['latency']['max_ns']))
  tap.ok(result['time']['measured_to_ps'] >= over['to_ps'] and
         result['phases']['end']['not_reached'] == 0, 'it ends when it has ended', result['time'])
  process, result = run(emu, folder, config, '--duration', '1us')
  tap.ok(process.returncode == 1 and 'nothing was measured: no operation began' in process.stderr and
         result['phases']['end']['not_reached'] == 2 and 'not reached' in process.stdout,
         'what a duration leaves of it is told', why(process))
  process, result = run(emu, folder, config, '--warmup', '6us')
  tap.ok(process.returncode == 1 and 'all 2 operations began in the warm-up of 6us' in process.stderr,
         'unless all of it is warm-up', why(process))


def limits(emu, tap, folder):
  few = {'mix': {'read': 1}, 'size': 64, 'depth': 1, 'operations': 5}
  process, result = run(emu, folder, fabric(few))
  read = result['operations']['kinds']['read']
  tap.ok(process.returncode == 0 and read['completed'] == read['rated'] == 5 and
         abs(read['rate_per_s'] * read['latency']['mean_ns'] * 1e-9 - 1) < 1e-6,
         'so many operations are measured whole, over the time that they take', read)
  process, result = run(emu, folder, fabric(few, clock=virtual(warmup='100us')))
  tap.ok(process.returncode == 1 and 'all 5 operations began in the warm-up of 100us' in process.stderr,
         'those of a warm-up are no sample', why(process))
  process, result = run(emu, folder, fabric({**few, 'operations': 1000}, clock=virtual(duration='10us')))
  end = result['phases']['end']
  tap.ok(process.returncode == 0 and end['not_reached'] == 1000 - result['operations']['begun_all'] > 0,
         'how many a duration leaves is told', (end, why(process)))


def keys(emu, tap, folder):
  with open(os.path.join(folder, 'keys.csv'), 'w', encoding='utf-8') as file:
    file.write(''.join(f'{i},READ,user{i}\n' for i in range(100)))
  process, result = run(emu, folder, fabric({'ycsb': 'trace', 'records': 1000, 'trace': 'keys.csv'}, 2))
  query = result['operations']['queries']['in_all'] if result else {}
  tap.ok(process.returncode == 0 and query.get('completed') == query.get('rated') == 100,
         'a trace of keys is measured whole', (why(process), query))


def drains(emu, tap, folder):
  """Writes in pieces are under way, and not lost; the drain that is told would do."""
  long = {'mix': {'write': 1}, 'size': 1 << 20, 'span': '2MiB', 'depth': 2}
  times = {'warmup': '0', 'duration': '100us'}
  process, result = run(emu, folder, fabric(long, 2, clock=virtual(**times, drain='50us')))
  said = re.search(r'the drain of 50us was over with 4 operations under way.*"drain": "([\w.]+)"',
                   process.stderr)
  tap.ok(process.returncode == 1 and said and 'lost_writes' not in result['operations'] and
         'dropped' not in process.stderr, 'a drain that is over says so', why(process))
  process, _ = run(emu, folder, fabric(long, 2, clock=virtual(**times, drain=said[1] if said else '50us')))
  tap.ok(said and process.returncode == 0, 'the drain that it names does', why(process))


def switches(emu, tap, folder):
  """Half of the payload goes by the other switch, and so do its blocks."""
  config = fabric({'mix': {'read': 1, 'write_ack': 1}, 'size': 1024, 'depth': 8}, 2, backup={},
                  faults=[{'class': 'switch_crash', 'from': '20us'}],
                  clock=virtual(warmup='5us', duration='60us'))
  _, result = run(emu, folder, config)
  shares = [result['links'][way]['payload_share_of_memory_blocks'] for way in ('to_switch', 'from_switch')]
  tap.ok(all(0.5 < share <= 1 for share in shares), 'two switches: no share above 1', shares)


def nobody_asks(emu, tap, folder):
  process, _ = run(emu, folder, fabric(None))
  tap.ok(process.returncode == 0 and re.search(r'^workload +none', process.stdout, re.M),
         'a fabric without a workload says so', why(process))


def interrupted(emu, tap, folder):
  """Ctrl-C in the warm-up: nothing is measured, of no time, and the report and the status say so."""
  config = write(folder, 'long.json', fabric({'mix': {'read': 1}, 'size': 64}))
  args = [emu.program, '--clock', 'virtual', '--warmup', '1h', '--duration', '1s', config]
  with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
    try:
      process.wait(1)
    except subprocess.TimeoutExpired:
      process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
  line = re.search(r'^measured +0 ns, after (.*) of warm-up; all over after (.*)$', out, re.M)
  tap.ok(line and line[1] == line[2] and 'interrupted in the warm-up of' in err and
         process.returncode == 1, 'Ctrl-C in the warm-up', (out[:600], err))


def main(program, root):
  emu, tap = Emu(program, root), Tap()
  with tempfile.TemporaryDirectory() as folder:
    for case in (over_line, in_step, traces, limits, keys, drains, switches, nobody_asks, interrupted):
      case(emu, tap, folder)
  tap.done()


if __name__ == '__main__':
  main(*sys.argv[1:])
