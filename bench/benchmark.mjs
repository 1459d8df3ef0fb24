import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, type } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/**
 * @typedef {object} Table
 * @property {string} title
 * @property {string[]} columns
 * @property {(string | number | boolean)[][]} rows
 * @property {boolean} [detail] too long for the documentation.
 */

/**
 * What a figure should be, and what it is.
 *
 * @typedef {object} Goal
 * @property {string} goal
 * @property {number | string | boolean} figure
 * @property {boolean} met
 */

/**
 * @typedef {object} Result
 * @property {Table[]} tables
 * @property {Goal[]} [goals]
 * @property {string[]} [notes] what a reader must know to judge the figures.
 */

/**
 * @typedef {object} Benchmark
 * @property {string} title
 * @property {string} [help] options of its own.
 * @property {Record<string, { type: 'string' | 'boolean' }>} [options]
 * @property {(options: { quick: boolean } & Record<string, any>) => Promise<Result>} measure
 */

/** The machine and the versions that were measured. */
export function machine() {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  let clockSource = '';
  try {
    clockSource = readFileSync(
      '/sys/devices/system/clocksource/clocksource0/current_clocksource',
      'utf8',
    ).trim();
  } catch {
    // Linux only.
  }
  return {
    cpu: `${availableParallelism()} x ${cpus()[0]?.model.trim() ?? process.arch}`,
    system: `${type()} ${release()}`,
    clockSource,
    node: process.version,
    v8: process.versions.v8,
    tracewright: version,
    date: new Date().toISOString(),
  };
}

/** @param {string | number | boolean} cell */
function format(cell) {
  if (typeof cell === 'boolean') return cell ? 'yes' : 'NO';
  if (typeof cell !== 'number') return cell;
  if (Number.isInteger(cell)) return cell.toLocaleString('en-US');
  const size = Math.abs(cell);
  if (size >= 1000) return Math.round(cell).toLocaleString('en-US');
  return cell.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

/** @param {Table} table */
export function tableText({ title, columns, rows }) {
  const cells = [columns, ...rows.map((row) => row.map(format))];
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => row[i].length)));
  const numeric = columns.map((_, i) => rows.some((row) => typeof row[i] === 'number'));
  const lines = cells.map((row) =>
    row
      .map((cell, i) => (numeric[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
      .join('  ')
      .trimEnd(),
  );
  lines.splice(1, 0, '-'.repeat(widths.reduce((sum, width) => sum + width + 2, -2)));
  return `${title}\n\n${lines.join('\n')}\n`;
}

/** @param {Table} table */
function tableMarkdown({ title, columns, rows }) {
  const line = (/** @type {string[]} */ cells) =>
    `| ${cells.map((cell) => cell.trim().replaceAll('|', '\\|')).join(' | ')} |`;
  const rule = columns.map((_, i) =>
    rows.some((row) => typeof row[i] === 'number') ? '--:' : '---',
  );
  return `${title}\n\n${[line(columns), line(rule), ...rows.map((row) => line(row.map(format)))].join('\n')}\n`;
}

/** @param {Result} result */
function allTables({ tables, goals = [] }) {
  if (goals.length === 0) return tables;
  const rows = goals.map(({ goal, figure, met }) => [goal, format(figure), met]);
  return [...tables, { title: 'Goals', columns: ['goal', 'figure', 'met'], rows }];
}

/**
 * @param {Result} result
 * @param {string} node the version that was measured; a table of several versions has a column of them.
 */
export function resultMarkdown(result, node) {
  const tables = allTables(result)
    .filter(({ detail }) => detail !== true)
    .map((table) =>
      table.columns.includes('Node') ? table : { ...table, title: `${table.title} (Node ${node})` },
    );
  return [...tables.map(tableMarkdown), `${(result.notes ?? []).join(' ')}\n`].join('\n');
}

/** @param {Result} result */
export function resultText(result) {
  const parts = allTables(result).map(tableText);
  if (result.notes !== undefined) parts.push(`${result.notes.join('\n')}\n`);
  return parts.join('\n');
}

/** @param {ReturnType<typeof machine>} on */
export function machineText(on) {
  return `${on.cpu}, ${on.system}, clock source ${on.clockSource || 'unknown'}, Node ${on.node}, Tracewright ${on.tracewright}, ${on.date}\n`;
}

/**
 * Measures and prints, when the file that calls is the program.
 *
 * @param {string} url `import.meta.url` of that file.
 * @param {Benchmark} benchmark
 */
export async function main(url, { title, help = '', options = {}, measure }) {
  const file = fileURLToPath(url);
  if (process.argv[1] === undefined || resolve(process.argv[1]) !== file) return;
  const { values } = parseArgs({
    options: {
      ...options,
      help: { type: 'boolean' },
      json: { type: 'boolean' },
      quick: { type: 'boolean' },
    },
  });
  if (values.help) {
    console.log(`${title}

usage: node ${process.argv[1]} [--json] [--quick]${help === '' ? '' : `\n${help}`}
  --json   the figures as JSON
  --quick  a tenth of the work: does it run, not how fast`);
    return;
  }
  const on = machine();
  const result = await measure({ ...values, quick: values.quick === true });
  if (values.json) console.log(JSON.stringify({ title, machine: on, ...result }));
  else console.log(`${title}\n${machineText(on)}\n${resultText(result)}`);
  if (result.goals?.some(({ met }) => !met)) process.exitCode = 2;
}
