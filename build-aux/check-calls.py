#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls that nothing below the I/O line may make, and formats that depend on the host.

    check-calls.py [ROOT]

Time and randomness enter as arguments, memory through the environment, and text is formatted by our own
code: the C library's depends on the locale and the platform.
"""
import re
import sys

import source_tree

ABOVE_THE_LINE = ('lib/k8s/', 'lib/front/', 'lib/runner/')
BANNED = {
    'a clock; time enters as an argument': '''time clock clock_gettime gettimeofday timespec_get nanosleep sleep usleep
        localtime localtime_r gmtime gmtime_r mktime strftime ctime asctime difftime''',
    'randomness; the seed enters as an argument': 'rand srand rand_r random srandom drand48 getrandom arc4random',
    'the process environment': 'getenv setenv putenv secure_getenv setlocale newlocale uselocale localeconv',
    'the end of the host': 'exit _exit _Exit quick_exit abort atexit raise signal system',
    'printf family: use gv_buf_fmt or gv_fmt': '''printf fprintf sprintf snprintf vprintf vfprintf vsprintf
        vsnprintf dprintf asprintf vasprintf puts fputs putchar fputc putc perror''',
    'scanf family': 'scanf fscanf sscanf vsscanf',
    'a floating-point or locale-dependent parser': 'strtod strtof strtold atof atoi atol atoll strtok strcoll strxfrm',
    'an unbounded copy': 'strcpy strcat gets stpcpy',
    'input or output': '''fopen fclose fread fwrite fgets fseek fflush open close read write socket mmap
        remove rename tmpfile''',
    'assert, which input could make fire': 'assert',
    'memory outside the environment': 'malloc calloc realloc free strdup strndup aligned_alloc alloca',
}
WHY = {call: why for why, calls in BANNED.items() for call in calls.split()}
# The one place that may call each: the default allocator.
ALLOWED = {'lib/base/env.c': {'malloc', 'realloc', 'calloc', 'free'}}

CALL = re.compile(r'(?<![\w.>])([a-zA-Z_]\w*)[ \t]*\(')
STATIC = re.compile(r'^static\b[^;={}()]*?(\w+)[ \t]*\(', re.M)
MEMBER = re.compile(r'(?:\.|->)[ \t]*$')
FORMATTER = re.compile(r'\b(gv_(?:fmt|vfmt|buf_fmt|buf_vfmt|arena_fmt|error|diag_add|log))[ \t]*\(')
STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
CONVERSION = re.compile(r'%(?:%|[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(hh|h|ll|l|j|z|t|L)?([a-zA-Z]))')


def line_of(text, at):
    return text.count('\n', 0, at) + 1


def check_calls(report, name, code):
    own = set(STATIC.findall(code))  # a file's own function of that name is not the C library's
    for found in CALL.finditer(code):
        call = found.group(1)
        if call in WHY and call not in own and call not in ALLOWED.get(name, ()):
            if MEMBER.search(code[:found.start()][-4:]):
                continue
            report.add(name, line_of(code, found.start()), f'{call}(): {WHY[call]}')


def arguments_end(code, at):
    depth = 0
    for i in range(at, len(code)):
        if code[i] == '(':
            depth += 1
        elif code[i] == ')':
            depth -= 1
            if depth == 0:
                return i
    return len(code)


def check_formats(report, name, code):
    for found in FORMATTER.finditer(code):
        end = arguments_end(code, found.end() - 1)
        for text in STRING.findall(code[found.end():end]):
            for size, kind in CONVERSION.findall(text):
                if kind in 'aAeEfFgG' and kind:
                    report.add(name, line_of(code, found.start()), f'%{kind} in {found.group(1)}: floating point')
                elif kind == 'n':
                    report.add(name, line_of(code, found.start()), f'%n in {found.group(1)}')


def check_floats(report, name, code):
    """float and double: only value, which hands a document's numbers to hosts, may know them."""
    if name.startswith('lib/value/'):
        return
    for found in re.finditer(r'\b(float|double)\b', code):
        report.add(name, line_of(code, found.start()), f'{found.group(1)}: integers only below the I/O line')


def check(root):
    report = source_tree.Report('calls')
    for name in source_tree.files(root, '.c', '.h', under=('lib/',)):
        if name.startswith(ABOVE_THE_LINE):
            continue
        text = source_tree.read(root, name)
        report.read_waivers(name, text)
        code = source_tree.without_comments(text)
        bare = source_tree.without_comments(text, keep_strings=False)
        check_calls(report, name, bare)
        check_formats(report, name, code)
        check_floats(report, name, bare)
    return report.finish()


if __name__ == '__main__':
    sys.exit(check(source_tree.root_argument()))
