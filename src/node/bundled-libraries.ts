import { readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { shared } from '../core/process-state.js';
import { entryOf, LEAST_BUNDLE } from '../libraries/table.js';
import type { InjectedName } from '../libraries/table.js';
import { warn } from './warning.js';

const IN_PACKAGE = /[\\/]node_modules[\\/]/;

const warned = shared('node.bundled', () => new Set<string>());

/** Says once what of a bundle is not recorded: it has neither the files of the libraries nor channels. */
export function warnOfBundled(names: readonly InjectedName[], content: string, path: string): void {
  const { packages, warning } = found(names, (text) => content.includes(text), path);
  if (packages.length === 0) return;
  const externals = packages.map((name) => `--external:${name}`).join(' ');
  warn(`${warning}; leave ${packages.length === 1 ? 'it' : 'them'} out: ${externals}`);
}

/** @param includes whether a bundle has a text. */
function found(
  names: readonly InjectedName[],
  includes: (text: string) => boolean,
  path: string,
): { packages: readonly string[]; warning: string } {
  const missed = names.filter((name) => {
    const { bundle } = entryOf(name);
    if (bundle === undefined || warned.has(name) || !includes(bundle.text)) return false;
    return bundle.unless === undefined || !includes(bundle.unless);
  });
  for (const name of missed) warned.add(name);
  const packages = [...new Set(missed.map((name) => entryOf(name).bundle!.external ?? name))];
  const [are, them] = packages.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const warning = `${packages.join(', ')} ${are} not traced: ${path} is a bundle that contains ${them}`;
  return { packages, warning };
}

const PIECE_BYTES = 1 << 18;
/** Of a text that is looked for, at most. */
const OVERLAP_BYTES = 128;

/** The same of a file of a package. It is read in pieces, apart from the thread that serves. */
export async function warnOfBundledPackage(
  names: readonly InjectedName[],
  path: string,
): Promise<void> {
  const clients = names.filter((name) => entryOf(name).bundle?.isClient === true);
  const left = new Set(
    clients.flatMap((name) => {
      const { text, unless = text } = entryOf(name).bundle!;
      return [text, unless];
    }),
  );
  const texts = new Set<string>();
  const file = await open(path);
  try {
    const piece = Buffer.alloc(OVERLAP_BYTES + PIECE_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(piece, OVERLAP_BYTES, PIECE_BYTES);
      if (bytesRead === 0) break;
      for (const text of left) {
        if (!piece.subarray(0, OVERLAP_BYTES + bytesRead).includes(text)) continue;
        texts.add(text);
        left.delete(text);
      }
      piece.copyWithin(0, bytesRead, OVERLAP_BYTES + bytesRead);
    }
  } finally {
    await file.close();
  }
  const { packages, warning } = found(clients, (text) => texts.has(text), path);
  if (packages.length > 0) warn(warning);
}

/** Bytes of all files of a program that are read, and their number. */
const MOST_BYTES = 1 << 26;
const MOST_FILES = 64;
/** A module of the program itself. */
const IMPORTED = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.{1,2}\/[^"'\n]+\.m?js)["']/g;

/** The same of a program of ES modules, which may be a bundle of several files. */
export function warnOfBundledProgram(names: readonly InjectedName[], program: string): void {
  const files = new Set([program]);
  let bytes = 0;
  for (const path of files) {
    let content: string;
    try {
      const stats = statSync(path);
      if (!stats.isFile() || (bytes += stats.size) > MOST_BYTES) return;
      content = readFileSync(path, 'utf8');
    } catch {
      // It cannot be read.
      continue;
    }
    if (content.length >= LEAST_BUNDLE) warnOfBundled(names, content, path);
    for (const [, imported = ''] of content.matchAll(IMPORTED)) {
      if (files.size >= MOST_FILES) break;
      const found = resolve(dirname(path), imported);
      if (!IN_PACKAGE.test(found)) files.add(found);
    }
  }
}
