#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The planted faults: which are found where, that a file with them behaves as asked, that a draw repeats."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'build-aux'))
import mutants  # noqa: E402  (its folder is known only now)

SOURCE = '''/* if (comment) */
#include <stdio.h>
#define TWICE(x) ((x) + 1)
static int calls;
static const int table[] = {3, 4};
static void count(int by) {
    calls += by;
}
static int minus(int a, int b, const char *why) {
    (void)why;
    return a - b;
}
static int sum(int n) {
    int out = 0, room[4] = {0};
    for (int i = 0; i < n; i++) {
        if (i == 2) {
            continue;
        }
        out += i + room[0];
    }
    return out;
}
static int pick(int n) {
    count(1);
    if (n > 3 && n != 5) {
        return 7;
    }
    const char *word = n ? "if (string)" : ";";
    return minus(n, 1, word);
}
int main(void) {
    int s = sum(5), p = pick(5);
    printf("%d %d %d\\n", s, p, calls + table[0]);
    return 0;
}
'''


def faults(text, kind=None, function=None):
    return [(m.before, m.after) for m in mutants.find('a.c', text)
            if kind in (None, m.kind) and function in (None, m.function.name)]


def body(statements):
    return 'int f(int a, int b) {\n' + statements + '\n}\n'


class Sites(unittest.TestCase):
    def kinds(self, statements, kind):
        return faults(body(statements), kind)

    def test_functions_and_nothing_else(self):
        names = [f.name for f in mutants.functions(SOURCE)]
        self.assertEqual(names, ['count', 'minus', 'sum', 'pick', 'main'])
        self.assertEqual(faults(SOURCE, function='count'), [])

    def test_conditions(self):
        self.assertEqual(self.kinds('if (a) b = 1;', 'condition'), [('a', '!(a)')])
        self.assertEqual(self.kinds('while (a && b) a = 0;', 'condition'), [('a && b', '!(a && b)'), ('&&', '||')])
        self.assertEqual(self.kinds('for (; a < b;) a = b;', 'condition'), [('a < b', '!(a < b)')])
        self.assertEqual(self.kinds('for (;;) a = b;', 'condition'), [])
        self.assertEqual(self.kinds('b = 2 + (a ? b : 1);', 'condition'), [('a', '!(a)')])
        self.assertEqual(self.kinds('b = a > 1 ? b : 1;', 'condition'), [('a > 1', '!(a > 1)')])

    def test_a_lone_comparison_is_negated_once(self):
        self.assertEqual(self.kinds('if (a == b) a = 1;', 'condition'), [('a == b', '!(a == b)')])
        self.assertEqual(self.kinds('a = a == b;', 'condition'), [('==', '!=')])

    def test_off_by_one(self):
        self.assertEqual(self.kinds('a = b <= 7u;', 'off-by-one'), [('<=', '<'), ('7u', '8u'), ('7u', '6u')])
        self.assertEqual(self.kinds('a = b >> 0;', 'off-by-one'), [('0', '1')])
        self.assertEqual(self.kinds('char t[8]; struct s x = {0}; const char *u = "1 < 2";', 'off-by-one'), [])
        self.assertEqual(self.kinds('a = 1.5;', 'off-by-one'), [])

    def test_more_room_is_no_fault(self):
        self.assertEqual(self.kinds('x = gv_arena_array(a, int, b + 1); x = g(1);', 'off-by-one'),
                         [('1', '0'), ('1', '2'), ('1', '0')])

    def test_a_shortcut_may_be_left_out(self):
        self.assertEqual(self.kinds('/* Shortcut: same result. */ if (a) { return 1; } if (b) { return 2; } return 3;',
                                    'return'), [('return 2;', ';')])
        self.assertEqual(self.kinds('/* Shortcut: as above. */ if (a) { return 1; } return 3;', 'condition'),
                         [('a', '!(a)')])

    def test_dropped_calls(self):
        self.assertEqual(self.kinds('g(a); (void)g(b); a = g(b); assert(a); if (a) g(1);', 'call'),
                         [('g(a);', ';'), ('(void)g(b);', ';'), ('g(1);', ';')])

    def test_swapped_arguments(self):
        self.assertEqual(self.kinds('a = g(a, b + h(1, 1), a);', 'arguments'),
                         [('a, b + h(1, 1)', 'b + h(1, 1), a'), ('b + h(1, 1), a', 'a, b + h(1, 1)')])
        self.assertEqual(self.kinds('a = same_eq(a, b); a = sizeof(a);', 'arguments'), [])

    def test_early_ends(self):
        self.assertEqual(self.kinds('if (a) { return 1; } for (;;) { continue; } return 2;', 'return'),
                         [('return 1;', ';'), ('continue;', ';')])
        self.assertEqual(self.kinds('if (a) return (1); return 2;', 'return'), [('return (1);', ';')])

    def test_a_function_with_labels_is_left_out(self):
        self.assertEqual(faults(body('if (a) goto out; b = 1; out: return b;')), [])


class Planted(unittest.TestCase):
    """The program with all its faults inside, as compiled."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def compile(self, numbered):
        text, owners = mutants.plant(SOURCE, numbered)
        path = os.path.join(self.folder, 'a.c')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text + mutants.switch(max(numbered) + 1))
        result = subprocess.run(['cc', '-w', '-ftrack-macro-expansion=0', path, '-o', path[:-2]],
                                capture_output=True, text=True)
        return result, owners

    def output(self, number):
        reached = os.path.join(self.folder, f'reached-{number}')
        result = subprocess.run([os.path.join(self.folder, 'a')], capture_output=True, text=True, timeout=60,
                                env=dict(os.environ, GV_MUTANT=str(number), GV_MUTANT_REACHED=reached))
        with open(reached, encoding='utf-8') as f:
            return result.stdout, {int(line) for line in f}

    def number(self, numbered, function, before, after):
        return next(n for n, m in numbered.items()
                    if (m.function.name, m.before, m.after) == (function, before, after))

    def test_the_environment_picks_one(self):
        every = [m for m in mutants.find('a.c', SOURCE) if m.function.name in ('sum', 'pick')
                 and not (m.kind == 'arguments' and 'word' in m.before)]
        numbered = dict(enumerate(every, 1))
        result, _ = self.compile(numbered)
        self.assertEqual(result.returncode, 0, result.stderr)
        plain, reached = self.output(0)
        self.assertEqual(plain, '8 4 4\n')
        self.assertEqual(reached, set(numbered))
        for function, before, after, want in (
                ('sum', 'i == 2', '!(i == 2)', '2 4 4\n'), ('sum', '<', '<=', '13 4 4\n'),
                ('sum', 'continue;', ';', '10 4 4\n'), ('pick', 'count(1);', ';', '8 4 3\n'),
                ('pick', '1', '2', '8 3 4\n'), ('pick', '&&', '||', '8 7 4\n'),
                ('pick', 'n, 1', '1, n', '8 -4 4\n'), ('pick', 'return 7;', ';', '8 4 4\n')):
            number = [n for n, m in numbered.items() if (m.function.name, m.before, m.after) == (function, before, after)][-1]
            self.assertEqual(self.output(number)[0], want, numbered[number].describe())

    def test_arguments_of_two_types_are_refused_by_line(self):
        every = [m for m in mutants.find('a.c', SOURCE) if m.kind == 'arguments' and m.function.name == 'pick']
        self.assertEqual([m.before for m in every], ['n, 1', '1, word'])
        result, owners = self.compile(dict(enumerate(every, 1)))
        self.assertNotEqual(result.returncode, 0)
        lines = [int(line.split(':')[1]) for line in result.stderr.splitlines() if ' error: ' in line]
        self.assertEqual({owners[line - 1] for line in lines}, {2})


class Draw(unittest.TestCase):
    def test_seed_decides(self):
        every = mutants.find('a.c', SOURCE)

        def keys(seed, count=8, refused=()):
            return [m.key for m in mutants.draw(mutants.order(every, seed), count, refused)]
        self.assertEqual(keys(7), keys(7))
        self.assertNotEqual(keys(7), keys(8))
        self.assertEqual(len(set(keys(7))), 8)
        self.assertNotIn(keys(7)[0], keys(7, refused={keys(7)[0]}))
        self.assertEqual(len(keys(7, 10000)), len(every))

    def test_a_change_elsewhere_moves_nothing(self):
        before = {m.key for m in mutants.find('a.c', SOURCE)}
        after = {m.key for m in mutants.find('a.c', '/* a line more */\n' + SOURCE)}
        self.assertEqual(before, after)


if __name__ == '__main__':
    unittest.main()
