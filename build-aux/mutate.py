#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants small faults into one layer and counts those that the tests catch.

    mutate.py plan|admission|sched [--seed N] [--count N] [--jobs N] [--shard I/N] [--again] [--only TEXT] [--most SECONDS]
              [--suite NAME,...] [--plain]

A private copy of the tree in build-mutate/ is built once with all drawn faults inside (mutants.py); the
environment picks one. Every test runs first without a fault and must pass; that run also tells which
faults it comes upon. Then each fault meets the tests that reach it, the likeliest first, until one fails,
dies, or uses many times its processor time; who survives meets them again in a build where each object of
an arena is a malloc of its own under ASan. Results are JSON lines in build-mutate/LAYER-SEED.jsonl: a
run that was ended goes on where it was (--again: what survived is tried once more). The last line is
`N caught, N survived, N change no instruction`; exit 1 below --least per cent.
"""
import argparse
import concurrent.futures
import filecmp
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import mutants
import source_tree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LAYERS = ('plan', 'admission', 'sched')
# What judges: everything `./dev test` runs but the gates' self-tests and the HTTP front's own tests.
NOT_JUDGES = {'build-aux', 'gate', 'cluster', 'native', 'front'}
SWITCH_FILE = 'lib/base/version.c'
NOOP = 'no-op'
# Who survives must survive here, too: what is read or written beyond its room ends the program.
STRICT = ('-Ddebug_arena=true', '-Db_sanitize=address', '-Doptimization=0')

STRICT_MOST = 10  # seconds of processor time; what takes longer there judged in the plain build only


def say(text):
    print(text, flush=True)


def write_if_other(path, text):
    """Writes only what changed, so that ninja builds only that."""
    if os.path.exists(path):
        with open(path, encoding='utf-8') as f:
            if f.read() == text:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


class Tree:
    """The private copy and its build folder."""

    def __init__(self, root, folder, build='build', options=()):
        self.root, self.folder, self.options = root, folder, options
        self.source, self.build = os.path.join(folder, 'tree'), os.path.join(folder, build)
        self.planted = {}  # file -> owner of each line

    def copy(self, skip):
        """Everything tracked, but for the files that are to be planted."""
        names = source_tree.files(self.root, '')
        for name in names:
            if name in skip:
                continue
            here, there = os.path.join(self.root, name), os.path.join(self.source, name)
            if os.path.exists(there) and filecmp.cmp(here, there, shallow=False):
                continue
            os.makedirs(os.path.dirname(there), exist_ok=True)
            shutil.copy(here, there)  # with the time of now: what was built before it is old
        for folder, _, found in os.walk(self.source):
            for name in found:
                relative = os.path.relpath(os.path.join(folder, name), self.source)
                if relative not in skip and not os.path.exists(os.path.join(self.root, relative)):
                    os.unlink(os.path.join(folder, name))

    def plant(self, files, numbered):
        """Writes `files` with the mutants in `numbered`, the switch included."""
        for name in files:
            here = {n: m for n, m in numbered.items() if m.file == name}
            text, owners = source_tree.read(self.root, name), []
            if here:
                text, owners = mutants.plant(text, here)
            self.planted[name] = owners
            write_if_other(os.path.join(self.source, name), text)
        text = source_tree.read(self.root, SWITCH_FILE) + mutants.switch(max(numbered) + 1)
        write_if_other(os.path.join(self.source, SWITCH_FILE), text)

    def setup(self):
        if not os.path.exists(os.path.join(self.build, 'build.ninja')):
            shutil.rmtree(self.build, ignore_errors=True)
            command = ['meson', 'setup', self.build, self.source, '-Doptimization=1', '-Ddebug=false', '-Dc_args=-w',
                       *self.options]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        # new files are known to meson only after this
        subprocess.run(['ninja', '-C', self.build, 'build.ninja'], check=True, stdout=subprocess.DEVNULL)

    def commands(self):
        """file -> the compiler's words, without what is read and written."""
        with open(os.path.join(self.build, 'compile_commands.json'), encoding='utf-8') as f:
            entries = json.load(f)
        found = {}
        for entry in entries:
            name = os.path.relpath(os.path.join(entry['directory'], entry['file']), self.source)
            words = shlex.split(entry['command'])
            pairs = ('-MQ', '-MF', '-o', '-c')  # these and the word behind them
            found[name] = [word for word, before in zip(words, [''] + words)
                           if word not in (*pairs, '-MD', 'ccache') and before not in pairs]
        return found

    def refused(self, files):
        """Numbers of the mutants that are no C: the compiler names the line."""
        commands, out = self.commands(), set()
        for name in files:
            if not self.planted.get(name):
                continue
            # errors inside macros are told where the macro is used, for that is the mutant's line
            flags = ['-fsyntax-only', '-fmax-errors=0', '-ftrack-macro-expansion=0', '-fdiagnostics-color=never']
            result = subprocess.run(commands[name] + flags + [os.path.join(self.source, name)], cwd=self.build,
                                    capture_output=True, text=True)
            lines = re.findall(r'^[^\n:]*%s:(\d+):\d+: (?:fatal )?error:' % re.escape(name), result.stderr, re.M)
            owners = {self.planted[name][int(line) - 1] for line in lines} - {0}
            if result.returncode and not owners:
                raise SystemExit(f'{name} does not compile:\n{result.stderr}')
            out |= owners
        return out

    def compile(self, jobs, targets=()):
        result = subprocess.run(['ninja', '-C', self.build, '-j', str(jobs), *targets], capture_output=True, text=True)
        if result.returncode:
            raise SystemExit('the build failed:\n' + result.stdout[-4000:])

    def tests(self):
        """The tests that judge, as meson knows them."""
        result = subprocess.run(['meson', 'introspect', '--tests', self.build], check=True,
                                capture_output=True, text=True)
        return [Test(entry, self.build) for entry in json.loads(result.stdout) if not NOT_JUDGES & suites(entry)]

    def changes_code(self, mutant, original):
        """Whether the compiler, asked to optimise, makes other code of it at all."""
        command = [w for w in self.commands()[mutant.file] if not w.startswith('-O')]
        faulty = original[:mutant.start] + mutant.new + original[mutant.end:]
        objects = []
        for text in (original, faulty):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, 'one.o')
                subprocess.run(command + ['-O2', '-xc', '-c', '-', '-o', path], cwd=self.build, input=text,
                               text=True, check=True)
                with open(path, 'rb') as f:
                    objects.append(f.read())
        return objects[0] != objects[1]


def suites(entry):
    return {name.split(':')[-1] for name in entry['suite']}


class Test:
    """One program of meson's list, what it costs and which mutants it reaches."""

    def __init__(self, entry, build):
        self.name, self.command, self.suites = entry['name'], entry['cmd'], suites(entry)
        self.environment = entry.get('env') or {}
        self.folder, self.build = entry.get('workdir') or build, build
        self.seconds, self.reached, self.ran, self.kills = 0.0, set(), 0, 0

    def target(self):
        """What ninja builds for it; None for a script."""
        inside = self.command[0].startswith(self.build + os.sep)
        return os.path.relpath(self.command[0], self.build) if inside else None

    def run(self, number, limit=None, reached=None, strict=False):
        """-> (passed, processor seconds, last words)."""
        environment = dict(os.environ, **self.environment, GV_MUTANT=str(number))
        if reached:
            environment['GV_MUTANT_REACHED'] = reached

        def confine():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if not strict:  # there the address space is reserved at once
                resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            if limit:
                resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))

        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(self.command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=output, preexec_fn=confine)
            timer = threading.Timer(60 * limit if limit else 1800, end_group, [process.pid])
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            timer.cancel()
            end_group(process.pid)  # what a test that failed left running
            output.seek(0)
            words = output.read().decode(errors='replace')
        return process.returncode in (0, 77), usage.ru_utime + usage.ru_stime, words

    def limit(self):
        return int(10 + 8 * self.seconds)

    def promise(self):
        """Chance to catch per second: what it caught so far decides."""
        return (self.kills + 0.3) / (self.ran + 1) / (self.seconds + 0.02)


def end_group(pid):
    try:
        os.killpg(pid, 9)
    except ProcessLookupError:
        pass


class Run:
    """A draw of one layer, its baseline and its results."""

    def __init__(self, options):
        self.options = options
        self.folder = os.path.join(ROOT, 'build-mutate')
        self.tree = Tree(ROOT, self.folder)
        self.files = source_tree.files(ROOT, '.c', under=(f'lib/{options.layer}/',))
        self.path = os.path.join(self.folder, f'{options.layer}-{options.seed}.jsonl')
        self.texts = {name: source_tree.read(ROOT, name) for name in self.files}
        self.numbered, self.tests = {}, []
        self.lock = threading.Lock()

    def build(self):
        """Draws mutants that are C, and builds the tree that holds them all."""
        ordered = mutants.order([m for name in self.files for m in mutants.find(name, self.texts[name])],
                                self.options.seed)
        every = set(source_tree.files(ROOT, '.c', under=tuple(f'lib/{layer}/' for layer in LAYERS)))
        self.tree.copy(skip=every | {SWITCH_FILE})
        refused, accepted = set(), set()
        while True:
            drawn = mutants.draw(ordered, self.options.count, refused)
            new = [m for m in mutants.draw(ordered, 2 * self.options.count, refused) if m.key not in accepted]
            if all(m.key in accepted for m in drawn):
                break
            numbered = dict(enumerate(new, 2))
            self.tree.plant(sorted(every), numbered)
            self.tree.setup()
            wrong = self.tree.refused(self.files)
            refused |= {numbered[n].key for n in wrong}
            accepted |= {m.key for n, m in numbered.items() if n not in wrong}
        self.numbered = {1: self.noop(drawn[0]), **dict(enumerate(drawn, 2))}
        self.tree.plant(sorted(every), self.numbered)
        self.tests = [t for t in self.tree.tests() if not self.options.tests or t.name in self.options.tests]
        if self.options.suite:
            self.tests = [t for t in self.tests if self.options.suite & t.suites]
        targets = [t.target() for t in self.tests]
        self.tree.compile(self.options.jobs, targets if all(targets) else ())
        say(f'{self.options.layer}: seed {self.options.seed}, {len(drawn)} mutants drawn from '
            f'{sum(map(len, ordered.values()))} sites; {len(refused)} were no C and left out')

    def noop(self, like):
        """A function copied without a fault: it must pass everywhere."""
        text, start = self.texts[like.file], like.function.start
        noop = mutants.Mutant(like.file, text, like.function, NOOP, start, start + 1, '{')
        noop.key = NOOP
        return noop

    def baseline(self):
        """Every test without a fault, and with the copy of an unchanged function."""
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for fault in pool.map(self.without_fault, self.tests):
                if fault:
                    raise SystemExit(fault)
        self.tests = [t for t in self.tests if t.reached and t.seconds <= self.options.most]
        for test in sorted(self.tests, key=lambda t: -t.seconds):
            say(f'  {test.seconds:6.2f} s {test.name}, {len(test.reached)} functions')
        say(f'baseline green: {len(self.tests)} programs reach the layer and judge, '
            f'{sum(t.seconds for t in self.tests):.1f} s of processor time; the no-op mutant passes')

    def without_fault(self, test):
        """None, or what is wrong with the test itself."""
        with tempfile.NamedTemporaryFile() as reached:
            passed, test.seconds, words = test.run(0, reached=reached.name)
            test.reached = {int(line) for line in reached.read().split()}
        if self.options.layer in test.suites:
            test.kills = 1  # likely to catch, for all we know
        if not passed:
            return f'{words[-3000:]}\n{test.name} fails without any fault'
        if 1 in test.reached and not test.run(1, limit=test.limit())[0]:
            return f'{test.name} fails with a copy of an unchanged function'
        return None

    def old_results(self):
        if not os.path.exists(self.path):
            return {}
        with open(self.path, encoding='utf-8') as f:
            found = {row['key']: row for row in map(json.loads, f) if 'key' in row}
        if self.options.again:
            found = {key: row for key, row in found.items() if row['result'] != 'survived'}
        return found

    def try_one(self, number, mutant):
        row = {'key': mutant.key, 'what': mutant.describe(), 'kind': mutant.kind, 'result': 'survived'}
        with self.lock:
            judges = sorted((t for t in self.tests if number in t.reached), key=lambda t: -t.promise())
        spent = 0.0
        for test in judges:
            passed, seconds, words = test.run(number, limit=test.limit())
            spent += seconds
            with self.lock:
                test.ran += 1
                test.kills += not passed
            if not passed:
                row.update(result='caught', by=test.name, words=words.strip()[-300:])
                break
        if row['result'] == 'survived':
            row['judges'] = [t.name for t in judges]
            if not self.tree.changes_code(mutant, self.texts[mutant.file]):
                row['result'] = 'same code'
        row['seconds'] = round(spent, 2)
        return row

    def judge(self):
        """Tries what has no result yet; returns all rows of the draw, in its order."""
        old = self.old_results()
        shard, shards = self.options.shard
        todo = [(n, m) for n, m in self.numbered.items() if m.key != NOOP and m.key not in old and n % shards == shard]
        if self.options.only:
            todo = [(n, m) for n, m in self.numbered.items() if self.options.only in m.describe()]
        with open(self.path, 'a', encoding='utf-8') as out, \
                concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            if not old:
                out.write(json.dumps({'layer': self.options.layer, 'seed': self.options.seed,
                                      'count': self.options.count, 'commit': commit()}) + '\n')
            for row in pool.map(lambda pair: self.try_one(*pair), todo):
                old[row['key']] = row
                out.write(json.dumps(row) + '\n')
                out.flush()
                say(f"{row['result']:9} {row['what']}" + (f" [{row['by']}]" if 'by' in row else ''))
            for row in self.strict(old):
                out.write(json.dumps(row) + '\n')
                out.flush()
        return [old[m.key] for m in self.numbered.values() if m.key in old]

    def strict(self, rows):
        """Survivors meet their judges once more, each object of an arena a malloc of its own under ASan."""
        left = [(n, rows[m.key]) for n, m in self.numbered.items()
                if m.key in rows and rows[m.key]['result'] == 'survived' and 'strict' not in rows[m.key]]
        names = {name for _, row in left for name in row['judges']}
        if not names or self.options.plain:
            return
        tree = Tree(ROOT, self.folder, 'build-strict', STRICT)
        tree.setup()
        tests = {t.name: t for t in tree.tests() if t.name in names and t.target()}
        tree.compile(self.options.jobs, [t.target() for t in tests.values()])
        for test in list(tests.values()):
            passed, test.seconds, words = test.run(0, limit=STRICT_MOST, strict=True)
            if not passed and test.seconds >= STRICT_MOST - 1:
                del tests[test.name]
            elif not passed:
                raise SystemExit(f'{words[-3000:]}\n{test.name} fails without any fault, built strictly')
        say(f'{len(left)} survivors go on to {len(tests)} programs built strictly')
        for number, row in left:
            row['strict'] = True
            for test in sorted((tests[name] for name in row['judges'] if name in tests), key=lambda t: t.seconds):
                passed, _, words = test.run(number, limit=test.limit(), strict=True)
                if not passed:
                    row.update(result='caught', by=test.name + ', built strictly', words=words.strip()[-300:])
                    say(f"caught    {row['what']} [{row['by']}]")
                    break
            yield row


def commit():
    result = subprocess.run(['git', '-C', ROOT, 'rev-parse', '--short', 'HEAD'], capture_output=True, text=True)
    return result.stdout.strip()


def summary(rows):
    """A table by kind, the survivors, and the last line; returns the share caught in per cent."""
    say('\n| fault | drawn | caught | same code | survived |\n|---|---|---|---|---|')
    results = ('caught', 'same code', 'survived')
    for kind in (*mutants.KINDS, None):
        mine = [row['result'] for row in rows if kind in (None, row['kind'])]
        say(f"| {kind or '**all**'} | {len(mine)} | " + ' | '.join(str(mine.count(r)) for r in results) + ' |')
    say('')
    for row in rows:
        if row['result'] == 'survived':
            say(f"- {row['what']}" + ('' if row['judges'] else ' (no test comes here)'))
    caught, same, survived = (sum(row['result'] == r for row in rows) for r in results)
    say(f'{caught} caught, {survived} survived, {same} change no instruction')
    return 100 * caught / max(1, len(rows) - same)


def shard(text):
    one, _, of = text.partition('/')
    return int(one), int(of)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('layer', choices=LAYERS)
    parser.add_argument('--seed', type=int, default=None)
    parser.add_argument('--count', type=int, default=200)
    parser.add_argument('--jobs', type=int, default=int(os.environ.get('GROVE_JOBS') or os.cpu_count() or 1))
    parser.add_argument('--shard', type=shard, default=(0, 1), help='I/N: every N-th mutant from the I-th on')
    parser.add_argument('--tests', type=lambda text: set(text.split(',')), help='only these programs judge')
    parser.add_argument('--suite', type=lambda text: set(text.split(',')), help='only programs of these suites judge')
    parser.add_argument('--most', type=float, default=1e9, help='programs that take more seconds do not judge')
    parser.add_argument('--plain', action='store_true', help='survivors are not tried in the strict build')
    parser.add_argument('--only', help='only mutants whose description holds this text')
    parser.add_argument('--again', action='store_true', help='try the survivors once more')
    parser.add_argument('--least', type=float, default=85.0, help='per cent to be caught')
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.randrange(1, 1000000)
    started = time.monotonic()
    run = Run(options)
    run.build()
    run.baseline()
    rate = summary(run.judge())
    say(f'{rate:.1f} % caught; seed {options.seed}, commit {commit()}, {(time.monotonic() - started) / 60:.1f} min')
    return 0 if rate >= options.least else 1


if __name__ == '__main__':
    sys.exit(main())
