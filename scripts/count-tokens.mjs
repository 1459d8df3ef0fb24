// Counts the tokens of the TypeScript in src, without comments, and its files.
//
//   node scripts/count-tokens.mjs [--folders]

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './package-layout.mjs';

const SHORT_LINES = 40;
const LONG_LINES = 400;

/** @param {string} name @param {string} text */
function tokensOf(name, text) {
  const variant = name.endsWith('.tsx') ? ts.LanguageVariant.JSX : ts.LanguageVariant.Standard;
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, true, variant, text);
  let count = 0;
  while (scanner.scan() !== ts.SyntaxKind.EndOfFileToken) count++;
  return count;
}

const source = join(root, 'src');
const names = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.tsx?$/.test(name),
);
/** @type {Map<string, number>} */
const ofFolders = new Map();
let [total, short, long] = [0, 0, 0];
for (const name of names) {
  const text = readFileSync(join(source, name), 'utf8');
  const tokens = tokensOf(name, text);
  const lines = text.split('\n').length - 1;
  const [folder = ''] = name.split('/');
  ofFolders.set(folder, (ofFolders.get(folder) ?? 0) + tokens);
  total += tokens;
  if (lines < SHORT_LINES) short++;
  if (lines > LONG_LINES) long++;
}
process.stdout.write(
  `src: ${total} tokens without comments in ${names.length} files, of which ${short} have fewer ` +
    `than ${SHORT_LINES} lines and ${long} more than ${LONG_LINES}\n`,
);
if (process.argv.includes('--folders')) {
  for (const [folder, tokens] of [...ofFolders].sort(([, a], [, b]) => b - a)) {
    process.stdout.write(`${String(tokens).padStart(8)}  ${folder}\n`);
  }
}
