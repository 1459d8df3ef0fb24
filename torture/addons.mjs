// The addons that only the torture needs, compiled when they are missing or out of date.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { compiler } from '../scripts/compile-native.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

function build(...args) {
  execFileSync(process.execPath, [join(root, 'scripts/build-native.mjs'), ...args, '--if-stale'], {
    stdio: ['ignore', 2, 2],
  });
}

// Not where the package looks for its own addon.
const MEMORY = join(root, 'build/torture');

/** Compiles what {@link loadMemory} loads. */
export function buildMemory() {
  build('--target', 'tracewright_torture', '--output', MEMORY);
}

/**
 * Memory that is shared with a file, and ends of the process: native/torture/memory.cc.
 *
 * @returns {{ mapFile: (path: string) => ArrayBuffer, segfault: () => void, abort: () => void }}
 */
export function loadMemory() {
  return createRequire(import.meta.url)(`${MEMORY}/Release/tracewright_torture.node`);
}

/**
 * Compiles the addon with a sanitizer, whose runtime a process loads first.
 *
 * @returns the environment in which a process loads both.
 */
export function buildSanitized(kind) {
  const directory = join(root, 'build/sanitized', kind);
  build('--sanitize', kind, '--output', join(directory, 'build'));
  const library = kind === 'thread' ? 'libtsan.so' : 'libasan.so';
  return {
    TRACEWRIGHT_PREBUILD: directory,
    LD_PRELOAD: execFileSync(compiler, [`-print-file-name=${library}`], {
      encoding: 'utf8',
    }).trim(),
    // What Node leaves at its end, and that V8 has handlers of its own, is nothing to report.
    ASAN_OPTIONS: 'detect_leaks=0,allow_user_segv_handler=1',
    // It does not see how Node's own threads wait for each other, and to describe each such race takes minutes.
    TSAN_OPTIONS: 'ignore_noninstrumented_modules=1',
  };
}

/**
 * Compiles the core with the deliberate fault: the tail of a ring is published before the write.
 *
 * @returns the environment in which a process loads it.
 */
export function buildFaultyCore() {
  const faulty = join(root, 'build/faulty');
  build('--define', 'TRACEWRIGHT_FAULT_TAIL_BEFORE_WRITE', '--output', join(faulty, 'build'));
  return { TRACEWRIGHT_PREBUILD: faulty };
}
