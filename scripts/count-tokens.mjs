// Counts the tokens of the TypeScript in src, without comments, and its files.
//
//   node scripts/count-tokens.mjs [--folders]
//
// A token is a leaf of the compiler's tree: what lies between two expressions of a template is one, and the expressions
// have their own. Figures of before are lower: they come from a scanner without a parser, which took the code between two
// templates for text. It counted 404,711 for a tree (d00e6e2a) that has 542,616, and 493,924 for 428b517a, which has
// 667,380. So a limit of 370,000 is 496,100 here.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './package-layout.mjs';

const SHORT_LINES = 40;
const LONG_LINES = 400;

const OPTIONS = {
  languageVersion: ts.ScriptTarget.Latest,
  jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
};

/** @param {string} name @param {string} text */
function tokensOf(name, text) {
  const file = ts.createSourceFile(name, text, OPTIONS);
  /** @param {ts.Node} node @returns {number} */
  const count = (node) => {
    const parts = node.getChildren(file);
    if (parts.length > 0) return parts.reduce((sum, part) => sum + count(part), 0);
    // A list without elements, and the end of the file, have no text.
    return node.getWidth(file) > 0 ? 1 : 0;
  };
  return count(file);
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
