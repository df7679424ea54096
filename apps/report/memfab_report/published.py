# SPDX-License-Identifier: BSD-3-Clause
"""What the papers and their artifacts published, and where."""

PAPERS = {
    'edm': 'Su and Shrivastav, EDM: An Ultra-Low Latency Ethernet Fabric for Memory Disaggregation, '
           'ASPLOS 2025',
    'clio': 'Guo and others, Clio: A Hardware-Software Co-Designed Disaggregated Memory System, ASPLOS 2022',
}
SOURCES = {
    'table1': 'Table 1',
    '5': 'Figure 5; cycles from sections 3.2.1 and 3.2.2',
    '6': 'Figure 6 and section 4.2.2',
    '7': 'Figure 7',
    '8a': 'Figure 8a, average normalised latency as the public artifact prints it',
    '8b': 'Figure 8b, average normalised completion time as the public artifact prints it',
    'clio-4': 'Figure 4, 16 B, 1 to 1,000 processes, as the public artifact prints it; state: section 1',
    'clio-5': 'Figure 5, 4 B, 2^0 to 2^22 entries, as the public artifact prints it; one access: section 7.1',
    'clio-6': 'sections 4.3 and 7.1; Figure 6 has no numbers in the text',
    'clio-12': 'sections 4.3 and 7.1; Figure 12 has no other numbers in the text',
    'clio-13': 'Figure 13: the public artifact\'s data, 49 to 59 retries over one percent of the slots; '
               'below half and at most: section 7.1',
}

STACKS = ('edm', 'ird', 'pfabric', 'pfc', 'dctcp', 'cxl', 'fastpass')  # of Figure 8
TABLE1_STACKS = ('edm', 'ethernet', 'rocev2', 'tcp')
CYCLE_NS = 2.56


def edm_table1():
  """Parts in ns: (read, write)."""
  return {
      'compute node PCS': (2 * 5.12 + 12.8, 3 * 5.12 + 28.16),
      'switch PCS': (4 * 5.12 + 28.16, 4 * 5.12 + 28.16),
      'memory node PCS': (2 * 5.12 + 25.6, 1 * 5.12 + 7.68),
      'PMA, PMD, transceiver': (8 * 19, 8 * 19),
      'propagation': (4 * 10, 4 * 10),
  }


def framed_table1(protocol):
  """A stack above the Ethernet MAC: twice the crossings for a read, by request and response."""
  def both(ns):
    return 2 * ns, ns
  return {
      'compute node stack': both(protocol),
      'compute node MAC': both(7.68),
      'compute node PCS': both(7.68),
      'switch layer 2': both(400),
      'switch MAC': both(2 * 7.68),
      'switch PCS': both(2 * 7.68),
      'memory node stack': both(protocol),
      'memory node MAC': both(7.68),
      'memory node PCS': both(7.68),
      'PMA, PMD, transceiver': both(4 * 19),
      'propagation': both(2 * 10),
  }


TABLE1_PARTS = {
    'edm': edm_table1(),
    'ethernet': framed_table1(0),
    'rocev2': framed_table1(230.2),
    'tcp': framed_table1(666.2),
}
# The last line as printed: (read, write), ns. Those in microseconds have three digits.
TABLE1_TOTALS = {
    'edm': (299.52, 296.96),
    'ethernet': (1110.0, 557.44),
    'rocev2': (2030.0, 1020.0),
    'tcp': (3790.0, 1890.0),
}

FIGURE6_RATIO = 2.7  # requests a second of EDM over those of RDMA, 'around'
FIGURE6_WRITES = {'A': 0.50, 'B': 0.05, 'F': 0.33}

# Mean latency, ns, by local:remote.
FIGURE7 = {
    '10:1': {'edm': 113, 'cxl': 107, 'rocev2': 227},
    '66:34': {'edm': 195, 'cxl': 168, 'rocev2': 639},
    '50:50': {'edm': 250, 'cxl': 207, 'rocev2': 915},
    '34:66': {'edm': 311, 'cxl': 252, 'rocev2': 1218},
    '1:10': {'edm': 395, 'cxl': 313, 'rocev2': 1637},
}


def by_stack(*values):
  return dict(zip(STACKS, values, strict=True))


# By kind of operations (share of writes), then load.
FIGURE8A = {
    'writes': {
        0.2: by_stack(1.01, 1.00, 1.16, 1.02, 1.21, 1.05, 6.59),
        0.4: by_stack(1.05, 1.12, 1.28, 1.37, 1.37, 1.16, 17.99),
        0.6: by_stack(1.17, 1.44, 1.48, 1.51, 1.67, 1.42, 19.54),
        0.8: by_stack(1.35, 1.61, 1.79, 1.90, 1.93, 1.90, 28.99),
        0.9: by_stack(1.38, 1.69, 1.81, 1.98, 2.07, 2.02, 38.94),
    },
    'reads': {
        0.2: by_stack(1.02, 1.09, 1.10, 1.05, 1.08, 1.05, 5.02),
        0.4: by_stack(1.06, 1.20, 1.20, 1.26, 1.20, 1.27, 14.06),
        0.6: by_stack(1.11, 1.25, 1.38, 1.32, 1.40, 1.46, 15.37),
        0.8: by_stack(1.20, 1.50, 1.61, 1.51, 1.71, 1.66, 25.11),
        0.9: by_stack(1.22, 1.60, 1.69, 1.55, 1.80, 1.73, 34.04),
    },
    'mix20': {0.8: by_stack(1.23, 1.63, 1.69, 1.71, 1.78, 1.72, 22.26)},
    'mix50': {0.8: by_stack(1.24, 1.64, 1.77, 1.81, 1.89, 1.79, 22.62)},
    'mix80': {0.8: by_stack(1.30, 1.66, 1.81, 1.83, 1.99, 1.84, 25.09)},
}

FIGURE8B = {
    'hadoop': by_stack(1.31, 1.31, 1.34, 6.33, 4.66, 6.84, 12.26),
    'spark': by_stack(1.37, 1.39, 1.37, 6.81, 5.98, 8.37, 14.22),
    'sparksql': by_stack(1.38, 1.42, 1.44, 7.51, 6.24, 8.68, 14.74),
    'graphlab': by_stack(1.39, 1.45, 1.50, 7.60, 6.68, 8.71, 15.40),
    'memcached': by_stack(1.39, 1.57, 1.71, 8.27, 7.12, 11.02, 16.58),
}

# Clio. Ranges of latencies in ns: (least, greatest).
CLIO4_MOST = 1000  # processes
CLIO4 = {'read': (2000.0, 2080.0), 'write': (1880.0, 1990.0)}
CLIO5 = {'read': (2020.0, (2150.0, 2170.0)), 'write': (1870.0, (1940.0, 1970.0))}  # hit, miss
CLIO_STATE = 1.5e6  # octets on the chip
CLIO_MISS_ACCESSES = 1  # to DRAM
CLIO_FAULT_CYCLES = 3  # beside a miss
CLIO_RDMA_FAULT_NS = 16.8e6
CLIO_RDMA_FAULT_TIMES = 14100  # of an access without a fault
CLIO_PAGE_NS = 20e3  # a physical page takes less
# Retries a request by its pages. Below half there are none; the text's 'at most 60' is a sum.
CLIO13 = {1: 0.01, 10: 0.09, 100: 1.1}
CLIO13_MOST = 60
