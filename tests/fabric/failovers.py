#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two switches, a compute and a memory node, each a process of its own. The switch that schedules is killed
under load, without a word, and started again with nothing; then the other one, and so on. No operation fails,
none is done twice, no read finds wrong data.

  failovers.py EMU ROOT [--kills N] [--over memif|veth] [--seed N]

Without options a few, as a test. Prints a table: the longest read of a round with kills, of one without, and
the difference.
"""
import time

from parts import NODES, WAIT, fabric
from rounds import Rounds, options, over_each, reasons
from two_switches import SWITCHES, Veth, carried, memif, veth

SILENCE = 1.0  # until a link whose partner says nothing is down, seconds
TIMERS = {'hello': '20ms', 'silence': f'{SILENCE * 1000:.0f}ms', 'replay_max': '20ms'}
LONGEST = {'memif': 2.0, 'veth': 4.0}  # of an operation; a switch that is back knows all when it is over


def longest(result):
  """Of a read, ms."""
  return result['operations']['kinds']['read']['latency']['max_ns'] / 1e6


def failed(result):
  """Of what was begun behind the warm-up, in which nobody is killed."""
  phases = result['phases']
  return phases['steady']['messages']['failed'] + phases['drain']['messages']['failed']


def both_up(group, switch, again):
  """@param again  it was there before"""
  text = f'is up ({switch}{", again" if again else ""})'
  return all(group.waits_for(node, text, times=again or 1) for node in NODES)


class Failovers(Rounds):
  head = ('kills', 'take-overs', 'completed', 'verified', 'failed', 'wrong', 'usual ms', 'longest ms',
          'bump ms')
  client = 'cn'
  quiet_first = True
  patience = SILENCE / 2  # a node that stands still for so long in all may lose the other switch, too
  usual = 0  # longest read of the round without kills, ms

  def config(self):
    made = fabric(veth() if self.spaces else memif('failovers'), {}, duration='1000s', scheduler={'x': 16})
    made['clock']['wall']['warmup'] = '1s'  # while all of them agree on an epoch: what begins then may fail
    made['links'] = carried('sw0', **TIMERS)
    made['backup'] = {'links': carried('sw1', **TIMERS)}
    made['host'] = {key: f'{LONGEST[self.over] * 1000:.0f}ms' for key in ('read_timeout', 'write_timeout')}
    made['workload'][0] = {'mix': {'read': 4, 'write': 2, 'write_ack': 2, 'cas': 1, 'fadd': 1}, 'depth': 8,
                           'span': '64KiB', 'size': {'dist': 'uniform', 'min': 8, 'max': 3000}}
    return made

  def play(self, group, path, rng, kills):
    """@return results of the nodes; None: there are none"""
    for role in (*SWITCHES, *NODES):
      group.start(role, path)
    if not all(both_up(group, switch, 0) for switch in SWITCHES):
      return None
    time.sleep(1.5)
    for kill in range(kills):
      # A switch is in its place some time after its links.
      time.sleep(LONGEST[self.over] + 1 + rng.uniform(0, 0.5))
      switch = SWITCHES[kill % 2]
      group.kill(switch)
      if not all(group.waits_for(node, f'{node}-{switch} is down', times=kill // 2 + 1) for node in NODES):
        return None
      time.sleep(rng.choice((0, 0.5)) * rng.random())
      group.start(switch, path)
      if not both_up(group, switch, kill // 2 + 1):
        return None
    time.sleep(0.5)
    # The client before those that it needs, or what it has under way fails for their leaving.
    group.interrupt('cn')
    group.running['cn'].wait(WAIT)
    group.interrupt(*SWITCHES, 'mn')
    group.end()
    results = {node: group.result(node) for node in NODES}
    return results if None not in results.values() else None

  def judge(self, results, kills):
    done, ours = results['cn']['operations'], results['cn']['backup']
    return reasons({
      f'{failed(results["cn"])} operations failed: {done["failed_by_cause"]}': failed(results['cn']) > 0,
      f'{done["mismatches"]} reads found wrong data': done['mismatches'] > 0,
      'nothing was verified': done['verified'] == 0,
      f'{ours["epoch"]} epochs in {kills} kills': ours['epoch'] < kills,
      f'{results["cn"]["phases"]["end"]["under_way"]} operations are not over':
        results['cn']['phases']['end']['under_way'] > 8})

  def row(self, results, kills):
    result = results['cn']
    done, took = result['operations'], longest(result)
    if kills == 0:
      self.usual = took
    return (kills, result['backup']['epoch'], done['completed_all'], done['verified'], failed(result),
            done['mismatches'], round(self.usual), round(took), round(took - self.usual))


def main():
  args = options('Kills the switches of a fabric in turn.').parse_args()

  def test(tap, emu, over, kills, spaces):
    faults = Failovers(over, spaces).run(emu, kills, args.seed)
    tap.ok(not faults, f'{over}: switches killed {kills} times, nothing is lost or wrong, seed {args.seed}',
           '\n'.join(faults[:2]))

  over_each('failovers', args, 3, test, Veth)


main()
