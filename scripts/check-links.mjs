// Finds links of the guides that lead nowhere: to a file, or to a heading, that does not exist. Finds paths of the
// repository that a guide names and that do not exist, too.
//
//   node scripts/check-links.mjs

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page) {
  const headings = readFileSync(page, 'utf8')
    .replace(/^```.*?^```/gms, '')
    .matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, text]) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

const docs = ['docs', 'bench/figures'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.md') && !name.startsWith('reference'))
    .map((name) => join(folder, name)),
);
const FOLDERS = 'src|native|test|bench|scripts|examples|torture';
/** A file, in a command too, or a folder that a text names. */
const PATH = new RegExp(
  `(?<![\\w/.-])(?:${FOLDERS})/(?:[\\w.-]+/)*[\\w-]+(?:\\.[\\w-]+)*\\.(?:mjs|cjs|ts|tsx|cc|h)\\b|(?<=\`)(?:${FOLDERS})/[\\w./-]+(?=\`)`,
  'g',
);
let broken = 0;
for (const page of [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'examples/README.md',
  'torture/README.md',
  'torture/long-runs.md',
  ...docs,
]) {
  const whole = readFileSync(join(root, page), 'utf8');
  const text = whole.replace(/^```.*?^```/gms, '');
  for (const [, link] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(link)) continue;
    const [path, anchor] = link.split('#');
    const target = path === '' ? join(root, page) : resolve(root, dirname(page), path);
    const isThere = existsSync(target);
    if (isThere && (anchor === undefined || anchorsOf(target).includes(anchor))) continue;
    const missing = isThere ? `no heading #${anchor} in` : 'no file';
    console.log(`${page}: ${link}: ${missing} ${relative(root, target)}`);
    broken += 1;
  }
  // The changes name files that are gone.
  if (page === 'CHANGELOG.md') continue;
  for (const [path] of whole.matchAll(PATH)) {
    if (existsSync(join(root, path))) continue;
    console.log(`${page}: ${path}: no such file or directory`);
    broken += 1;
  }
}
if (broken > 0) process.exitCode = 1;
