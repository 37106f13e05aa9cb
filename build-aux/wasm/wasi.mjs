// SPDX-License-Identifier: Apache-2.0
// Runs a WebAssembly program with WASI: node wasi.mjs PROGRAM.wasm ARGS... Paths are taken from the root of the file system.
import { readFile } from 'node:fs/promises';
import { argv, cwd, env, exit } from 'node:process';
import { WASI } from 'node:wasi';

const [program, ...args] = argv.slice(2);
const wasi = new WASI({
  version: 'preview1',
  args: [program, ...args],
  env,
  preopens: { '/': '/' },
  returnOnExit: true,
});
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
exit(wasi.start(instance));
