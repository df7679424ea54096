# SPDX-License-Identifier: BSD-3-Clause
"""Pieces of a page."""
from html import escape

from . import text
from .cell import Point
from .stacks import title


def shown(point):
  """How its unit is written."""
  return text.nanoseconds if point.cell.unit == 'ns' else text.number


def table(made):
  """In a box of its own, in which it scrolls."""
  head = ''.join(f'<th>{escape(h)}</th>' for h in made.head)
  body = ''.join(f'<tr><th>{escape(line[0])}</th>{"".join(map(cell, line[1:]))}</tr>\n'
                 for line in made.lines)
  note = ''.join(f'<p class="soft bad">{escape(line)}</p>' for line in made.notes)
  return (f'<h3>{escape(made.title)}</h3>\n<div class="scroll" '
          f'tabindex="0"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>{note}\n')


def cell(value):
  if not isinstance(value, Point):
    return f'<td>{escape(value)}</td>'
  if value.missing:
    return '<td class="bad">missing</td>'
  small = ''.join(f'<small>{escape(line)}</small>' for line in smaller(value))
  return f'<td>{larger(value)}{small}</td>'


def larger(point):
  if point.saturated:
    return f'<span class="bad">saturated</span><small>carries {point.achieved * 100:.1f} %</small>'
  return f'<b>{escape(text.estimate(point.value, shown(point)))}</b>'


def smaller(point):
  """What was published, and our absolute latency where the value is another."""
  if point.cell.published is not None:
    inside = point.cell.published_to is not None and point.difference == 0
    yield f'paper {published(point)} {"within" if inside else text.percent(point.difference)}'
  if point.cell.open_loop:
    yield f'{text.estimate(point.absolute, text.nanoseconds)} ns'
  if point.flow.failed or point.flow.completed != point.flow.offered:
    yield f'{point.flow.failed:,} failed, {point.flow.completed:,} of {point.flow.offered:,} completed'


def published(point):
  ends = [end for end in (point.cell.published, point.cell.published_to) if end is not None]
  return ' to '.join(map(shown(point), ends))


def paragraphs(lines):
  return ''.join(f'<p>{escape(line)}</p>\n' for line in lines)


def bullets(lines):
  """Of lines that are HTML already."""
  return f'<ul>{"".join(f"<li>{line}</li>" for line in lines)}</ul>\n'


def folded(title, inside):
  return f'<details><summary>{escape(title)}</summary>\n{inside}</details>\n'


def pre(text_as_it_is):
  return f'<pre>{escape(text_as_it_is)}</pre>'


def plot(title, svg, wide=False):
  return f'<figure{" class=wide" if wide else ""}>{svg}<figcaption>{escape(title)}</figcaption></figure>\n'


def page(title, style, body):
  """Nothing in it is fetched: it opens without a network."""
  return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" '
          f'content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n<link '
          f'rel="icon" href="data:,">\n<style>\n{style}</style>\n</head>\n<body>\n{body}</body>\n</html>\n')
