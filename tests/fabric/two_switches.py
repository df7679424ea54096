# SPDX-License-Identifier: BSD-3-Clause
"""Two switches, a compute and a memory node, each a process of its own: the ports between them."""
import os

from parts import NODES, Spaces

SWITCHES = ('sw0', 'sw1')


def memif(name):
  """Ports of the links to both switches, which are the servers."""
  ports = []
  for k, switch in enumerate(SWITCHES):
    for number, node in enumerate(NODES):
      socket = f'socket=memfab-{name}-{os.getpid()}-{node}-{switch}'
      ports += [{'name': f'{node}-{switch}', 'device': f'net_memif{k},role=client,{socket}'},
                {'name': f'{switch}-{node}', 'device': f'net_memif{number},role=server,{socket}'}]
  return ports


def veth():
  """The same: a pair of devices for each link."""
  ports = []
  for k, switch in enumerate(SWITCHES):
    for number, node in enumerate(NODES):
      ports += [{'name': f'{node}-{switch}', 'device': f'net_af_packet{k},iface={node}{k}'},
                {'name': f'{switch}-{node}', 'device': f'net_af_packet{number},iface={switch}{number}'}]
  return ports


def carried(switch, **more):
  """@param more  of each link: hello, silence and so on"""
  return [{'node': node, 'carried': {'node': f'{node}-{switch}', 'switch': f'{switch}-{node}', **more}}
          for node in NODES]


class Veth(Spaces):
  """A namespace for each role."""

  def __init__(self):
    super().__init__()
    self.space = {role: f'{self.name}{role}' for role in (*SWITCHES, *NODES)}

  def __enter__(self):
    if os.getuid() != 0:
      self.reason = 'network namespaces need root'
    for space in self.space.values():
      self.do(f'ip netns add {space}')
    for k, switch in enumerate(SWITCHES):
      for number, node in enumerate(NODES):
        self.pair(self.space[node], f'{node}{k}', self.space[switch], f'{switch}{number}')
    return self

  def before(self):
    return {role: self.inside(role) for role in self.space}
