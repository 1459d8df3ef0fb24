import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { compileFunction } from 'node:vm';
import { alignedBytes, HEAD_BYTES } from './cache-layout.js';
import type { ModuleCode, StartFiles } from './cache-layout.js';

const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname'];
/** Not a regular file, or one that others may write. */
const FOREIGN = constants.S_IFMT | 0o022;

/**
 * V8 trusts compiled code as it trusts text, so a file is read only if it belongs to the owner of the code, to root or
 * to this user, and nobody else may write it.
 */
function readTrusted(path: string, owner: number): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    return undefined;
  }
  try {
    const { mode, size, uid } = fstatSync(fd);
    if ((mode & FOREIGN) !== constants.S_IFREG) return undefined;
    if (uid !== owner && uid !== 0 && uid !== process.geteuid?.()) return undefined;
    const bytes = Buffer.allocUnsafeSlow(size);
    return readSync(fd, bytes, 0, size, 0) === size ? bytes : undefined;
  } finally {
    closeSync(fd);
  }
}

/**
 * By `compileFunction`, not as a `vm.Script`: since Node 24 that is an object of V8's C++ heap, and one such object is
 * enough for V8 to collect a program at rest, and to drop its optimized code.
 *
 * @param saved what V8 has made of it before; the result says with `cachedDataRejected` whether it refuses that.
 */
export function compileFile(path: string, text: string, saved?: Buffer): ModuleCode {
  const cached = saved === undefined ? {} : { cachedData: saved };
  const made = compileFunction(text, PARAMETERS, { filename: path, ...cached });
  return made as unknown as ModuleCode;
}

/**
 * Compiles the files from what an earlier process has saved.
 *
 * @returns `none`: nothing was saved of these very files; `refused`: V8 does not take it.
 */
export function savedModules(files: StartFiles): readonly ModuleCode[] | 'none' | 'refused' {
  const bytes = readTrusted(files.saved, files.owner);
  if (bytes === undefined) return 'none';
  const [identity, parts = '', sources = ''] = bytes.toString('latin1', 0, HEAD_BYTES).split('\n');
  if (identity !== files.identity) return 'none';
  let end = HEAD_BYTES;
  const codes = parts.split(' ').map((length) => {
    const from = end;
    end += alignedBytes(Number(length));
    return bytes.subarray(from, from + Number(length));
  });
  const lengths = sources.split(' ').map(Number);
  if (end + lengths.reduce((sum, length) => sum + length, 0) > bytes.length) return 'none';
  // Each source is a part of one text, which takes no memory.
  const text = bytes.toString('latin1', end);
  const modules: ModuleCode[] = [];
  let at = 0;
  for (const [i, length] of lengths.entries()) {
    const made = compileFile(files.paths[i]!, text.slice(at, (at += length)), codes[i]);
    if (made.cachedDataRejected === true) return 'refused';
    modules.push(made);
  }
  return modules;
}
