// Writes the tables of docs/options.md from src/core/settings/table.ts: its comments, kinds and defaults.
//
//   node scripts/options-page.mjs            writes the page
//   node scripts/options-page.mjs --check    fails if the page is not what the table says

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { root } from './package-layout.mjs';

const PREFIX = 'TRACEWRIGHT_';
/** Rows of the first table: what most programs set. */
const FIRST = 12;
const PAGE = join(root, 'docs/options.md');

/** What the comments of a table say: by name the text, and the default if no value says it. */
function commentsOf(/** @type {string} */ source) {
  const entries = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*([A-Z_]+): /g;
  return new Map(
    [...source.matchAll(entries)].map(([, comment, name]) => {
      const words = comment.replaceAll(/\s*\n\s*\*\s?/g, ' ').trim();
      const [text, byHand] = words.split(/\s*@default\s+/);
      return [name, { text: text.trim(), byHand }];
    }),
  );
}

/** The table itself, as it is at run time. */
async function settingsOf(/** @type {string} */ contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: join(root, 'src/core/settings'), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  });
  const code = Buffer.from(outputFiles[0].contents).toString('base64');
  return (await import(`data:text/javascript;base64,${code}`)).SETTINGS;
}

function shownDefault(value, limit) {
  if (typeof value === 'boolean') return value ? '`on`' : '`off`';
  if (typeof value === 'number') {
    return limit.endsWith('MiB')
      ? shownBytes(value)
      : `${value}${limit.includes(' ms') ? ' ms' : ''}`;
  }
  return `\`${[value].flat().join()}\``;
}

/** A number of bytes, in the largest unit of which it is a whole number. */
function shownBytes(/** @type {number} */ count) {
  for (const [size, unit] of [
    [2 ** 20, 'MiB'],
    [2 ** 10, 'KiB'],
  ]) {
    if (count >= size && count % size === 0) return `${count / size} ${unit}`;
  }
  return `${count}`;
}

const UNITS = ', or with a unit such as ';

/** The values of a kind. The page says above the tables which units there are. */
function valuesOf(/** @type {string} */ limit) {
  const [values, unit] = limit.split(UNITS);
  const [, reason] = /\((.*)\)$/.exec(values) ?? [];
  if (reason !== undefined) return reason;
  const shown = unit?.endsWith('B') ? shownBytes : (count) => count.toLocaleString('en');
  const range = unit === undefined ? values : values.replace('an integer from', 'bytes from');
  return range.replaceAll(/(?<![\d:])[1-9]\d{3,}/g, (digits) => shown(Number(digits)));
}

function tableOf(heads, rows) {
  const lines = [heads, heads.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** The tables of the page by their names. */
export async function tablesOf(/** @type {string} */ source) {
  const comments = commentsOf(source);
  const entries = Object.entries(await settingsOf(source)).map(([name, setting]) => {
    const { text, byHand } = comments.get(name) ?? {};
    if (!text) throw new Error(`${name} has no comment in the table of settings`);
    const { kind, otherwise } = setting;
    const usual = byHand ?? shownDefault(otherwise, kind.limit);
    return { ...setting, name, text, usual, values: valuesOf(kind.limit) };
  });
  const variables = (chosen) =>
    tableOf(
      ['variable', 'values', 'meaning', 'default'],
      chosen.map(({ name, values, text, usual }) => [`\`${PREFIX}${name}\``, values, text, usual]),
    );
  const named = (invalid) =>
    entries
      .filter((each) => each.invalid === invalid)
      .map(({ name }) => `\`${PREFIX}${name}\``)
      .join(', ');
  return {
    first: variables(entries.slice(0, FIRST)),
    others: variables(entries.slice(FIRST)),
    options: tableOf(
      ['option', 'variable'],
      entries
        .filter(({ option }) => option !== undefined)
        .map(({ option, name }) => [`\`${option}\``, `\`${PREFIX}${name}\``]),
    ),
    invalid: tableOf(
      ['variable', 'what happens if it is invalid'],
      [
        [named('untraced'), 'The service is not traced.'],
        [named('closed'), 'No path is recorded.'],
        ['any other', 'It has its default.'],
        [`an unknown name that begins with \`${PREFIX}\``, 'It changes nothing.'],
      ],
    ),
  };
}

/** The page with its tables. */
export async function pageOf(/** @type {string} */ page, /** @type {string} */ source) {
  let text = page;
  for (const [name, table] of Object.entries(await tablesOf(source))) {
    const marked = new RegExp(`(<!-- ${name}: .*-->\n)[^]*?(<!-- end -->)`);
    if (!marked.test(text)) throw new Error(`docs/options.md has no table "${name}"`);
    text = text.replace(marked, (_, begin, end) => `${begin}\n${table}\n${end}`);
  }
  return text;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const before = readFileSync(PAGE, 'utf8');
  const source = readFileSync(join(root, 'src/core/settings/table.ts'), 'utf8');
  const after = await pageOf(before, source);
  if (process.argv[2] !== '--check') {
    writeFileSync(PAGE, after);
  } else if (after !== before) {
    process.stderr.write(
      'docs/options.md is not what src/core/settings/table.ts says: npm run docs:options\n',
    );
    process.exitCode = 1;
  }
}
