# SPDX-License-Identifier: Apache-2.0
"""Small faults that a program can plant into C source: where they are, and files that hold many of them.

Five kinds: a negated condition, off by one, a dropped call, two swapped arguments of one type, a removed
early return or continue. Sites are found on tokens, inside function bodies only. A file is rewritten so
that each function holds its body once a fault; an environment variable picks the one that runs, so that
one build serves all of them.
"""
import hashlib
import re

KINDS = ('condition', 'off-by-one', 'call', 'arguments', 'return')

TOKEN = re.compile(r'''
    (?P<space>\s+|/\*.*?\*/|//[^\n]*)
  | (?P<pp>(?<![^\n])[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:[uUL])?'(?:\\.|[^'\\\n])*')
  | (?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<mark>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|.)
''', re.X | re.S)

CONTROL = {'if', 'for', 'while', 'switch', 'return', 'sizeof', 'do', 'else', 'case', 'goto', '_Alignof', 'defined'}
OPEN = {'(': ')', '[': ']', '{': '}'}
# Dropping one of these is no fault of behaviour (assert), or no C any more (va_...).
NOT_DROPPED = re.compile(r'^(assert|static_assert|_Static_assert|va_\w+)$')
# Swapping the arguments of these changes nothing that a caller can see.
SYMMETRIC = re.compile(r'(_eq|_equal|_min|_max)$|^(mem|str)n?cmp$|^(same|sum|larger)(_\w+)?$|^word$')
# More room than needed is no fault: a larger constant in what these are given is not planted.
ROOM = re.compile(r'^gv_(arena_(array|alloc|zalloc)|alloc|zalloc|realloc|vec_reserve|buf_reserve)$')
# `if (...) { return ...; }` under such a comment only saves work: without it the result must be the same.
SHORTCUT = 'Shortcut:'
INTEGER = re.compile(r'^(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)$')
STEPS = {'<': '<=', '<=': '<', '>': '>=', '>=': '>'}
FLIPS = {'==': '!=', '!=': '==', '&&': '||', '||': '&&'}

# Two expressions are of one type: a fault to plant; otherwise the compiler refuses this one.
SAME_TYPE = ('((void)sizeof(char[__builtin_types_compatible_p(__typeof__(((void)0, {a})), '
             '__typeof__(((void)0, {b}))) ? 1 : -1]), ({b})), {a}')


class Token:
    __slots__ = ('kind', 'text', 'at', 'pair')

    def __init__(self, kind, text, at):
        self.kind, self.text, self.at, self.pair = kind, text, at, None

    @property
    def end(self):
        return self.at + len(self.text)


def tokens(text):
    """Tokens without space and preprocessor lines; each bracket knows the index of its partner."""
    found, stack = [], []
    for match in TOKEN.finditer(text):
        if match.lastgroup in ('space', 'pp'):
            continue
        token = Token(match.lastgroup, match.group(), match.start())
        if token.text in OPEN:
            stack.append(len(found))
        elif token.kind == 'mark' and token.text in OPEN.values():
            if not stack:
                raise ValueError(f'unbalanced {token.text} at {token.at}')
            token.pair = stack.pop()
            found[token.pair].pair = len(found)
        found.append(token)
    return found


class Function:
    """A definition: its name and the tokens of its body, braces included."""

    def __init__(self, name, toks, first, last):
        self.name, self.toks, self.first, self.last = name, toks, first, last
        self.start, self.end = toks[first].at, toks[last].end


def functions(text):
    """Function definitions of a file; those with goto are left out, for a label may stand only once."""
    toks, found, i = tokens(text), [], 0
    while i < len(toks):
        token = toks[i]
        if token.text == '{':
            before = toks[i - 1] if i else None
            if before and before.text == ')' and toks[before.pair - 1].kind == 'word':
                body = toks[i:token.pair]
                if not any(t.text == 'goto' for t in body):
                    found.append(Function(toks[before.pair - 1].text, toks, i, token.pair))
            i = token.pair
        elif token.text in OPEN:
            i = token.pair
        i += 1
    return found


class Mutant:
    """One fault: text[start:end] becomes `new`."""

    def __init__(self, file, text, function, kind, start, end, new, shown=None):
        self.file, self.function, self.kind = file, function, kind
        self.start, self.end, self.new = start, end, new
        self.line = text.count('\n', 0, start) + 1
        self.before = ' '.join(text[start:end].split())
        self.after = shown if shown is not None else ' '.join(new.split())
        self.key = None  # set when the sites of the function are numbered

    def describe(self):
        return f'{self.file}:{self.line}: {self.function.name}: {self.kind}: `{self.before}` -> `{self.after}`'


class Finder:
    """The sites of one function."""

    def __init__(self, file, text, function):
        self.file, self.text, self.function = file, text, function
        self.toks = function.toks
        self.out = []

    def add(self, kind, start, end, new, shown=None):
        self.out.append(Mutant(self.file, self.text, self.function, kind, start, end, new, shown))

    def span(self, first, last):
        """Text of tokens first..last, both included."""
        return self.text[self.toks[first].at:self.toks[last].end]

    def negate(self, first, last):
        if last < first:
            return
        start, end = self.toks[first].at, self.toks[last].end
        self.add('condition', start, end, f'!({self.text[start:end]})')

    def top(self, first, last, marks):
        """Indices in first..last, outside brackets, of tokens with one of these texts."""
        found, i = [], first
        while i <= last:
            if self.toks[i].text in marks:
                found.append(i)
            i = self.toks[i].pair if self.toks[i].text in OPEN and self.toks[i].pair else i
            i += 1
        return found

    def conditions(self, i):
        """A whole condition at token i; returns the flips it makes needless."""
        toks, text = self.toks, self.toks[i].text
        if text in ('if', 'while') and toks[i + 1].text == '(':
            first, last = i + 2, toks[i + 1].pair - 1
        elif text == 'for' and toks[i + 1].text == '(':
            parts = self.top(i + 2, toks[i + 1].pair - 1, {';'})
            if len(parts) != 2:
                return []
            first, last = parts[0] + 1, parts[1] - 1
        elif text == '?':
            first = last = i - 1
            stops = {'(', '[', '{', ',', ';', '?', ':', '}', 'return', '=', '+=', '-=', '|=', '&=', '*='}
            while toks[first].text not in stops:
                first = toks[first].pair if toks[first].text in (')', ']') else first
                first -= 1
            first += 1
        else:
            return []
        self.negate(first, last)
        flips = self.top(first, last, FLIPS)
        return flips if len(flips) == 1 and not self.top(first, last, {'?', '!', '=', '&&', '||'}) else []

    def off_by_one(self, i):
        toks, token = self.toks, self.toks[i]
        if token.kind == 'mark' and token.text in STEPS:
            self.add('off-by-one', token.at, token.end, STEPS[token.text])
            return
        number = INTEGER.match(token.text)
        if token.kind != 'number' or not number:
            return
        before, after = toks[i - 1], toks[i + 1]
        if before.text == '{' and after.text == '}':
            return  # the idiom that zeroes
        if before.text == '[' and toks[i - 2].kind == 'word' and toks[i - 3].text not in CONTROL and \
                (toks[i - 3].kind == 'word' or toks[i - 3].text == '*') and after.text == ']':
            return  # the size of a local array
        value = int(number.group(1), 0 if number.group(1)[:2] in ('0x', '0X') else 10)
        for other in (value - 1,) if self.is_room(i) else (value + 1, value - 1):
            if other >= 0:
                self.add('off-by-one', token.at, token.end, f'{other}{number.group(2)}')

    def is_room(self, i):
        """Whether token i stands in the arguments of something that makes room."""
        return any(ROOM.match(self.toks[k - 1].text) for k in range(self.function.first + 1, i)
                   if self.toks[k].text == '(' and self.toks[k].pair > i)

    def shortcut(self, i):
        """Last token of the statement that token i, an `if`, governs, when a comment says that it is one."""
        before = self.toks[i - 1].end
        if self.toks[i].text != 'if' or SHORTCUT not in self.text[before:self.toks[i].at]:
            return 0
        start = self.toks[i + 1].pair + 1
        return self.toks[start].pair if self.toks[start].text == '{' else 0

    def statement_starts(self, i):
        before = self.toks[i - 1]
        if before.text in (';', '{', '}', 'else'):
            return True
        if before.text == ')':
            owner = self.toks[before.pair - 1]
            return owner.text in ('if', 'for', 'while') or owner.kind == 'word' and owner.text.isupper()
        return False

    def dropped_call(self, i):
        toks, at = self.toks, i
        if not self.statement_starts(i):
            return
        if [t.text for t in toks[i:i + 3]] == ['(', 'void', ')']:
            at = i + 3
        name = toks[at]
        if name.kind != 'word' or name.text in CONTROL or NOT_DROPPED.match(name.text) or toks[at + 1].text != '(':
            return
        close = toks[at + 1].pair
        if toks[close + 1].text == ';':
            self.add('call', toks[i].at, toks[close + 1].end, ';')

    def swapped(self, i):
        toks, name = self.toks, self.toks[i]
        if name.kind != 'word' or name.text in CONTROL or toks[i + 1].text != '(' or SYMMETRIC.search(name.text):
            return
        close = toks[i + 1].pair
        commas = self.top(i + 2, close - 1, {','})
        edges = [i + 1, *commas, close]
        spans = [(edges[k] + 1, edges[k + 1] - 1) for k in range(len(edges) - 1)]
        for (a, b), (c, d) in zip(spans, spans[1:]):
            one, two = self.span(a, b), self.span(c, d)
            if one == two or '{' in one + two:
                continue
            self.add('arguments', toks[a].at, toks[d].end, SAME_TYPE.format(a=one, b=two),
                     shown=' '.join(f'{two}, {one}'.split()))

    def early_end(self, i, depth):
        if self.toks[i].text not in ('return', 'continue') or depth < 2 and not self.unbraced(i):
            return
        last = i
        while self.toks[last].text != ';':
            last = self.toks[last].pair if self.toks[last].text in OPEN else last
            last += 1
        self.add('return', self.toks[i].at, self.toks[last].end, ';')

    def unbraced(self, i):
        return self.toks[i - 1].text in (')', 'else')

    def find(self):
        depth, needless, cut = 1, set(), 0
        for i in range(self.function.first + 1, self.function.last):
            token = self.toks[i]
            depth += {'{': 1, '}': -1}.get(token.text, 0)
            needless.update(self.conditions(i))
            if token.kind == 'mark' and token.text in FLIPS and i not in needless:
                self.add('condition', token.at, token.end, FLIPS[token.text])
            self.off_by_one(i)
            self.dropped_call(i)
            self.swapped(i)
            cut = max(cut, self.shortcut(i))
            if i > cut:
                self.early_end(i, depth)
        for number, mutant in enumerate(self.out):
            mutant.key = f'{self.file}:{self.function.name}:{number}:{mutant.before}:{mutant.after}'
        return self.out


def find(file, text):
    """Every fault that could be planted into a file."""
    return [mutant for function in functions(text) for mutant in Finder(file, text, function).find()]


def order(mutants, seed):
    """By kind, each in an order that only the seed and the keys decide: a change elsewhere moves nothing."""
    def place(mutant):
        return hashlib.sha256(f'{seed}:{mutant.key}'.encode()).digest()
    return {kind: sorted((m for m in mutants if m.kind == kind), key=place) for kind in KINDS}


def draw(ordered, count, refused=()):
    """`count` mutants, as many of each kind as there are, without those the compiler refused."""
    queues = [[m for m in ordered[kind] if m.key not in refused] for kind in KINDS]
    drawn, turn = [], 0
    while len(drawn) < count and any(queues):
        queue = queues[turn % len(queues)]
        turn += 1
        if queue:
            drawn.append(queue.pop(0))
    return drawn


HEAD = ('extern int gv_mutant;\nextern unsigned char gv_mutant_reached[];\n'
        '#define GV_MUTANT(n) (gv_mutant_reached[n] = 1, gv_mutant == (n))\n')


def plant(text, numbered):
    """The file with all of `numbered` ({number: mutant}; None as mutant's new: an unchanged copy).

    Returns it with the number of the mutant that each line of it belongs to, 0 for none.
    """
    by_function = {}
    for number, mutant in numbered.items():
        by_function.setdefault(mutant.function.start, []).append((number, mutant))
    pieces, at = [(0, HEAD)], 0
    for start in sorted(by_function):
        function = by_function[start][0][1].function
        pieces.append((0, text[at:start] + '{\n'))
        for number, mutant in by_function[start]:
            body = text[start:mutant.start] + mutant.new + text[mutant.end:function.end]
            pieces.append((number, f'if (GV_MUTANT({number})) {body} else\n'))
        pieces.append((0, text[start:function.end] + '\n}'))
        at = function.end
    pieces.append((0, text[at:]))
    owners = []
    for number, piece in pieces:
        owners += [number] * piece.count('\n')
    return ''.join(piece for _, piece in pieces), owners + [0]


SWITCH = '''
#include <stdio.h>
#include <stdlib.h>
int gv_mutant;
unsigned char gv_mutant_reached[%(size)d];
__attribute__((constructor)) static void gv_mutant_read(void) {
    const char *text = getenv("GV_MUTANT");
    gv_mutant = text ? atoi(text) : 0;
}
__attribute__((destructor)) static void gv_mutant_tell(void) {
    const char *name = getenv("GV_MUTANT_REACHED");
    FILE *out = name ? fopen(name, "a") : NULL;
    for (int i = 0; out && i < %(size)d; i++) {
        if (gv_mutant_reached[i]) {
            fprintf(out, "%%d\\n", i);
        }
    }
    if (out) {
        fclose(out);
    }
}
'''


def switch(size):
    """C text that picks the mutant by GV_MUTANT, and at the end tells which ones were come upon."""
    return SWITCH % {'size': size}
