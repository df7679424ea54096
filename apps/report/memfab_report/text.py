# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as a person reads them."""
import math


def number(value, digits=4):
  """So many digits that count, thousands apart, at most six behind the point."""
  if value is None:
    return ''
  if isinstance(value, int) or value == 0:
    return f'{value:,.0f}'
  places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
  return f'{value:,.{min(places, 6)}f}'


def nanoseconds(value):
  """As precise as the paper's tables."""
  return f'{value:,.2f}' if abs(value) < 1e4 else f'{value:,.0f}'


def estimate(value, shown=number):
  """Mean and half of its interval, both with the places of the mean."""
  text = shown(value.mean)
  if value.half is None:
    return text
  places = len(text.partition('.')[2])
  return f'{text} ± {value.half:,.{places}f}'


def percent(value):
  if value is None:
    return ''
  return f'{value:+.1f} %' if abs(value) >= 0.05 else 'equal'


def sentence(text):
  """With a capital, all else as it is."""
  return text[:1].upper() + text[1:]
