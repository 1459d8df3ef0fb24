import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { compiledCode } from '../../core/native-calls.js';
import { alignedBytes, HEAD_BYTES } from './cache-layout.js';
import type { CompiledStart } from './cache-layout.js';

/** One for each version of Node and set of V8's flags that starts here, some 240 kB each. */
const MOST_FILES = 8;

/** @returns undefined: this V8 does not give it. */
function cacheFile({ identity, modules }: CompiledStart): Buffer | undefined {
  const parts: Buffer[] = [];
  for (const each of modules) {
    const part = compiledCode(each);
    if (part === undefined) return undefined;
    parts.push(part);
  }
  const head = Buffer.alloc(HEAD_BYTES, ' ');
  head.write(`${identity}\n${parts.map(({ length }) => length).join(' ')}\n`, 'latin1');
  const padded = parts.map((part) =>
    Buffer.concat([part, Buffer.alloc(alignedBytes(part.length) - part.length)]),
  );
  return Buffer.concat([head, ...padded]);
}

/** Writes a whole file or none, also where the machine fails. */
function writeWhole(path: string, bytes: Buffer): void {
  const fresh = `${path}.${process.pid}`;
  const fd = openSync(fresh, 'wx', 0o644);
  try {
    if (writeSync(fd, bytes) !== bytes.length) throw new Error('the disk is full');
    fsyncSync(fd);
    renameSync(fresh, path);
  } catch (error) {
    unlinkSync(fresh);
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Saves compiled code for later processes, if this user may write where the code lies. */
export function saveCompiled(compiled: CompiledStart): void {
  const directory = dirname(compiled.path);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    const others = readdirSync(directory).map((name) => join(directory, name));
    if (others.length >= MOST_FILES && !others.includes(compiled.path)) return;
    const bytes = cacheFile(compiled);
    if (bytes !== undefined) writeWhole(compiled.path, bytes);
  } catch {
    // The package lies where only others write. Each start compiles its code, as without this.
  }
}
