#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ABI against that of the last tag, and programs built with old headers against today's library.

    check-abi.py ROOT BUILD             compares with what docs/abi holds of tagged versions
    check-abi.py ROOT BUILD --record    writes what later versions are compared with, when this one is tagged

docs/abi holds two files a version: libgrove-<version>.abi for abidiff, and libgrove-<version>.tar.gz with the public
headers and the examples of that version, which are compiled with those headers and run with today's library. Where the
tag itself is in the clone, its library is built as well and used beside today's in one process. Additions pass; a
removed or changed symbol, or a public struct that changed, fails. Until there is a tagged version, this one stands for it.
"""
import glob
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

ABIDIFF_INCOMPATIBLE = 8  # bit of its exit status
ABIDIFF_ERROR = 1 | 2
RUNS = 'runs.json'  # in the archive: program -> arguments, paths relative to it


def version_of(path):
    return tuple(int(part) for part in re.findall(r'\d+', os.path.basename(path)))


def dump_command(root, library):
    return ['abidw', '--headers-dir', os.path.join(root, 'include', 'grove'), '--drop-private-types',
            '--no-comp-dir-path', '--no-corpus-path', '--short-locs', library]


def example_runs(root, build):
    """Program -> arguments, of the examples that the build runs as tests."""
    listed = subprocess.run(['meson', 'introspect', '--tests', build], capture_output=True, text=True, check=True).stdout
    runs = {}
    for test in json.loads(listed):
        program = os.path.basename(test['cmd'][0])
        if program.startswith('example_'):
            runs[program.removeprefix('example_')] = [os.path.relpath(word, root) if os.path.isabs(word) else word
                                                      for word in test['cmd'][1:]]
    return runs


def write_consumers(root, build, path):
    """The same bytes for the same tree."""
    runs = example_runs(root, build)
    names = [os.path.relpath(name, root) for name in glob.glob(os.path.join(root, 'include', '**', '*.h'), recursive=True)]
    names += [f'examples/c/{name}.c' for name in runs] + [word for words in runs.values() for word in words
                                                          if os.path.isfile(os.path.join(root, word))]
    with open(path, 'wb') as raw, gzip.GzipFile('', 'wb', mtime=0, fileobj=raw) as packed, \
            tarfile.open(fileobj=packed, mode='w') as archive:
        contents = {name: open(os.path.join(root, name), 'rb').read() for name in set(names)}
        contents[RUNS] = json.dumps(runs, indent=1, sort_keys=True).encode() + b'\n'
        for name in sorted(contents):
            member = tarfile.TarInfo(name)
            member.size = len(contents[name])
            archive.addfile(member, io.BytesIO(contents[name]))


def record(root, build, library, version, folder):
    text = subprocess.run(dump_command(root, library), capture_output=True, text=True, check=True).stdout
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f'libgrove-{version}.abi')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    consumers = os.path.join(folder, f'libgrove-{version}.tar.gz')
    write_consumers(root, build, consumers)
    return path, consumers


def compare(root, library, dump):
    """Whether abidiff finds today's library compatible."""
    result = subprocess.run(['abidiff', '--headers-dir2', os.path.join(root, 'include', 'grove'), '--drop-private-types',
                             '--no-added-syms', dump, library], capture_output=True, text=True)
    print(result.stdout, end='')
    if result.returncode & ABIDIFF_ERROR:
        print(result.stderr, end='')
        return False
    if result.returncode & ABIDIFF_INCOMPATIBLE:
        print(f'abi: incompatible with {os.path.basename(dump)}')
        return False
    print(f'abi: compatible with {os.path.basename(dump)}')
    return True


def run_consumers(library, archive):
    """Whether the programs of an old version, built with its headers, work with today's library."""
    folder, good = os.path.dirname(library), True
    with tempfile.TemporaryDirectory() as work:
        with tarfile.open(archive) as packed:
            packed.extractall(work)
        with open(os.path.join(work, RUNS), encoding='utf-8') as f:
            runs = json.load(f)
        for name, words in runs.items():
            command = ['cc', '-std=c11', '-D_POSIX_C_SOURCE=200809L', '-Iinclude', f'examples/c/{name}.c', '-o', name,
                       f'-L{folder}', '-lgrove', f'-Wl,-rpath,{folder}']
            for step in (command, [os.path.join(work, name), *words]):
                result = subprocess.run(step, cwd=work, capture_output=True, text=True)
                if result.returncode != 0:
                    print(f'abi: {name} of {os.path.basename(archive)}: {step[0]} gave {result.returncode}')
                    print(result.stdout[-2000:] + result.stderr[-2000:])
                    good = False
                    break
    print(f'abi: {len(runs)} programs of {os.path.basename(archive)} with this library: {"all work" if good else "FAILED"}')
    return good


def beside(root, build, library, version):
    """Whether the library of a tag and today's do their work in one process; True where the tag is not at hand."""
    program = os.path.join(build, 'tests', 'abi', 'abi_beside')
    source = subprocess.run(['git', '-C', root, 'archive', f'v{version}'], capture_output=True)
    if source.returncode != 0 or not os.path.exists(program):
        return True
    with tempfile.TemporaryDirectory() as work:
        with tarfile.open(fileobj=io.BytesIO(source.stdout)) as packed:
            packed.extractall(work)
        subprocess.run(['make', '-s', '-C', work, f'-j{os.cpu_count()}', 'CFLAGS=-O0', 'build-make/libgrove.so'], check=True)
        result = subprocess.run([program, os.path.join(work, 'build-make', 'libgrove.so'), library])
    print(f'abi: the library of v{version} beside this one: {"works" if result.returncode == 0 else "FAILED"}')
    return result.returncode == 0


def main():
    root, build = (os.path.abspath(path) for path in sys.argv[1:3])
    library = os.path.join(build, 'lib', 'libgrove.so')
    folder = os.path.join(root, 'docs', 'abi')
    with open(os.path.join(root, 'include/grove/version.h'), encoding='utf-8') as f:
        version = re.search(r'GROVE_VERSION_STRING "([\d.]+)"', f.read()).group(1)
    if '--record' in sys.argv:
        for path in record(root, build, library, version, folder):
            print(f'{path}: written')
        return 0
    scratch = None
    if not glob.glob(os.path.join(folder, '*.abi')):
        print('abi: no version is tagged yet; this one stands for it')
        folder = scratch = tempfile.mkdtemp()
        record(root, build, library, version, folder)
    dumps = sorted(glob.glob(os.path.join(folder, '*.abi')), key=version_of)
    good = compare(root, library, dumps[-1])
    for archive in sorted(glob.glob(os.path.join(folder, '*.tar.gz')), key=version_of):
        good = run_consumers(library, archive) and good
    if not scratch:
        good = beside(root, build, library, '.'.join(str(part) for part in version_of(dumps[-1]))) and good
    else:
        shutil.rmtree(scratch)
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
