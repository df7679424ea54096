# SPDX-License-Identifier: BSD-3-Clause
"""Changes of single lines of C: what a slip of the hand makes of them."""
import re

COMPARE = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '=='}
RELEASE = r'\w*(?:free|release|put|clear|drop|unlink|cancel|reset|remove|forget|give_back|end|done|close)\w*'
CALL = r'[\w>.\[\]-]+(?:\([^;]*\)|\s*(?:[-+|&^]|<<|>>)?=[^=].*|\+\+|--)'
CONTROL = ('case', 'default', 'static', 'extern', 'typedef', 'return', '#', '*', '/*', '//', '}', '{',
           'else', '.')


def sites(pattern, line):
  return [match for match in re.finditer(pattern, line) if not in_text(line, match.start())]


def in_text(line, at):
  """In a string or in a comment."""
  comment = line.find('/*')
  return line.count('"', 0, at) % 2 == 1 or 0 <= comment < at


def put(line, match, text):
  return line[:match.start()] + text + line[match.end():]


def comparison(line):
  for match in sites(r'(?<![-<>=!])(?:<=|>=|==|!=|<|>)(?![<>=])(?= )', line):
    if line[match.start() - 1] == ' ':
      yield put(line, match, COMPARE[match[0]])


def off_by_one(line):
  for match in sites(r' [+-] 1U?\b(?!\d)', line):
    yield put(line, match, '')
  for match in sites(r'(?<=[^=!<>]= )([^=;{}"]+)(?=;$)', line):
    if 'NULL' not in match[0] and 'false' not in match[0] and 'true' not in match[0]:
      yield put(line, match, f'{match[0]} + 1')


def condition(line):
  """A condition that stands on one line."""
  match = re.match(r'^(\s*(?:\} else )?(?:if|while) \()(.*)(\)(?: \{)?)$', line)
  return match if match and match[2].count('(') == match[2].count(')') else None


def dropped_check(line):
  match = condition(line)
  if match and 'while' not in match[1]:
    yield f'{match[1]}0 && ({match[2]}){match[3]}'
  for part in sites(r' (?:&&|\|\|) [^()&|;]+(?=[)&|;]|$)', line):
    yield put(line, part, ' ' if part[0].endswith(' ') else '')
  for part in sites(r'(?<=[(=] )[^()&|;=]+ (?:&&|\|\|) |(?<=\()[^()&|;]+ (?:&&|\|\|) ', line):
    yield put(line, part, '')


def negated_condition(line):
  match = condition(line)
  if match:
    yield f'{match[1]}!({match[2]}){match[3]}'
  for part in sites(r'(?<=\breturn )([^;]*(?:&&|\|\||==|!=|<=|>=| < | > )[^;]*)(?=;$)', line):
    yield put(line, part, f'!({part[0]})')


def is_statement(line):
  text = line.strip()
  return line.startswith('\t') and text.endswith(';') and not text.startswith(CONTROL) and \
    re.fullmatch(CALL + ';', text) is not None


def dropped_statement(line):
  if is_statement(line):
    yield re.match(r'\s*', line)[0] + ';'


def missing_release(line):
  if is_statement(line) and re.match(rf'\s*{RELEASE}\(', line):
    yield re.match(r'\s*', line)[0] + ';'


def wrong_constant(line):
  for match in sites(r'(?<![\w.])(?:0x[0-9a-f]+|\d+)(?=[U;,)\s\]]|$)', line):
    value = int(match[0], 0)
    yield put(line, match, hex(value + 1) if match[0].startswith('0x') else str(value + 1))
    if value > 1:
      yield put(line, match, hex(value - 1) if match[0].startswith('0x') else str(value - 1))


EDITS = (comparison, off_by_one, dropped_check, negated_condition, dropped_statement, missing_release,
         wrong_constant)


def body_lines(lines):
  """Numbers of the lines that stand in functions: neither comments nor macros, nor what is said in text."""
  comment = macro = False
  for number, line in enumerate(lines):
    text = line.strip()
    starts, ends = text.startswith('/*'), '*/' in text
    skip = comment or starts or macro or text.startswith(('#', '*'))
    comment = (comment or starts) and not ends
    macro = (macro or text.startswith('#')) and text.endswith('\\')
    if not skip and line.startswith('\t') and 'static_assert' not in text and '[MF_' not in text:
      yield number


def depend(first, second):
  """Whether one of two statements sets what the other one looks at, or both do something with the same
  thing."""
  sides = [re.match(r'\s*(?:\w+ \*?)?([\w>.\[\]-]+?)(?:\+\+|--|\s*(?:[-+|&^]|<<|>>)?=)',
                    text) for text in (first, second)]
  for side, other in zip(sides, (second, first)):
    if side and re.search(rf'(?<![\w>.]){re.escape(side[1])}(?!\w)', other):
      return True
  words = [set(re.findall(r'(?<![\w])&?[a-z]\w*(?:(?:->|\.)\w+)+', text)) for text in (first, second)]
  return not any(sides) and bool(words[0] & words[1])


def changes(lines):
  """All changes of a file: (kind, number of the line, lines before, lines after)."""
  numbers = list(body_lines(lines))
  inside = set(numbers)
  for number in numbers:
    for edit in EDITS:
      for after in edit(lines[number]):
        if after != lines[number]:
          yield edit.__name__, number, [lines[number]], [after]
    pair = lines[number:number + 2]
    if len(pair) == 2 and number + 1 in inside and all(map(is_statement, pair)) and depend(*pair) and \
       len({re.match(r'\s*', line)[0] for line in pair}) == 1:
      yield 'swapped_order', number, pair, pair[::-1]
