import { readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { TracewrightError } from '../../core/errors.js';

export interface PageFile {
  type: string;
  bytes: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.js': 'text/javascript; charset=utf-8',
};

/**
 * The files of the page by their path in a URL, read once: no request names a file of the disk.
 *
 * @param directory `dist/page` of the package.
 */
export function readPageFiles(directory: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    throw new TracewrightError(
      'ERR_SYSTEM',
      `the page is not in ${directory}: run \`npm run compile:ts\``,
    );
  }
  for (const name of names) {
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    files.set(`/${name}`, { type, bytes: readFileSync(join(directory, name)) });
  }
  const start = files.get('/index.html');
  if (start !== undefined) files.set('/', start);
  return files;
}
