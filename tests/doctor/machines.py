#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""memfab-doctor on made-up machines: for each check what passes, what is warned of and what fails; machines
of which nothing, or only nonsense, is to be read; and this one."""
import json
import os
import random
import subprocess
import sys
import tempfile

DOCTOR, ROOT = map(os.path.abspath, sys.argv[1:])
sys.path.append(os.path.join(ROOT, 'tests', 'fabric'))

from emu import Tap, why

try:
  import jsonschema
except ImportError:
  jsonschema = None

TAP = Tap()
CPU = 'sys/devices/system/cpu/'
NODE = 'sys/devices/system/node/'
PAGES = 'sys/kernel/mm/hugepages/hugepages-2048kB/'
SOURCE = 'sys/devices/system/clocksource/clocksource0/'
NIC = 'sys/bus/pci/devices/0000:01:00.0/'
SMALL = 'examples/quickstart.json'
HOSTS = [f'examples/three-hosts/{name}.json' for name in ('memif', 'veth', 'nic')]
# A machine is a hundred small files, which a disk takes its time for.
MEMORY = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
ROUNDS = 100  # of nonsense
PLACED = '{"nodes": [{"name": "cn0", "role": "compute"}, {"name": "mn0", "role": "memory"}], ' \
         '"memory": {"numa_node": %d}}'
DRIVERS = 'usr/lib/x86_64-linux-gnu/dpdk/pmds-23.0/'


def ported(device, mtu=1500):
  """A fabric whose compute node is behind a port; the switch has another one, which needs nothing."""
  return json.dumps({'nodes': [{'name': 'cn0', 'role': 'compute'}, {'name': 'mn0', 'role': 'memory'}],
                     'ports': [{'name': 'a', 'device': device, 'mtu': mtu},
                               {'name': 'b', 'device': 'net_ring0'}],
                     'links': [{'node': 'cn0', 'carried': {'node': 'a', 'switch': 'b'}}, {'node': 'mn0'}]})


def port(status, device, found, mend='', changes=None, args=(), mtu=1500):
  return (status, {'ports.json': ported(device, mtu), **(changes or {})}, found, mend,
          [*args, 'BASE/ports.json'])


LOCKED = 'Limit                     Soft Limit           Hard Limit           Units\n' \
         'Max locked memory         {0:<20} {0:<20} bytes\n'


class Link(str):
  """What a symbolic link points to."""


def server():
  """Eight cores on two nodes; 2, 3, 6 and 7 are isolated; one NIC is DPDK's, one is Linux's."""
  files = {
    'proc/self/status': 'Name:\tx\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-1,4-5\n',
    'proc/self/limits': LOCKED.format('unlimited'),
    'proc/self/cgroup': '0::/a/b\n',
    'proc/cpuinfo': 'processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\nbugs\t\t:\n',
    'proc/cmdline': 'quiet\n',
    'proc/mounts': 'proc /proc proc rw 0 0\nnodev /huge hugetlbfs rw,pagesize=2M 0 0\n',
    'proc/meminfo': 'MemTotal: 16777216 kB\nMemFree: 1 kB\nMemAvailable: 8388608 kB\nHugePages_Total: 2048\n'
                    'HugePages_Free: 1024\nHugepagesize: 2048 kB\n',
    'proc/sys/vm/unprivileged_userfaultfd': '1\n',
    'sys/fs/cgroup/a/b/cpu.max': 'max 100000\n',
    'sys/fs/cgroup/a/cpu.max': 'max 100000\n',
    CPU + 'online': '0-7\n', CPU + 'isolated': '2-3,6-7\n', CPU + 'nohz_full': '2-3,6-7\n',
    CPU + 'intel_pstate/no_turbo': '1\n',
    NODE + 'online': '0-1\n',
    SOURCE + 'current_clocksource': 'tsc\n', SOURCE + 'available_clocksource': 'tsc hpet acpi_pm \n',
    PAGES + 'nr_hugepages': '2048\n', PAGES + 'free_hugepages': '1024\n',
    'sys/kernel/iommu_groups/12/type': 'DMA\n', 'sys/module/vfio_pci/version': '1\n', 'dev/vfio/12': '',
    'sys/class/net/eth0/flags': '0x1003\n',
  }
  for i in range(8):
    files[f'{CPU}cpu{i}/topology/thread_siblings_list'] = f'{i}\n'
    files[f'{CPU}cpu{i}/cpufreq/scaling_governor'] = 'performance\n'
  for i, cpus in enumerate(('0-3', '4-7')):
    files[f'{NODE}node{i}/cpulist'] = cpus + '\n'
    files[f'{NODE}node{i}/meminfo'] = f'Node {i} MemTotal:  8388608 kB\nNode {i} MemFree: 1 kB\n'
    files[f'{NODE}node{i}/hugepages/hugepages-2048kB/nr_hugepages'] = '1024\n'
  for name, address, kind, driver, node in (('a', '01', '020000', 'vfio-pci', 0),
                                            ('b', '02', '020000', 'ixgbe', 0),
                                            ('c', '03', '010802', 'nvme', 1)):
    device = f'sys/bus/pci/devices/0000:{address}:00.0/'
    files[device + 'class'] = f'0x{kind}\n'
    files[device + 'driver'] = Link(f'../../../../bus/pci/drivers/{driver}')
    files[device + 'numa_node'] = f'{node}\n'
    if name == 'a':
      files[device + 'iommu_group'] = Link('../../../kernel/iommu_groups/12')
    if name == 'b':
      files[device + 'net/eth0/mtu'] = '1500\n'
  return files


def without(*prefixes):
  return {name: None for name in server() if name.startswith(prefixes)}


RAW = {'proc/self/status': 'CapEff:\t0000000000002000\nCpus_allowed_list:\t0-1,4-5\n'}
ADMIN = {'proc/self/status': 'CapEff:\t0000000000001000\nCpus_allowed_list:\t0-1,4-5\n'}
NO_NICS = without('sys/bus/pci/devices/0000:01', 'sys/bus/pci/devices/0000:02')
LINUX_NIC = {NIC + 'driver': Link('../drivers/ice'), NIC + 'net/eth1/mtu': '1500\n'}

# check: [(status, what differs from the server, a part of what is found, of what mends it, more arguments)]
CASES = {
  'cpus': [
    ('pass', {}, '2 lcores on CPUs 2-3', '', []),
    ('pass', {}, '4 lcores on CPUs 2-3,6-7', '', ['--lcores', '2-3,6-7']),
    ('warn', {}, '2 lcores take turns on 1 CPUs', '--lcores', ['--lcores', '(2-3)@3']),
    ('warn', {'sys/fs/cgroup/a/b/cpu.max': '150000 100000\n'}, 'the time of 1.50 of them',
     'echo max >/sys/fs/cgroup/a/b/cpu.max', []),
    ('warn', {'sys/fs/cgroup/a/cpu.max': '50000 100000\n', 'sys/fs/cgroup/a/b/cpu.max': '150000 100000\n'},
     'the time of 0.50 of them', 'echo max >/sys/fs/cgroup/a/cpu.max', []),
    ('warn', {'proc/self/cgroup': '4:cpu,cpuacct:/docker/x\n',
              'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '100000\n',
              'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n'}, 'the time of 1.00 of them',
     'echo -1 >/sys/fs/cgroup/cpu/cpu.cfs_quota_us', []),
    ('pass', {'proc/self/cgroup': '4:cpu,cpuacct:/\n', 'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
              'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n'}, '2 lcores on CPUs 2-3', '', []),
    ('fail', {CPU + 'online': '0-2,4-7\n'}, 'CPUs 3 are not online', '--lcores 0-2,4-7', []),
    ('fail', {CPU + 'isolated': '\n'}, 'may not run on CPUs 2-3', '--lcores 0-1,4-5', []),
    ('warn', without('proc', CPU), 'cannot tell', '--lcores', ['auto']),
  ],
  'isolation': [
    ('pass', {}, 'isolated, without a timer tick', '', []),
    ('pass', {CPU + 'isolated': None, CPU + 'nohz_full': '(null)\n',
              'proc/cmdline': 'quiet isolcpus=managed_irq,domain,2-3 nohz_full=2-3\n'},
     'CPUs 2-3 are isolated', '', []),
    ('warn', {CPU + 'isolated': '\n'}, 'CPUs 2-3 are not isolated', 'isolcpus=2-3', []),
    ('warn', {CPU + 'nohz_full': '3\n'}, 'CPUs 2 have a timer tick', 'nohz_full=2-3', []),
    ('warn', {}, 'CPUs 0-1 are not isolated', 'isolcpus=1-3 ', ['--lcores', '0-3']),
    ('warn', {CPU + 'online': '0\n', CPU + 'isolated': '\n'}, 'CPUs 0 are not', 'more CPUs',
     ['--lcores', '0']),
    ('pass', without(CPU, 'proc'), 'no CPUs are known', '', ['auto']),
  ],
  'smt': [
    ('pass', {}, 'a core for each', '', []),
    ('warn', {f'{CPU}cpu{i}/topology/thread_siblings_list': '2-3\n' for i in (2, 3)},
     'CPUs 2-3 several share', '--lcores 2', []),
    ('warn', {f'{CPU}cpu2/topology/thread_siblings_list': '2,6\n'}, 'CPUs 6 share cores',
     'echo 0 >/sys/devices/system/cpu/cpu6/online', []),
    ('pass', {f'{CPU}cpu2/topology/thread_siblings_list': '2,9\n'}, 'a core for each', '', []),
    ('pass', without(CPU + 'cpu'), 'cannot tell', '', []),
  ],
  'numa': [
    ('pass', {}, 'CPUs 2-3 on node 0 of 2', '', []),
    ('warn', {}, 'on 2 of 2 nodes', '--lcores 2-3', ['--lcores', '2-3,6']),
    ('warn', {NODE + 'node0/hugepages/hugepages-2048kB/nr_hugepages': '0\n'},
     'all 1024 huge pages are on other',
     'echo 1024 >/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages', []),
    ('fail', {NODE + 'node0/meminfo': 'Node 0 MemTotal:       0 kB\n'}, 'node 0 has no memory',
     '/sys/devices/system/node/node1/cpulist', []),
    ('pass', without(NODE), 'not known here', '', []),
  ],
  'clock': [
    ('pass', {}, 'constant_tsc, nonstop_tsc; the kernel\'s clock is tsc', '', []),
    ('warn', {SOURCE + 'current_clocksource': 'hpet\n'}, 'clock is hpet', 'echo tsc >/sys', []),
    ('warn', {SOURCE + 'current_clocksource': 'kvm-clock\n',
              SOURCE + 'available_clocksource': 'kvm-clock xtsc\n'},
     'kvm-clock', 'tsc=reliable', []),
    ('warn', {'proc/cpuinfo': 'flags : constant_tsc\n'}, 'stops in deep sleep', 'max_cstate', []),
    ('fail', {'proc/cpuinfo': 'flags : tsc nonstop_tsc not_constant_tsc\n'}, 'no constant_tsc',
     'invariant TSC', []),
    ('pass', {'proc/cpuinfo': 'Features : fp asimd\n'}, 'says nothing', '', []),
    ('pass', without('proc/cpuinfo', SOURCE), 'says nothing', '', []),
  ],
  'frequency': [
    ('pass', {}, 'governor performance; turbo is off', '', []),
    ('warn', {CPU + 'cpu3/cpufreq/scaling_governor': 'powersave\n'}, 'governor powersave on CPUs 3',
     'cpupower -c 3 frequency-set -g performance', []),
    ('pass', {CPU + 'cpu5/cpufreq/scaling_governor': 'powersave\n'}, 'governor performance', '', []),
    ('warn', {CPU + 'intel_pstate/no_turbo': '0\n'}, 'turbo is on',
     'echo 1 >/sys/devices/system/cpu/intel_pstate', []),
    ('warn', {CPU + 'intel_pstate/no_turbo': None, CPU + 'cpufreq/boost': '1\n'}, 'turbo is on',
     'echo 0 >/sys/devices/system/cpu/cpufreq/boost', []),
    ('pass', without(CPU + 'cpu', CPU + 'intel'), 'no governor', '', []),
  ],
  'hugepages': [
    ('pass', {}, '2048kB: 1024 of 2048 free; mounted at /huge', '', []),
    ('warn', {PAGES + 'nr_hugepages': '0\n', PAGES + 'free_hugepages': '0\n'}, '0 of 0 free',
     'echo 1024 >/sys', []),
    ('warn', {PAGES + 'free_hugepages': '0\n'}, '0 of 2048 free', 'rm /huge/*map_*', []),
    ('warn', {PAGES + 'nr_hugepages': '0\n', PAGES + 'free_hugepages': '0\n',
              'proc/mounts': 'proc /proc proc rw 0 0\n'}, '0 of 0 free',
     'nr_hugepages && mkdir -p /dev/hugepages && mount -t hugetlbfs', []),
    ('warn', {PAGES + 'nr_hugepages': 'many\n'}, 'none to be seen', '/dev/hugepages', []),
    ('fail', {'proc/mounts': 'proc /proc proc rw 0 0\n'}, 'not mounted', 'mount -t hugetlbfs', []),
    ('warn', without(PAGES), 'none to be seen', '/dev/hugepages', []),
  ],
  'memlock': [
    ('pass', {}, 'no limit', '', []),
    ('pass', {'proc/self/limits': LOCKED.format(8388608), 'proc/self/status': 'CapEff:\t0000000000004000\n'},
     '8192 KiB, but', '', []),
    ('pass', {'proc/self/limits': LOCKED.format(2 << 30)}, '2097152 KiB may be locked', '', []),
    ('warn', {'proc/self/limits': LOCKED.format(8388608), **LINUX_NIC}, '8192 KiB may',
     'ulimit -l unlimited', []),
    ('fail', {'proc/self/limits': LOCKED.format(8388608)}, '8192 KiB may', 'ulimit -l unlimited', []),
    ('pass', {'proc/self/limits': None}, 'not known here', '', []),
    ('pass', {'proc/self/limits': LOCKED.format('many')}, 'not known here', '', []),
  ],
  'nics': [
    ('pass', {}, '0000:01:00.0: DPDK\'s by vfio-pci; 0000:02:00.0: eth0 by ixgbe, up', '', []),
    ('pass', {NIC + 'driver': Link('x/mlx5_core'), NIC + 'net/eth1/mtu': '1'},
     'eth1 by mlx5_core, down, DPDK\'s', '', []),
    ('pass', NO_NICS, 'no network device on PCI', '', []),
    ('warn', LINUX_NIC, 'eth1 by ice, down', 'dpdk-devbind.py -b vfio-pci 0000:01:00.0', []),
    ('warn', {NIC + 'driver': None}, '0000:01:00.0: no driver', 'vfio-pci 0000:01:00.0', []),
    ('warn', {**LINUX_NIC, 'sys/class/net/eth1/flags': '0x1003\n'}, 'eth1 by ice, up',
     'net_af_packet,iface=eth', []),
    ('warn', {NIC + 'driver': Link('x/virtio-pci'), NIC + 'virtio3/net/eth1/mtu': '1'},
     'eth1 by virtio-pci, down', 'devbind', []),
    ('warn', {NIC + 'numa_node': '1\n'}, 'on node 1, none of the CPUs is', 'node1/cpulist', []),
    ('pass', {NIC + 'numa_node': '-1\n'}, 'DPDK\'s by vfio-pci', '', []),
    ('pass', {f'sys/bus/pci/devices/0000:05:00.{i}/class': '0x020000\n' for i in range(8)}, 'and 2 more', '',
     []),
  ],
  'vfio': [
    ('pass', {}, 'vfio-pci is there; IOMMU on', '', []),
    ('pass', NO_NICS, 'no device would', '', []),
    ('pass', {NIC + 'driver': Link('x/mlx5_core')}, 'no device would', '', []),
    ('warn', {'sys/module/vfio_pci/version': None, **LINUX_NIC}, 'not loaded', 'modprobe vfio-pci', []),
    ('warn', {'sys/kernel/iommu_groups/12/type': None, **LINUX_NIC}, 'no IOMMU', 'intel_iommu=on', []),
    ('warn', {'sys/kernel/iommu_groups/12/type': None,
              'sys/module/vfio/parameters/enable_unsafe_noiommu_mode': 'Y\n'}, 'goes without',
     'intel_iommu=on', []),
    ('fail', {'sys/kernel/iommu_groups/12/type': None}, 'no IOMMU', 'enable_unsafe_noiommu_mode', []),
    ('fail', {'dev/vfio/12': None}, '/dev/vfio/12 of 0000:01:00.0 cannot', 'chown $USER /dev/vfio/12', []),
    ('pass', {'dev/vfio/12': None, 'dev/vfio/noiommu-12': ''}, 'IOMMU on', '', []),
  ],
  'userfaultfd': [
    ('pass', {}, 'everybody', '', []),
    ('pass', {'proc/sys/vm/unprivileged_userfaultfd': '0\n',
              'proc/self/status': 'CapEff:\t0000000000080000\n'},
     'this process may', '', []),
    ('pass', {'proc/sys/vm/unprivileged_userfaultfd': '0\n', 'dev/userfaultfd': ''}, 'by /dev/userfaultfd',
     '', []),
    ('warn', {'proc/sys/vm/unprivileged_userfaultfd': '0\n'}, 'only for faults of user space', 'sysctl vm.',
     []),
    ('warn', {'proc/sys/vm/unprivileged_userfaultfd': None}, 'has none', 'CONFIG_USERFAULTFD', []),
  ],
  'fabric cpus': [
    ('pass', {}, 'a CPU for each of 6 roles', '', ['--lcores', '0-5', SMALL]),
    ('warn', {}, '6 roles take turns on 4 CPUs', '--lcores with 6 CPUs', ['auto', SMALL]),
    ('pass', without('proc', CPU), '6 roles, and no CPUs are known', '', ['auto', SMALL]),
  ],
  'fabric numa': [
    ('pass', {'numa.json': PLACED % 1}, 'that are named are there', '', ['BASE/numa.json']),
    ('fail', {'numa.json': PLACED % 2}, 'mn0 is to be on node 2, there are 0-1', '-1', ['BASE/numa.json']),
    ('pass', {'numa.json': PLACED % 2, NODE + 'online': None}, 'no NUMA here', '', ['BASE/numa.json']),
  ],
  'fabric ports': [
    port('pass', 'net_memif0,role=server,id=0,socket=x', 'a: net_memif0; b: net_ring0'),
    port('pass', 'net_memif0,role=server,socket=/run/x.sock,socket-abstract=no', 'a: net_memif0',
         changes={'run/y': ''}),
    port('fail', 'net_memif0,role=client,socket=/run/x.sock,socket-abstract=no', 'no folder /run',
         'mkdir -p /run'),
    port('fail', 'net_memif0,role=server,socket=/run/x.sock,socket-abstract=no',
         'a regular file is there, and not a socket', 'another socket=', {'run/x.sock': ''}),
    port('fail', 'net_memif0,role=client,socket=/run/y/x.sock,socket-abstract=no',
         'this is no folder: /run/y', 'another socket=', {'run/y': ''}),
    port('pass', 'net_memif0', 'a: net_memif0', changes={DRIVERS + 'librte_net_memif.so.23': '',
                                                        DRIVERS + 'librte_net_ring.so': ''}),
    port('fail', 'net_memif0', 'this DPDK has no net_memif', "apt-get install 'librte-net-memif.*'",
         {DRIVERS + 'librte_net_memifs.so.23': '', DRIVERS + 'librte_net_ring.so.23': ''}),
    port('warn', 'net_memif0', '2 processes poll on 1 CPUs', '2 CPUs',
         {'proc/self/status': 'Cpus_allowed_list:\t3\n', CPU + 'isolated': '\n'}),
    port('pass', 'net_af_packet0,iface=eth0', 'a: net_af_packet0', changes=RAW),
    port('fail', 'net_af_packet0,iface=eth0', 'no CAP_NET_RAW', 'setcap cap_net_raw'),
    port('pass', 'net_af_packet0,iface=eth0', 'a: net_af_packet0',
         changes={'proc/self/status': 'Name:\tx\n'}),
    port('fail', 'net_af_packet0', 'it has no iface=', 'iface=INTERFACE', RAW),
    port('warn', 'net_af_packet0,iface=eth9', 'no interface eth9', '--run', RAW),
    port('fail', 'net_af_packet0,iface=eth9', 'no interface eth9', '--run', RAW, ('--run', 'cn0')),
    port('warn', 'net_af_packet0,iface=../eth0', 'no interface ../eth0', '--run', RAW),
    port('pass', 'net_af_packet0,iface=eth9', 'b: net_ring0', '', RAW, ('--run', 'sw0')),
    port('pass', 'net_af_packet0,iface=eth9', 'none is of these roles', '', RAW, ('--run', 'mn0')),
    port('fail', 'net_af_packet0,iface=eth0', 'eth0 is down', 'ip link set eth0 up',
         {**RAW, 'sys/class/net/eth0/flags': '0x1002\n'}),
    port('fail', 'net_af_packet0,iface=eth0', 'an MTU of 100, the port one of 1500',
         'ip link set eth0 mtu 1500', {**RAW, 'sys/class/net/eth0/mtu': '100\n'}),
    port('warn', 'net_af_packet0,iface=eth0', 'an MTU of 1500, the port one of 9000: frames are that short',
         'ip link set eth0 mtu 9000', {**RAW, 'sys/class/net/eth0/mtu': '1500\n'}, mtu=9000),
    port('fail', 'net_af_packet0,iface=eth0', 'do not fit in framesz=2048', 'framesz=16384,blocksz=32768',
         RAW, mtu=9000),
    port('pass', 'net_af_packet0,iface=eth0,framesz=16384,blocksz=32768', 'a: net_af_packet0', '', RAW,
         mtu=9000),
    port('fail', 'net_af_packet0,iface=eth0,framesz=9065', 'framesz=9065', 'framesz', RAW, mtu=9000),
    port('fail', 'net_af_xdp0,iface=eth0', 'no CAP_NET_ADMIN', 'cap_net_admin', RAW),
    port('fail', 'net_tap0', 'no CAP_NET_ADMIN', 'cap_net_admin'),
    port('fail', 'net_tap0', '/dev/net/tun cannot', 'modprobe tun', ADMIN),
    port('pass', 'net_tap0', 'a: net_tap0', '', {**ADMIN, 'dev/net/tun': ''}),
    port('pass', '0000:01:00.0', 'a: 0000:01:00.0, by vfio-pci'),
    port('pass', '01:00.0,x=1', 'a: 01:00.0, by vfio-pci'),
    port('fail', '0000:01:00.0', 'no huge pages', 'nr_hugepages', {'proc/meminfo': 'HugePages_Free: 0\n'}),
    port('fail', '0000:02:00.0', 'ixgbe has it, and it is up', 'devbind.py --force -b vfio-pci 0000:02:00.0'),
    port('fail', '0000:01:00.0', 'no driver has it', 'devbind.py -b vfio-pci 0000:01:00.0',
         {NIC + 'driver': None}),
    port('warn', '0000:03:00.0', 'no such network device', '--run'),
    port('fail', '0000:09:00.0', 'no such network device', '--status-dev', None, ('--run', 'cn0')),
    port('pass', 'my_own_device7,a=b', 'a: my_own_device7'),
  ],
  'fabric memory': [
    ('pass', {}, '128 MiB at memory nodes; 8192 of 16384 MiB are free', '', [SMALL]),
    ('warn', {'proc/meminfo': 'MemTotal: 1048576 kB\nMemAvailable: 65536 kB\n'}, '64 of 1024 MiB are free',
     'end', [SMALL]),
    ('warn', {'proc/meminfo': 'MemTotal: 1048576 kB\nMemAvailable: 1048576 kB\nHugePages_Total: 20\n'
                              'HugePages_Free: 15\nHugepagesize: 2048 kB\n'},
     '64 huge pages are wanted, 15 are free', 'echo 69 >/proc/sys/vm/nr_hugepages', [SMALL]),
    ('fail', {'proc/meminfo': 'MemTotal: 65536 kB\n'}, 'there are 64 MiB in all', 'smaller', [SMALL]),
    ('fail', {'sys/fs/cgroup/a/memory.max': '67108864\n'}, 'there are 64 MiB in all', 'smaller', [SMALL]),
    ('pass', {'sys/fs/cgroup/a/memory.max': 'max\n'}, '8192 of 16384', '', [SMALL]),
    ('pass', {'proc/meminfo': None}, 'cannot be told', '', [SMALL]),
  ],
}


def build(folder, files):
  for name, text in files.items():
    path = os.path.join(folder, name)
    if text is None:
      continue
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if isinstance(text, Link):
      os.symlink(text, path)
    else:
      with open(path, 'wb') as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def doctor(*args, timeout=300):
  """The finished process, and its JSON."""
  with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
    path = os.path.join(folder, 'outcome.json')
    run = subprocess.run([DOCTOR, '--json', path, *args], stdin=subprocess.DEVNULL, capture_output=True,
                         timeout=timeout, check=False, cwd=ROOT, text=True, errors='replace')
    try:
      with open(path, encoding='utf-8') as file:
        return run, json.load(file)
    except (OSError, ValueError):
      return run, None


def agree(run, outcome):
  """Text, JSON and exit status say the same."""
  if outcome is None or run.returncode not in (0, 1):
    return False
  lines = run.stdout.splitlines()
  bad = any(check['status'] == 'fail' for check in outcome['checks'])
  same = all(line.startswith(check['status'] + '  ' + check['check'])
             and ('; mend: ' in line) == (check['status'] != 'pass') == ('mend' in check)
             for line, check in zip(lines, outcome['checks']))
  return same and len(lines) == len(outcome['checks']) + 1 and run.returncode == int(bad)


def one(check, status, changes, found, mend, args):
  with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
    build(folder, {**server(), **changes})
    lcores = [] if 'auto' in args or '--lcores' in args else ['--lcores', '2-3']
    run, outcome = doctor('--root', folder, *lcores,
                          *(a.replace('BASE', folder) for a in args if a != 'auto'))
  got = [c for c in outcome['checks'] if c['check'] == check] if outcome else []
  TAP.ok(len(got) == 1 and got[0]['status'] == status and found in got[0]['found']
         and (status == 'pass' or mend in got[0]['mend']) and agree(run, outcome),
         f'{check}: {status}, {found}', f'{got}\n{why(run)}\n{run.stdout}')


def whole():
  with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
    build(folder, server())
    run, outcome = doctor('--root', folder, '--lcores', '2-3')
    left = [c for c in outcome['checks'] if c['status'] != 'pass' and c['check'] != 'dpdk']
    TAP.ok(agree(run, outcome) and run.returncode == 0 and not left, 'a good server passes', run.stdout)
    TAP.ok(outcome['failed'] == 0 and outcome['passed'] + outcome['warnings'] == len(outcome['checks']),
           'sums')
    run, outcome = doctor('--root', folder)
    TAP.ok('4 lcores on CPUs 2-3,6-7' in run.stdout, 'isolated CPUs are preferred', run.stdout)
  with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
    for args in ([], ['--lcores', '0-1'], [SMALL], *([f] for f in HOSTS)):
      run, outcome = doctor('--root', folder, *args)
      TAP.ok(agree(run, outcome) and run.returncode == 0, f'an empty root, {args}: no failure, no end',
             why(run))


def nonsense():
  """Whatever the files hold: an end, and no crash."""
  seed = 11
  rng = random.Random(seed)
  good = 0
  for round_ in range(ROUNDS):
    files = server()
    for name in files:
      if isinstance(files[name], Link) or rng.random() < 0.4:
        continue
      kind = rng.randrange(4)
      if kind == 0:
        files[name] = bytes(rng.randrange(256) for _ in range(rng.randrange(200)))
      elif kind == 1:
        files[name] = str(rng.choice([-1, 0, 2 ** 31, 2 ** 63, 2 ** 64, 10 ** 30, '0x', '1-', '0-99999999']))
      elif kind == 2:
        files[name] = files[name].encode()[:rng.randrange(12)]
      else:
        files[name] = 'x,' * 20000
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
      build(folder, files)
      for name in ('proc/self/status', NODE + 'online', PAGES + 'nr_hugepages'):
        if round_ % 3 == 0:
          os.unlink(os.path.join(folder, name))
          os.mkfifo(os.path.join(folder, name))
      run, outcome = doctor('--root', folder,
                            *rng.choice([[], ['--lcores', '2-3'], [SMALL], *([f] for f in HOSTS)]))
    good += agree(run, outcome)
    if not agree(run, outcome):
      TAP.ok(False, f'seed {seed}, round {round_}', f'{why(run)}\n{run.stdout}')
  TAP.ok(good == ROUNDS, 'nonsense, and files that would make a reader wait', good)


def here():
  """This machine: whatever it is like, all is said, and nothing of it is changed."""
  run, outcome = doctor('--noise', '0.01', SMALL)
  TAP.ok(agree(run, outcome), 'this machine', f'{why(run)}\n{run.stdout}')
  noise = [c for c in outcome['checks'] if c['check'] == 'noise']
  TAP.ok(len(noise) == 1 and all(0 < cpu['share'] <= 1 for cpu in noise[0]['detail']), 'its noise', noise)
  run, outcome = doctor('--noise', '0')
  TAP.ok(agree(run, outcome) and 'noise' not in run.stdout, 'without listening', run.stdout)
  if jsonschema is None:
    return TAP.skip('as the schema says', 'python3-jsonschema is not installed')
  with open(os.path.join(ROOT, 'docs', 'doctor.schema.json'), encoding='utf-8') as file:
    schema = json.load(file)
  check = jsonschema.validators.validator_for(schema)
  check.check_schema(schema)
  run, outcome = doctor('--noise', '0.01', SMALL)
  errors = [e.message[:200] for e in check(schema).iter_errors(outcome)]
  TAP.ok(not errors, 'as the schema says', errors)
  del outcome['checks'][0]['found']
  return TAP.ok(list(check(schema).iter_errors(outcome)), 'the schema misses what is not there')


def usage():
  for name, args in {
      'unknown option': ['--fast'], 'two files': [SMALL, SMALL], 'no list': ['--lcores', 'all'],
      'empty list': ['--lcores', ''], 'noise that is no number': ['--noise', 'loud'],
      'negative': ['--noise', '-1'],
      'too long': ['--noise', '61'], 'no number': ['--noise', 'nan'], 'no such root': ['--root', 'nowhere'],
      'root that is a file': ['--root', SMALL], 'no such fabric': ['nowhere.json'],
      'no fabric': ['Makefile.json'], 'roles of nothing': ['--run', 'cn0'],
      'no such role': ['--run', 'cn9', SMALL]}.items():
    run = subprocess.run([DOCTOR, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=300,
                         check=False, cwd=ROOT)
    TAP.ok(run.returncode == 2 and run.stdout == '' and run.stderr.count('\n') == 1, name, why(run))
  run, _ = doctor('--json', os.path.join('nowhere', 'x.json'))
  TAP.ok(run.returncode == 2, 'a result into a folder that is not there', why(run))


for CHECK, LIST in CASES.items():
  for CASE in LIST:
    one(CHECK, *CASE)
whole()
nonsense()
here()
usage()
TAP.done()
