// Loads a binary for musl into a C program that Debian's musl-tools have linked. There is no Node for
// musl in npm, so the program stands in for what Node exports; all else must come from musl itself.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Functions that Node exports to addons. */
const OF_NODE = /^(napi_|node_api_|uv_|_ZN2v8|_ZNK2v8|_ZN4node)/;

function run(command, args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status === 0) return stdout;
  throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? status}\n${stdout}${stderr}`);
}

function programText(binary, functions) {
  return `#include <dlfcn.h>
#include <stdio.h>
${functions.map((name) => `void ${name}(void) {}`).join('\n')}
int main(void) {
  void* const addon = dlopen(${JSON.stringify(binary)}, RTLD_NOW);
  if (addon == NULL || dlsym(addon, "napi_register_module_v1") == NULL) {
    fprintf(stderr, "%s\\n", dlerror());
    return 1;
  }
  return 0;
}
`;
}

/** What loads the binary; a text: why that is not possible. */
export function loadUnderMusl(binary) {
  for (const tool of ['musl-gcc', 'nm']) {
    if (spawnSync(tool, ['--version']).status !== 0) return `${tool} is not installed`;
  }
  return () => {
    const place = mkdtempSync(join(tmpdir(), 'tracewright-musl-'));
    try {
      const symbols = run('nm', ['-D', '--undefined-only', '--format=posix', binary]);
      const names = symbols.split('\n').map((line) => line.split(/[ @]/)[0]);
      const source = join(place, 'load.c');
      const functions = names.filter((name) => OF_NODE.test(name));
      if (functions.length === 0) throw new Error('the binary uses nothing of Node');
      writeFileSync(source, programText(binary, functions));
      const program = join(place, 'load');
      run('musl-gcc', ['-rdynamic', '-o', program, source]);
      run(program, []);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  };
}
