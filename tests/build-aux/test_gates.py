#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each gate catches the fault planted for it, and passes the same tree without the fault."""
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GATES = os.path.join(ROOT, 'build-aux')
SPDX = '/* SPDX-License-Identifier: Apache-2.0 */\n'
HEAD = SPDX + '/* A file of the self-test. */\n'


def public_header(name, body=''):
    guard = name.replace('/', '_').replace('.', '_').upper()
    return f'{HEAD}#ifndef {guard}\n#define {guard}\n{body}#endif\n'


EXPORT = public_header('grove/export.h', '#define GROVE_API __attribute__((visibility("default")))\n')
VERSION = public_header('grove/version.h', '''#include <grove/export.h>
#define GROVE_VERSION_MAJOR 0
#define GROVE_VERSION_MINOR 1
GROVE_API const char *grove_version(void);
''')
SYS = public_header('grove/sys/backend.h', '''#include <grove/export.h>
GROVE_API int grove_backend_new(void);
''')
UMBRELLA = public_header('grove/grove.h', '#include <grove/export.h>\n#include <grove/version.h>\n')
SOURCE = HEAD + '''#include <grove/version.h>
#include <grove/sys/backend.h>
const char *grove_version(void) {
    return "0.1.0";
}
int grove_backend_new(void) {
    return 0;
}
'''


class Tree(unittest.TestCase):
    """A small tree that every gate passes."""

    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.write('include/grove/export.h', EXPORT)
        self.write('include/grove/version.h', VERSION)
        self.write('include/grove/grove.h', UMBRELLA)
        self.write('include/grove/sys/backend.h', SYS)
        self.write('lib/base/version.c', SOURCE)
        self.write('lib/plan/plan.h', HEAD)
        self.run_program('update-map.py', self.root, expect=0)

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)

    def read(self, name):
        with open(os.path.join(self.root, name), encoding='utf-8') as f:
            return f.read()

    def run_program(self, program, *arguments, expect):
        result = subprocess.run([sys.executable, os.path.join(GATES, program), *arguments],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result.stdout

    def passes(self, program):
        self.run_program(program, self.root, expect=0)

    def fails(self, program, *words):
        output = self.run_program(program, self.root, expect=1)
        for word in words:
            self.assertIn(word, output)


class Includes(Tree):
    PROGRAM = 'check-includes.py'

    def test_clean(self):
        self.passes(self.PROGRAM)

    def test_layer_above(self):
        self.write('lib/sched/a.c', HEAD + '#include "plan/plan.h"\n')
        self.fails(self.PROGRAM, 'lib/sched/a.c:3', 'sched may not see plan')

    def test_layer_below_is_allowed(self):
        self.write('lib/engine/a.c', HEAD + '#include "plan/plan.h"\n#include <grove/version.h>\n')
        self.passes(self.PROGRAM)

    def test_posix_below_the_line(self):
        self.write('lib/base/a.c', HEAD + '#include <unistd.h>\n')
        self.fails(self.PROGRAM, 'not ISO C11')

    def test_foreign_header_elsewhere(self):
        self.write('lib/model/a.c', HEAD + '#include <yaml.h>\n')
        self.fails(self.PROGRAM, 'model may not include <yaml.h>')

    def test_public_header_includes_private(self):
        self.write('include/grove/a.h', public_header('grove/a.h', '#include "base/mem.h"\n'))
        self.fails(self.PROGRAM, 'include/grove/a.h')

    def test_stable_header_includes_sys(self):
        self.write('include/grove/a.h', public_header('grove/a.h', '#include <grove/sys/backend.h>\n'))
        self.fails(self.PROGRAM, 'sys/')

    def test_tool_sees_the_inside(self):
        self.write('tools/t/main.c', HEAD + '#include "plan/plan.h"\n')
        self.fails(self.PROGRAM, 'only public headers')

    def test_tool_sees_the_inside_by_angle_brackets(self):
        self.write('tools/t/main.c', HEAD + '#include <plan/plan.h>\n')
        self.fails(self.PROGRAM, 'only public headers')

    def test_kubernetes_backend_sees_the_inside(self):
        self.write('lib/k8s/a.c', HEAD + '#include "base/mem.h"\n')
        self.fails(self.PROGRAM, 'only public headers')

    def test_waiver(self):
        self.write('tools/t/main.c', HEAD + '/* gate-allow(includes): the self-test shows it */\n#include "plan/plan.h"\n')
        self.passes(self.PROGRAM)

    def test_waiver_without_reason(self):
        self.write('tools/t/main.c', HEAD + '/* gate-allow(includes) */\n#include "plan/plan.h"\n')
        self.fails(self.PROGRAM, 'without a reason')

    def test_unused_waiver(self):
        self.write('tools/t/main.c', HEAD + '/* gate-allow(includes): nothing here */\nint a;\n')
        self.fails(self.PROGRAM, 'excuses nothing')

    def test_unknown_layer(self):
        self.write('lib/misc/a.c', HEAD)
        self.fails(self.PROGRAM, 'no layer')

    def test_comment_is_no_include(self):
        self.write('lib/base/a.c', HEAD + '/*\n#include <unistd.h>\n*/\n')
        self.passes(self.PROGRAM)


class Calls(Tree):
    PROGRAM = 'check-calls.py'

    def code(self, body):
        self.write('lib/base/a.c', f'{HEAD}int f(int x) {{\n    {body}\n}}\n')

    def test_clean(self):
        self.code('return g(x, "printf(time)"); /* time() */')
        self.passes(self.PROGRAM)

    def test_each_kind_of_call(self):
        for call in ('time(0)', 'rand()', 'getenv("A")', 'exit(1)', 'printf("a")', 'strtod("1", 0)',
                     'malloc(1)', 'setlocale(0, 0)', 'assert(x)', 'snprintf(0, 0, "a")', 'localtime(0)', 'abort()'):
            with self.subTest(call=call):
                self.code(f'return (int){call};')
                self.fails(self.PROGRAM, 'lib/base/a.c:4', call.split('(')[0])

    def test_member_of_that_name(self):
        self.code('return a->free(x) + b.time(x);')
        self.passes(self.PROGRAM)

    def test_own_function_of_that_name(self):
        self.write('lib/base/a.c', HEAD + 'static int open(int x) {\n    return x;\n}\nint f(void) {\n    return open(1) + read(2);\n}\n')
        self.fails(self.PROGRAM, 'lib/base/a.c:7: read()', 'calls: 1 findings')

    def test_above_the_line(self):
        self.write('lib/k8s/a.c', HEAD + 'int f(void) {\n    return (int)time(0);\n}\n')
        self.passes(self.PROGRAM)

    def test_float_format(self):
        self.code('return gv_fmt(b, "%d %.3f", x, y);')
        self.fails(self.PROGRAM, '%f')

    def test_float_format_on_a_later_line(self):
        self.code('return gv_error(err, 1,\n        "%s"\n        " %g", x);')
        self.fails(self.PROGRAM, '%g')

    def test_percent_sign(self):
        self.code('return gv_fmt(b, "100%% free %d", x);')
        self.passes(self.PROGRAM)

    def test_double(self):
        self.code('double y = x;\n    return (int)y;')
        self.fails(self.PROGRAM, 'integers only')
        os.rename(os.path.join(self.root, 'lib/base/a.c'), os.path.join(self.root, 'lib/plan/a.c'))
        self.fails(self.PROGRAM, 'integers only')

    def test_double_of_a_document(self):
        self.write('lib/value/a.c', HEAD + 'double f(void);\n')
        self.passes(self.PROGRAM)

    def test_waiver(self):
        self.code('return (int)time(0); /* gate-allow(calls): the self-test shows it */')
        self.passes(self.PROGRAM)


class Headers(Tree):
    PROGRAM = 'check-headers.py'

    def test_clean(self):
        self.passes(self.PROGRAM)

    def test_no_licence(self):
        self.write('lib/base/a.c', '/* A file. */\nint a;\n')
        self.fails(self.PROGRAM, 'lib/base/a.c:1')

    def test_no_purpose(self):
        self.write('lib/base/a.c', SPDX + '\nint a;\n')
        self.fails(self.PROGRAM, 'what the file is for')

    def test_script(self):
        self.write('tests/a.py', '#!/usr/bin/env python3\nprint(1)\n')
        self.fails(self.PROGRAM, 'tests/a.py')

    def test_not_alone(self):
        self.write('include/grove/grove.h', UMBRELLA.replace('#include <grove/v', '#include <grove/a.h>\n#include <grove/v'))
        self.write('include/grove/a.h', public_header('grove/a.h', 'uint32_t grove_a(void);\n'))
        self.fails(self.PROGRAM, 'does not stand alone')

    def test_not_cxx(self):
        self.write('include/grove/grove.h', UMBRELLA.replace('#include <grove/v', '#include <grove/a.h>\n#include <grove/v'))
        self.write('include/grove/a.h', public_header('grove/a.h', 'void grove_a(int class);\n'))
        self.fails(self.PROGRAM, 'g++')

    def test_comment_of_another_standard(self):
        self.write('include/grove/grove.h', UMBRELLA.replace('#include <grove/v', '#include <grove/a.h>\n#include <grove/v'))
        self.write('include/grove/a.h', public_header('grove/a.h', 'enum { grove_a, };\ntypedef struct { int; } grove_b;\n'))
        self.fails(self.PROGRAM, 'c99')

    def test_umbrella(self):
        self.write('include/grove/a.h', public_header('grove/a.h'))
        self.fails(self.PROGRAM, 'does not include every stable header')
        self.run_program(self.PROGRAM, '--fix', self.root, expect=0)
        self.passes(self.PROGRAM)

    def test_guard(self):
        self.write('include/grove/sys/a.h', HEAD + '#ifndef A\n#define A\n#endif\n')
        self.fails(self.PROGRAM, 'GROVE_SYS_A_H')


class Source(Tree):
    PROGRAM = 'check-source.py'

    def test_clean(self):
        self.passes(self.PROGRAM)

    def test_long_file(self):
        self.write('lib/base/a.c', HEAD + 'int a;\n' * 900)
        self.fails(self.PROGRAM, 'more than one idea')

    def test_long_file_with_waiver(self):
        self.write('lib/base/a.c', SPDX + '/* A table.\n * gate-allow(source): one table */\n' + 'int a;\n' * 900)
        self.passes(self.PROGRAM)

    def test_long_function_is_a_warning(self):
        self.write('lib/base/a.c', HEAD + 'static int long_one(int x) {\n' + '    x++;\n' * 61 + '    return x;\n}\n')
        output = self.run_program(self.PROGRAM, self.root, expect=0)
        self.assertIn('warning: long_one has 64 lines', output)

    def test_mark(self):
        self.write('lib/base/a.c', HEAD + '/* TODO: later */\n')
        self.fails(self.PROGRAM, 'without a reason')
        self.write('lib/base/a.c', HEAD + '/* TODO(k8s backend): needs the record of a claim */\n')
        self.passes(self.PROGRAM)

    def test_path_of_a_machine(self):
        for path in ('/wo' 'rk/a', '/ro' 'ot/a', '/home/me/a'):
            self.write('docs/a.md', f'see {path}\n')
            self.fails(self.PROGRAM, 'a path of one machine')

    def test_word(self):
        self.write('docs/a.md', 'made at our Work' 'place\n')
        self.fails(self.PROGRAM, 'has no place here')

    def test_space_at_the_end(self):
        self.write('lib/base/a.c', HEAD + 'int a; \n')
        self.fails(self.PROGRAM, 'space at the end')


class Symbols(Tree):
    PROGRAM = 'check-symbols.py'

    def library(self, *flags):
        os.makedirs(os.path.join(self.root, 'build/lib'), exist_ok=True)
        subprocess.run(['gcc', '-shared', '-fPIC', '-I', 'include', 'lib/base/version.c', *flags,
                        '-Wl,--version-script,lib/libgrove.map', '-o', 'build/lib/libgrove.so'], cwd=self.root, check=True)

    def with_library(self, expect, *words):
        output = self.run_program(self.PROGRAM, self.root, os.path.join(self.root, 'build'), expect=expect)
        for word in words:
            self.assertIn(word, output)

    def test_clean(self):
        self.library()
        self.with_library(0)

    def test_sys_symbols_have_their_own_node(self):
        self.library()
        result = subprocess.run(['nm', '-D', '--with-symbol-versions', os.path.join(self.root, 'build/lib/libgrove.so')],
                                capture_output=True, text=True, check=True)
        self.assertIn('grove_backend_new@@GROVE_SYS_0_1', result.stdout)
        self.assertIn('grove_version@@GROVE_0_1', result.stdout)

    def test_declared_not_in_map(self):
        self.write('include/grove/version.h', VERSION.replace('#endif', 'GROVE_API int grove_new(void);\n#endif'))
        self.fails(self.PROGRAM, 'grove_new is declared but not in the map')

    def test_in_map_not_declared(self):
        self.write('include/grove/sys/backend.h', public_header('grove/sys/backend.h'))
        self.fails(self.PROGRAM, 'grove_backend_new is in the map but not declared')

    def test_declared_not_defined(self):
        self.write('include/grove/version.h', VERSION.replace('#endif', 'GROVE_API int grove_new(void);\n#endif'))
        self.run_program('update-map.py', self.root, expect=0)
        self.library()
        self.with_library(1, 'grove_new is declared but libgrove.so does not define it')

    def test_exported_not_declared(self):
        self.write('lib/base/version.c', SOURCE + 'int grove_secret(void) {\n    return 1;\n}\n')
        text = self.read('lib/libgrove.map')
        self.write('lib/libgrove.map', text.replace('global:\n', 'global:\n    grove_secret;\n', 1))
        self.library()
        self.with_library(1, 'grove_secret is exported but not declared')

    def archive(self, source):
        """A static library beside the shared one, of a source of its own."""
        self.library()
        self.write('part.c', source)
        subprocess.run('gcc -c -I include part.c -o part.o && ar rcs build/lib/libgrove.a part.o', shell=True,
                       cwd=self.root, check=True)

    def test_static_library_with_a_name_of_its_own(self):
        self.archive(SOURCE + 'int gv_map_get(void);\nint gv_map_get(void) {\n    return 1;\n}\n')
        self.with_library(1, 'gv_map_get is not both declared and global')

    def test_globals_and_constructors(self):
        self.archive(SOURCE + 'static int calls = 1;\n__attribute__((constructor)) static void begin(void) {\n'
                     '    calls++;\n}\n')
        self.with_library(1, 'part.o has a section .data: a global or a constructor', 'part.o has a section .init_array')

    def test_constant_tables_are_no_globals(self):
        self.archive(SOURCE + 'static const char *const words[] = {"a", "b"};\nconst char *const *gv_words(void);\n'
                     '__attribute__((visibility("hidden"))) const char *const *gv_words(void) {\n    return words;\n}\n')
        self.assertNotIn('section', self.run_program(self.PROGRAM, self.root, os.path.join(self.root, 'build'), expect=1))

    def test_foreign_prefix(self):
        self.write('include/grove/version.h', VERSION.replace('#endif', 'GROVE_API int forest_new(void);\n#endif'))
        self.run_program('update-map.py', self.root, expect=0)
        self.fails(self.PROGRAM, 'a public name begins with grove_')

    def test_released_symbol_is_gone(self):
        self.write('docs/symbols-in-versions.txt', 'grove_version 0.1\ngrove_old 0.1\n')
        self.fails(self.PROGRAM, 'grove_old was released and is gone')

    def test_release_keeps_the_first_version(self):
        self.write('docs/symbols-in-versions.txt', 'grove_version 0.1\n')
        self.write('include/grove/version.h', VERSION.replace('MINOR 1', 'MINOR 2'))
        self.run_program('update-map.py', self.root, expect=0)
        text = self.read('lib/libgrove.map')
        self.assertIn('GROVE_0_1 {\nglobal:\n    grove_version;', text)
        self.assertIn('GROVE_SYS_0_2 {\nglobal:\n    grove_backend_new;', text)


class Docs(Tree):
    PROGRAM = 'check-docs.py'

    def test_links(self):
        self.write('README.md', '# A title here\n[a](docs/b.md#other-part) [b](#a-title-here) `[no](link)`\n')
        self.write('docs/b.md', '# b\n## Other part\n[back](../README.md)\n')
        self.passes(self.PROGRAM)

    def test_dead_link(self):
        self.write('README.md', '# a\n\n[a](docs/b.md)\n')
        self.fails(self.PROGRAM, 'README.md:3', 'leads nowhere')

    def test_dead_fragment(self):
        self.write('README.md', '# a\n[a](#b)\n')
        self.fails(self.PROGRAM, 'no heading gives #b')

    def test_outside(self):
        self.write('README.md', '# a\n[a](../b.md)\n')
        self.fails(self.PROGRAM, 'leaves the project')

    def test_snippets(self):
        self.write('docs/reference/cli.md', '## grovectl fit\n\n```text\nusage: grovectl fit FILE [--cluster FILE]\n```\n')
        self.write('README.md', '# a\n```c\ngrove_doc_unref(doc);\n```\n```json\n{"a": 1}\n```\n```yaml\na: [1]\n```\n'
                   '```sh\ngrovectl fit a.yaml --cluster b   # --other\n```\n')
        self.passes(self.PROGRAM)

    def test_wrong_snippets(self):
        self.write('docs/reference/cli.md', '## grovectl fit\n\n```text\nusage: grovectl fit FILE [--cluster FILE]\n```\n')
        for text, words in (('c\ngrove_walk(doc);', 'does not compile'), ('json\n{a}', 'JSON snippet does not parse'),
                            ('sh\ngrovectl walk', 'grovectl has no verb walk'),
                            ('sh\n./dev run grovectl fit a --fast', 'grovectl fit has no option --fast')):
            self.write('README.md', f'# a\n```{text}\n```\n')
            self.fails(self.PROGRAM, 'README.md:3', words)

    def test_page_that_nobody_finds(self):
        self.write('docs/README.md', '# a\n[b](b.md)\n')
        self.write('docs/b.md', '# b\n')
        self.passes(self.PROGRAM)
        self.write('docs/c.md', '# c\n')
        self.fails(self.PROGRAM, 'docs/c.md:1: no way leads here from docs/README.md')

    def test_spelling(self):
        if not shutil.which('codespell'):
            self.skipTest('codespell is not installed')
        self.write('README.md', '# a\n\nA sentance.\n')
        self.fails(self.PROGRAM, 'README.md:3: spelling: sentance ==> sentence')


def run_tests_module():
    spec = importlib.util.spec_from_file_location('run_tests', os.path.join(GATES, 'run-tests.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Counting(unittest.TestCase):
    """run-tests.py counts cases whatever the program's manner of telling."""

    def count(self, result='OK', stdout='', stderr=''):
        counted = run_tests_module().count_program(
            {'name': 'a', 'result': result, 'stdout': stdout, 'stderr': stderr})
        return counted.passed, counted.failed, counted.skipped

    def test_cmocka(self):
        self.assertEqual(self.count(stdout='[==========] 3 test(s) run.\n[  PASSED  ] 3 test(s).\n'), (3, 0, 0))

    def test_cmocka_two_groups(self):
        self.assertEqual(self.count(stdout='[  PASSED  ] 3 test(s).\n[  PASSED  ] 4 test(s).\n'), (7, 0, 0))

    def test_cmocka_failed_and_skipped(self):
        text = '[  PASSED  ] 3 test(s).\n[  SKIPPED ] group: 1 test(s), listed below:\n[  SKIPPED ] one\n'
        self.assertEqual(self.count('FAIL', text, '[  FAILED  ] group: 2 test(s), listed below:\n'), (3, 2, 1))

    def test_unittest(self):
        text = 'Ran 7 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=2)\n'
        self.assertEqual(self.count('FAIL', '', text), (3, 2, 2))

    def test_pytest(self):
        self.assertEqual(self.count('FAIL', '=== 1 failed, 3 passed, 2 skipped in 0.5s ===\n'), (3, 1, 2))

    def test_plain_line(self):
        self.assertEqual(self.count('OK', 'case a\n12 passed, 0 failed, 1 skipped\n'), (12, 0, 1))
        self.assertEqual(self.count('FAIL', '12 passed, 1 failed\n'), (12, 1, 0))

    def test_crash_after_the_last_case(self):
        self.assertEqual(self.count('FAIL', '[  PASSED  ] 3 test(s).\n'), (3, 1, 0))

    def test_silent_program(self):
        self.assertEqual(self.count('OK', 'fine\n'), (1, 0, 0))
        self.assertEqual(self.count('TIMEOUT'), (0, 1, 0))

    def test_no_case_is_a_failure(self):
        self.assertEqual(self.count('OK', '0 passed, 0 failed\n'), (0, 1, 0))
        self.assertEqual(self.count('OK', '', 'Ran 0 tests in 0.0s\n\nOK\n'), (0, 1, 0))

    def test_skipped_program(self):
        self.assertEqual(self.count('SKIP', 'no recordings here\n'), (0, 0, 1))


if __name__ == '__main__':
    unittest.main(verbosity=2)
