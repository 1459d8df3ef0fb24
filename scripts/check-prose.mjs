// Holds the guides to the rules of how they are written: short sentences, short pages, plain words.
//
//   node scripts/check-prose.mjs
//
// A paragraph, a list item and a table cell each are one sentence or more. A semicolon does not end a
// sentence. Inline code counts one word a token. Code blocks and what a benchmark wrote do not count.
// The mean must hold with the tables and without them, because short cells would hide long prose.

import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const MEAN_LIMIT = 18;
const SENTENCE_LIMIT = 35;
const PAGE_LINES = 150;
/** Below this a cell, an item or a heading is a label. It would only lower the mean. */
const LABEL_WORDS = 4;

const SMELLS =
  /\b(behind|beside|besides|stands|told|tells|somebody|whoever|wavers?|comes? to it|take[ns]? away|gives? its)\b/gi;
const SMELLS_IN_GUIDES = 3;
const SMELLS_IN_SOURCES = 30;

/** @param {string} folder @param {RegExp} names */
function filesBelow(folder, names) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && names.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** Blanks a match but keeps its lines, so that line numbers stay right. */
const blank = (/** @type {string} */ text) => text.replace(/[^\n]/g, '');

/** What a benchmark wrote between its marks, and the table that another script generates. */
const GENERATED = /<!-- ([a-z-]+) -->.*?<!-- \/\1 -->|<!-- generated .*/gs;

/** @param {string} text */
function withoutCode(text) {
  return text
    .replace(/^```.*?^```/gms, blank)
    .replace(GENERATED, blank)
    .replace(/<!--.*?-->/gs, blank);
}

/** The words of a line, with each token of inline code as a word and links as their text. */
function plain(/** @type {string} */ text) {
  return text
    .replace(/(`+)(.+?)\1/g, (_, __, code) =>
      code
        .trim()
        .split(/\s+/)
        .map(() => 'code')
        .join(' '),
    )
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}/g, '');
}

/**
 * Paragraphs, list items, cells and headings, each with its first line's number.
 *
 * @param {string} text
 */
function blocksOf(text) {
  const blocks = [];
  let open;
  const close = () => {
    if (open !== undefined) blocks.push(open);
    open = undefined;
  };
  for (const [index, line] of withoutCode(text).split('\n').entries()) {
    const at = index + 1;
    const item = /^\s*(?:[-*]|\d+\.)\s+(.*)/.exec(line);
    if (line.trim() === '') close();
    else if (/^\s*\|/.test(line)) {
      close();
      if (/^[\s|:-]+$/.test(line)) continue;
      const cells = line.trim().replaceAll('\\|', '/').slice(1, -1).split('|');
      for (const cell of cells) blocks.push({ at, text: cell, label: true, cell: true });
    } else if (line.startsWith('#')) {
      close();
      blocks.push({ at, text: line.replace(/^#+\s*/, ''), label: true });
    } else if (item !== null) {
      close();
      open = { at, text: item[1], label: true };
    } else if (open === undefined) {
      if (!/^ {4}/.test(line)) open = { at, text: line, label: false };
    } else open.text += `\n${line.trim()}`;
  }
  close();
  return blocks;
}

/** @param {string} text */
function sentencesOf(text) {
  const sentences = [];
  for (const block of blocksOf(text)) {
    let at = block.at;
    for (const sentence of plain(block.text).split(/(?<=[.?!…]["')]*)(?=\s)/)) {
      const start = at + (/^\s*/.exec(sentence)?.[0].split('\n').length ?? 1) - 1;
      at += sentence.split('\n').length - 1;
      const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
      if (words.length === 0 || (block.label && words.length < LABEL_WORDS)) continue;
      sentences.push({
        at: start,
        words: words.length,
        start: words.slice(0, 8).join(' '),
        cell: block.cell === true,
      });
    }
  }
  return sentences;
}

/** @param {{ words: number }[]} sentences */
function meanOf(sentences) {
  return sentences.reduce((sum, { words }) => sum + words, 0) / Math.max(1, sentences.length);
}

/** @param {string[]} files */
function smellsIn(files) {
  return files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        [...line.matchAll(SMELLS)].map(([word]) => `${file}:${index + 1}: "${word}"`),
      ),
  );
}

const guides = filesBelow('docs', /\.md$/).filter((file) => !file.startsWith('docs/reference'));
const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'examples/README.md', ...guides];
const faults = [];

for (const page of pages) {
  const text = readFileSync(join(root, page), 'utf8');
  const sentences = sentencesOf(text);
  const mean = Math.max(meanOf(sentences), meanOf(sentences.filter(({ cell }) => !cell)));
  for (const { at, words, start } of sentences) {
    if (words <= SENTENCE_LIMIT) continue;
    faults.push(`${page}:${at}: "${start} …" has ${words} words, at most ${SENTENCE_LIMIT}`);
  }
  if (mean > MEAN_LIMIT) {
    faults.push(`${page}:1: ${mean.toFixed(1)} words a sentence on average, at most ${MEAN_LIMIT}`);
  }
  const lines = text.replace(GENERATED, '').split('\n').length;
  if (lines > PAGE_LINES && page !== 'CHANGELOG.md') {
    console.log(`${page}:1: warning: ${lines} lines; split a page above ${PAGE_LINES}`);
  }
}

const inGuides = smellsIn(['README.md', ...guides]);
if (inGuides.length > SMELLS_IN_GUIDES) {
  faults.push(...inGuides, `README and docs: ${inGuides.length} of these words`);
}
const sources = smellsIn([
  ...filesBelow('src', /\.ts$/),
  ...filesBelow('native', /\.(h|cc|c|js|mjs)$/),
]);
console.log(
  `Words to avoid: ${inGuides.length} in README and docs (at most ${SMELLS_IN_GUIDES}), ` +
    `${sources.length} in src and native (at most ${SMELLS_IN_SOURCES}).`,
);
if (sources.length > SMELLS_IN_SOURCES) {
  faults.push(...sources, `src and native: ${sources.length} of these words`);
}

for (const fault of faults) console.log(fault);
if (faults.length > 0) process.exitCode = 1;
