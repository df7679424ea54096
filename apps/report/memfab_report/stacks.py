# SPDX-License-Identifier: BSD-3-Clause
"""The stacks that are compared: what they are called in a fabric file and on the page."""

TITLES = {
    'edm': 'EDM',
    'edm, letter': 'EDM, to the letter',
    'edm, fcfs': 'EDM, FCFS',
    'ird': 'IRD',
    'pfabric': 'pFabric',
    'pfc': 'PFC + DCQCN',
    'dctcp': 'DCTCP',
    'cxl': 'CXL',
    'fastpass': 'Fastpass',
    'ethernet': 'raw Ethernet',
    'rocev2': 'RoCEv2',
    'tcp': 'TCP/IP',
}


def title(series):
  """Of a stack, or of what else a series may be."""
  return TITLES.get(series, series)
