#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the command line may not say: exit 2, one line that names the option, and nothing is started."""
import os
import sys

from perf import Perf, Tap, why

# What is given, and what the line says behind the name of the program.
REFUSED = {
  'nothing': ([], 'no test and no fabric file'),
  'no file': (['read_lat'], 'a test and a fabric file are needed'),
  'two files': (['read_lat', 'FILE', 'FILE'], 'more than one test'),
  'unknown test': (['send_lat', 'FILE'], "there is no test 'send_lat'"),
  'unknown option': (['read_lat', '--fast', 'FILE'], "there is no option '--fast'"),
  'unknown short option': (['read_lat', '-x', 'FILE'], "there is no option '-x'"),
  'option without its value': (['read_lat', 'FILE', '-s'], "option '-s' needs an argument"),
  'a value too many': (['read_lat', '--all=2', 'FILE'], "option '--all=2' takes no argument"),
  'size too large': (['read_lat', '-s', '33MiB', 'FILE'], 'option -s: 33MiB is more than 32MiB'),
  'size 0': (['read_lat', '-s', '0', 'FILE'], 'option -s: an operation has at least 1 octet'),
  'size that is none': (['read_lat', '-s', '4kB', 'FILE'], "option -s: '4kB' is not a size"),
  'size of an atomic': (['atomic_lat', '-s', '16', 'FILE'], 'option -s: atomics have 8 octets'),
  'all sizes of an atomic': (['atomic_lat', '-a', 'FILE'], 'option -s: atomics have 8 octets'),
  'all sizes of a matrix': (['bandwidth_matrix', '-a', 'FILE'], 'option -s: bandwidth_matrix has one size'),
  'more than the memory': (['read_bw', '-s', '3MiB', 'FILE'],
                           'option -s: 3MiB at depth 16 is more than the memory'),
  'more than the buffers': (['read_bw', '-s', '8MiB', '-t', '64', 'FILE'],
                            'option -s: 8MiB at depth 64 is more than'),
  'iterations 0': (['read_lat', '-n', '0', 'FILE'], 'option -n: 0 is out of range'),
  'iterations that are none': (['read_lat', '-n', '1e3', 'FILE'], "option -n: '1e3' is not a whole number"),
  'negative iterations': (['read_lat', '-n', '-5', 'FILE'], "option -n: '-5' is not a whole number"),
  'too many iterations': (['read_lat', '-n', '99999999999999999999', 'FILE'],
                          'option -n: 99999999999999999999 is out'),
  'iterations of a curve': (['loaded_latency', '-n', '5', 'FILE'], 'option -n: loaded_latency goes by time'),
  'duration that is none': (['read_lat', '-D', 'long', 'FILE'], "option -D: 'long' is not a time"),
  'duration 0': (['read_lat', '-D', '0', 'FILE'], 'option -D: 0 is out of range'),
  'duration of a month': (['read_lat', '-D', '2592001', 'FILE'], 'option -D: 2592001 is out of range'),
  'duration of a year': (['read_lat', '-D', '31536000', 'FILE'], 'option -D: 31536000 is out of range'),
  'depth 0': (['read_lat', '-t', '0', 'FILE'], 'option -t: 0 is out of range'),
  'depth too large': (['read_lat', '-t', '65537', 'FILE'], 'option -t: 65537 is out of range'),
  'more clients than nodes': (['read_lat', '-q', '4', 'FILE'],
                              'option -q: 4 clients are more than the 3 compute'),
  'no clients': (['read_lat', '-q', '0', 'FILE'], 'option -q: 0 is out of range'),
  'rate that is none': (['read_lat', '--rate', 'much', 'FILE'], "option --rate: 'much' is not a number"),
  'rate of two units': (['read_lat', '--rate', '1MM', 'FILE'], "option --rate: '1MM' is not a number"),
  'negative rate': (['read_lat', '--rate', '-1', 'FILE'], "option --rate: '-1' is not a number"),
  'rate too high': (['read_lat', '--rate', '1001G', 'FILE'], 'option --rate: 1001G is out of range'),
  'rate of a matrix': (['bandwidth_matrix', '--rate', '1M', 'FILE'], 'option --rate: has no effect'),
  'burst without rate': (['read_lat', '--burst', '4', 'FILE'],
                         'option --burst: has no effect without a rate'),
  'pattern that is none': (['read_lat', '--pattern', 'ring', 'FILE'], "option --pattern: 'ring' is none of"),
  'pattern of a matrix': (['bandwidth_matrix', '--pattern', 'zipf', 'FILE'],
                          'option --pattern: has no effect'),
  'mix of another test': (['read_lat', '--mix', 'read:1', 'FILE'],
                          'option --mix: has no effect but in the test mixed'),
  'mix of nothing': (['mixed', '--mix', 'read:0', 'FILE'], "option --mix: 'read:0' has no weight above 0"),
  'mix of what is not there': (['mixed', '--mix', 'erase:1', 'FILE'], "option --mix: 'erase:1' is none of"),
  'mix that names a kind twice': (['mixed', '--mix', 'read:1,write:1,read:2', 'FILE'],
                                  'option --mix: read is named twice'),
  'mix in hexadecimal': (['mixed', '--mix', 'read:0x10', 'FILE'],
                         "option --mix: 'read:0x10' is not a weight from 0 to 10^9"),
  'mix with a blank': (['mixed', '--mix', 'read: 1', 'FILE'], "option --mix: 'read: 1' is not a weight"),
  'mix that ends with a comma': (['mixed', '--mix', 'read:1,', 'FILE'], "option --mix: '' is none of"),
  'mix with a gap': (['mixed', '--mix', 'read:1,,write:1', 'FILE'], "option --mix: '' is none of"),
  'mix without an end': (['mixed', '--mix', 'read:1,write:' + '0' * 200 + 'x', 'FILE'], 'option --mix: '),
  'rate in hexadecimal': (['read_lat', '--rate', '0x10', 'FILE'], "option --rate: '0x10' is not a number"),
  'rate without bound': (['read_lat', '--rate', '1e400', 'FILE'], 'option --rate: 1e400 is out of range'),
  'mix with a bad weight': (['mixed', '--mix', 'read:x', 'FILE'], "option --mix: 'read:x' is not a weight"),
  'unknown clock': (['read_lat', '--clock', 'cuckoo', 'FILE'], "option --clock: 'cuckoo' is neither"),
  'negative warm-up': (['read_lat', '--warmup', '-1ms', 'FILE'], "option --warmup: '-1ms' is not a time"),
  'seed that is none': (['read_lat', '--seed', 'x', 'FILE'], "option --seed: 'x' is not a number"),
  'period too short': (['read_lat', '--stats-period', '0', 'FILE'],
                       "option --stats-period: '0s' is out of range"),
  'one histogram for all sizes': (['read_lat', '-a', '--hgrm', 'NOWHERE/x', 'FILE'],
                                  'option --hgrm: has one'),
  'histogram of a prompt': (['-i', '--hgrm', 'NOWHERE/x', 'FILE'],
                            'option --hgrm: has no effect with commands'),
  'result of a prompt': (['-i', '--out_json', 'NOWHERE/x', 'FILE'],
                         'option --out_json: has no effect with commands'),
  'latency that there is not': (['write_bw', '--hgrm', 'NOWHERE/x', 'FILE'],
                                'option --hgrm: writes that are not'),
  'result into a folder that is not there': (['read_lat', '--out_json', 'NOWHERE/x', 'FILE'],
                                             'NOWHERE/x: No such'),
  'histogram into a folder that is not there': (['read_lat', '--hgrm', 'NOWHERE/x', 'FILE'],
                                                'NOWHERE/x: No such'),
  'EAL options of the virtual clock': (['-l', '0', '--', 'read_lat', '--clock', 'virtual', 'FILE'],
                                       'EAL options have'),
}


def main(program, _, root):
  perf, tap = Perf(program, root), Tap()
  nowhere = os.path.join(root, 'nowhere')
  for name, (args, says) in REFUSED.items():
    args = [perf.rack if a == 'FILE' else a.replace('NOWHERE', nowhere) for a in args]
    process = perf.run(*args)
    line = 'memfab-perf: ' + says.replace('NOWHERE', nowhere)
    tap.ok(process.returncode == 2 and process.stdout == '' and process.stderr.startswith(line)
           and process.stderr.count('\n') == 1, name, why(process))

  bad = os.path.join(root, 'tests', 'fabric', 'bad', 'work_mix.json')
  process = perf.run('read_lat', bad)
  tap.ok(process.returncode == 2 and process.stderr.startswith(bad + ':') and process.stderr.count('\n') == 1,
         'a faulty fabric file', why(process))
  process = perf.run('read_lat', nowhere + '.json')
  tap.ok(process.returncode == 2 and 'No such file' in process.stderr, 'no fabric file', why(process))
  process = perf.run('--help')
  tap.ok(process.returncode == 0 and 'Exit status' in process.stdout, '--help', why(process))
  process = perf.run('--version')
  tap.ok(process.returncode == 0 and process.stdout.startswith('memfab-perf '), '--version', why(process))
  tap.done()


main(*sys.argv[1:])
