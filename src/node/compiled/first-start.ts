import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { compileFunction } from 'node:vm';
import { alignedBytes, HEAD_BYTES } from './cache-layout.js';
import type { ModuleCode, StartFiles } from './cache-layout.js';
import { compileFile, savedModules } from './saved-modules.js';

/** One for each version of Node and set of V8's flags that starts here, some 350 kB each. */
const MOST_FILES = 8;
const SAVE_AFTER_MS = 1000;
/**
 * V8 keeps a text of more bytes apart. Others lie where its first garbage collection finds them, which comes after
 * 1 MB and takes a start 5 ms.
 */
const KEPT_APART = 2 ** 17;

interface CompiledStart {
  readonly modules: readonly ModuleCode[];
  /** Saves what V8 has compiled by the time that the program has begun, or ends. Undefined: it is saved. */
  readonly save: (() => void) | undefined;
}

/**
 * Compiles the files as they are, or finds what a process with the same flags of V8 has saved.
 *
 * @param isRefused whether V8 has refused what is saved: flags change that, such as the size of the heap on Node 20.
 */
export function compileStart(files: StartFiles, isRefused: boolean): CompiledStart {
  const path = isRefused ? `${files.saved}-${flagsOfV8()}` : files.saved;
  const known = isRefused ? savedModules({ ...files, saved: path }) : 'none';
  if (typeof known !== 'string') return { modules: known, save: undefined };
  const all = files.paths.map((each) => readFileSync(each));
  const bytes = all.reduce((sum, { length }) => sum + length, 0);
  const text = Buffer.concat(all, Math.max(bytes, KEPT_APART + 1));
  // The build writes ASCII. Each file has its part of the text, which takes no memory.
  const whole = text.toString('latin1');
  let end = 0;
  const modules = all.map(({ length }, i) =>
    compileFile(files.paths[i]!, whole.slice(end, (end += length))),
  );
  const save = (): void => {
    process.off('exit', save);
    clearTimeout(timer);
    // Only now: it is in one of the files.
    const { compiledCode } =
      require('../../core/native-calls.js') as typeof import('../../core/native-calls.js');
    saveFile(path, () => {
      const parts = modules.map((each) => compiledCode(each));
      if (!parts.every((part) => part !== undefined)) return undefined;
      const lengths = [parts, all].map((list) => list.map(({ length }) => length).join(' '));
      const head = Buffer.alloc(HEAD_BYTES, ' ');
      head.write(`${files.identity}\n${lengths.join('\n')}\n`, 'latin1');
      return Buffer.concat([head, ...parts.map(aligned), text]);
    });
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    modules,
    save: () => {
      timer = setTimeout(save, SAVE_AFTER_MS).unref();
      process.on('exit', save);
    },
  };
}

/** A name for the flags of V8. The head of compiled code contains a number of them. */
function flagsOfV8(): string {
  return compileFunction('', [], { produceCachedData: true }).cachedData!.toString('hex', 0, 24);
}

function aligned(part: Buffer): Buffer {
  return Buffer.concat([part], alignedBytes(part.length));
}

/** Saves a file for later processes, if this user may write where the code lies. */
function saveFile(path: string, content: () => Buffer | undefined): void {
  const directory = dirname(path);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    const others = readdirSync(directory).map((name) => join(directory, name));
    if (others.length >= MOST_FILES && !others.includes(path)) return;
    const bytes = content();
    if (bytes !== undefined) writeWhole(path, bytes);
  } catch {
    // The package lies where only others write. Each start compiles its code, as without this.
  }
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
