// What a reference of Laplace costs, alone and in bulk, and how fast a reference trace becomes text and
// comes back. C++ loops that do the same are the comparison. --references also measures memory.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openReferences, referencesToText, textToReferences } from 'tracewright/laplace';
import { alternate, cost, costTable, ratio } from './alternating.mjs';
import { main } from './benchmark.mjs';
import { loadEventLoops } from './event-loops.mjs';

const CONVERT = '--convert';
const RECORD_BYTES = 18;
const RING_BYTES = 2 << 20;
const BATCH = 1000;
const MIB = 2 ** 20;

const LOAD = 'load(), timestamp a number';
const CLOCK = 'load(), timestamp of the clock';
const LINE = 'load() as text, timestamp a number';
const CLOCK_LINE = 'load() as text, timestamp of the clock';
const PACKED = 'batch(), packed';
const ARRAYS = 'batch(), typed arrays';
const TO_TEXT = 'binary to text';
const TO_BINARY = 'text to binary';
const LOOP = ', C++ loop';

/**
 * Records that look like a program's: a timestamp of 11 digits that grows, some address spaces.
 *
 * @param {number} count
 * @param {number} from number of the first one.
 */
function packedRecords(count, from) {
  const records = new Uint8Array(count * RECORD_BYTES);
  const view = new DataView(records.buffer);
  for (let i = 0; i < count; i++) {
    const at = i * RECORD_BYTES;
    const n = from + i;
    view.setUint8(at, 'rrwi'.charCodeAt(n & 3));
    view.setBigUint64(at + 1, 0x123_0000_0000n + BigInt(n * 3), true);
    view.setUint8(at + 9, 1 << (n & 3));
    view.setUint32(at + 10, 0x9f8e0 + ((n >> 10) & 7), true);
    view.setUint32(at + 14, Math.imul(n, 0x9e3779b1), true);
  }
  return records;
}

/**
 * @param {string} path
 * @param {number} references
 */
function writeTrace(path, references) {
  const trace = openReferences(path, { exists: 'replace' });
  const piece = 100_000;
  for (let done = 0; done < references; done += piece) {
    trace.batch(packedRecords(Math.min(piece, references - done), done));
  }
  trace.close();
}

/**
 * @param {string} directory
 * @param {boolean} quick
 */
async function recordCosts(directory, quick) {
  const open = (/** @type {string} */ name, /** @type {'binary' | 'text'} */ form = 'binary') =>
    openReferences(join(directory, name), { form, ringBytes: RING_BYTES });
  const [single, clocked, packed, arrays] = ['single', 'clocked', 'packed', 'arrays'].map((name) =>
    open(name),
  );
  const [lines, clockedLines] = ['lines', 'clocked-lines'].map((name) => open(name, 'text'));
  const batch = packedRecords(BATCH, 0);
  const columns = {
    type: new Uint8Array(BATCH).fill(0x72),
    timestamp: Float64Array.from({ length: BATCH }, (_, i) => 0x123_0000_0000 + i),
    length: new Uint8Array(BATCH).fill(4),
    space: new Uint32Array(BATCH).fill(0x9f8e7),
    address: Uint32Array.from({ length: BATCH }, (_, i) => Math.imul(i, 0x9e3779b1)),
  };
  let cycle = 0x123_0000_0000;
  // Every loop is a function of its own, as every call site of a simulator is.
  const singly = [
    {
      name: LOAD,
      run: (/** @type {number} */ count) => {
        // A local, as a variable of the module is a heap object anew for each number.
        let at = cycle;
        for (let i = 0; i < count; i++) single.load(at++, 4, 0x9f8e7, i);
        cycle = at;
      },
      settle: () => single.flush(),
    },
    {
      name: CLOCK,
      run: (/** @type {number} */ count) => {
        for (let i = 0; i < count; i++) clocked.load(undefined, 4, 0x9f8e7, i);
      },
      settle: () => clocked.flush(),
    },
    {
      name: LINE,
      run: (/** @type {number} */ count) => {
        let at = cycle;
        for (let i = 0; i < count; i++) lines.load(at++, 4, 0x9f8e7, i);
        cycle = at;
      },
      settle: () => lines.flush(),
    },
    {
      name: CLOCK_LINE,
      run: (/** @type {number} */ count) => {
        for (let i = 0; i < count; i++) clockedLines.load(undefined, 4, 0x9f8e7, i);
      },
      settle: () => clockedLines.flush(),
    },
  ];
  const inBatches = [
    {
      name: PACKED,
      run: (/** @type {number} */ count) => {
        for (let done = 0; done < count; done += BATCH) packed.batch(batch);
      },
      settle: () => packed.flush(),
    },
    {
      name: ARRAYS,
      run: (/** @type {number} */ count) => {
        for (let done = 0; done < count; done += BATCH) arrays.batch(columns);
      },
      settle: () => arrays.flush(),
    },
  ];
  const settings = { operations: 10_000, rounds: quick ? 30 : 300 };
  // Not all in turns: every ring takes room in the caches, and a simulator has one.
  const costs = new Map([
    ...(await alternate(singly, settings)),
    ...(await alternate(inBatches, settings)),
  ]);
  for (const trace of [single, clocked, lines, clockedLines, packed, arrays]) trace.close();
  return costs;
}

/**
 * Nanoseconds of CPU time of all threads of this process.
 *
 * @param {() => unknown} work
 */
async function cpuNs(work) {
  const from = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(from);
  return (user + system) * 1000;
}

/**
 * Costs of the conversions, in nanoseconds of CPU time a byte of text.
 *
 * @param {string} directory
 * @param {boolean} quick
 */
async function conversionCosts(directory, quick) {
  const loops = loadEventLoops();
  const references = quick ? 200_000 : 2_000_000;
  const binary = join(directory, 'binary');
  const text = join(directory, 'text');
  const to = join(directory, 'to');
  writeTrace(binary, references);
  await referencesToText(binary, text);
  const bytes = statSync(text).size;
  /** @type {import('tracewright/laplace').ConvertReferencesOptions} */
  const options = { exists: 'replace' };
  const loop = (/** @type {number} */ written) => {
    if (written < 0) throw new Error(`the loop could not write ${to}`);
  };
  const settle = () => rmSync(to, { force: true });
  const costs = await alternate(
    [
      { name: TO_TEXT, run: () => referencesToText(binary, to, options), settle },
      { name: TO_TEXT + LOOP, run: () => loop(loops.laplaceToText(binary, to)), settle },
      { name: TO_BINARY, run: () => textToReferences(text, to, options), settle },
      { name: TO_BINARY + LOOP, run: () => loop(loops.laplaceToBinary(text, to)), settle },
    ],
    { operations: bytes, rounds: quick ? 3 : 11, warmUpRounds: 1, time: cpuNs },
  );
  return { costs, bytes, references };
}

/** Converts, in a process that does nothing else, and prints its peak resident memory. */
async function convertAndTell(
  /** @type {string} */ way,
  /** @type {string} */ from,
  /** @type {string} */ to,
) {
  const convert = way === 'text' ? referencesToText : textToReferences;
  const start = performance.now();
  const { records } = await convert(from, to);
  const seconds = (performance.now() - start) / 1000;
  const { maxRSS } = process.resourceUsage();
  console.log(JSON.stringify({ records, seconds, peakBytes: maxRSS * 1024 }));
}

/**
 * The memory that converting a long trace takes.
 *
 * @param {string} directory
 * @param {number} references
 */
function conversionMemory(directory, references) {
  const [binary, text, back] = ['long', 'long.txt', 'back'].map((name) => join(directory, name));
  const convert = (/** @type {string[]} */ ...args) => {
    const script = fileURLToPath(import.meta.url);
    const { stdout, status } = spawnSync(process.execPath, [script, CONVERT, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (status !== 0) throw new Error(`the conversion ended with ${status}`);
    /** @type {{ records: number, seconds: number, peakBytes: number }} */
    const result = JSON.parse(stdout);
    if (result.records !== references) throw new Error(`${result.records} references came out`);
    return result;
  };
  writeTrace(binary, references);
  const forth = convert('text', binary, text);
  rmSync(binary);
  const textBytes = statSync(text).size;
  const other = convert('binary', text, back);
  rmSync(text);
  return [
    { name: TO_TEXT, ...forth, textBytes },
    { name: TO_BINARY, ...other, textBytes },
  ];
}

/** @param {{ quick: boolean, references?: string }} options */
async function measure({ quick, references: wanted }) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  try {
    const records = await recordCosts(directory, quick);
    const { costs: conversions, bytes } = await conversionCosts(directory, quick);
    const references = Number(wanted ?? (quick ? 1_000_000 : 10_000_000));
    const memory = conversionMemory(directory, references);

    /** @param {string} name */
    const speed = (name) => 1000 / cost(conversions, name);
    /** @param {string} name @param {number} most */
    const atMost = (name, most) => {
      const figure = cost(records, name);
      return { goal: `${name}: at most ${most} ns a reference`, figure, met: figure <= most };
    };
    const toText = ratio(conversions, TO_TEXT, TO_TEXT + LOOP);
    const peak = Math.max(...memory.map(({ peakBytes }) => peakBytes)) / MIB;
    return {
      tables: [
        costTable('A reference, 18 bytes or a line', records, []),
        {
          title: `Conversion, ${(bytes / 1e6).toFixed(0)} MB of text`,
          columns: ['', 'MB of text per CPU second', 'x C++ loop'],
          rows: [TO_TEXT, TO_BINARY].flatMap((name) => [
            [name, speed(name), ratio(conversions, name, name + LOOP)],
            [name + LOOP, speed(name + LOOP), 1],
          ]),
        },
        {
          title: `Conversion of ${references.toLocaleString('en-US')} references in a process of its own`,
          columns: ['', 'seconds', 'MB of text/s', 'peak resident MiB'],
          rows: memory.map(({ name, seconds, peakBytes, textBytes }) => [
            name,
            seconds,
            textBytes / 1e6 / seconds,
            peakBytes / MIB,
          ]),
        },
      ],
      goals: [
        atMost(LOAD, 20),
        atMost(CLOCK, 35),
        atMost(PACKED, 3),
        atMost(ARRAYS, 10),
        {
          goal: `${TO_TEXT}: at least 150 MB of text per CPU second`,
          figure: speed(TO_TEXT),
          met: speed(TO_TEXT) >= 150,
        },
        {
          goal: `${TO_BINARY}, MB of text per CPU second (no limit)`,
          figure: speed(TO_BINARY),
          met: true,
        },
        {
          goal: `${TO_TEXT}: at most 2.5 times the C++ loop`,
          figure: toText,
          met: toText <= 2.5,
        },
        { goal: 'peak resident memory at most 128 MiB', figure: peak, met: peak <= 128 },
      ],
      notes: [
        `A batch hands over ${BATCH} references.`,
        'A conversion counts the CPU time of all its threads, user and system, reading and writing included. The files are in the page cache.',
      ],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (process.argv[2] === CONVERT) await convertAndTell(...process.argv.slice(3, 6));
else {
  await main(import.meta.url, {
    title: "Laplace's references",
    help: '  --references N  references of the trace whose conversion is measured for memory; default 10,000,000\n                  (100,000,000 take 6 GB of disk)',
    options: { references: { type: 'string' } },
    measure,
  });
}
