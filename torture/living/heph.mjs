// Reads a Heph trace again and again while threads write it, the drain thread empties their rings, and the
// trace rotates; then traces of killed processes while they are recovered.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readSpans } from 'tracewright/spans';
import { internal } from '../../scripts/package-layout.mjs';
import { readDuringRecovery } from './recovery-meanwhile.mjs';

const { LivingPass } = internal('heph/read/living-pass');
const { PacketCursor } = internal('heph/read/packet-cursor');
const { COUNTER_OFFSET, MIN_EVENT_BYTES, STREAM_OFFSET } = internal('heph/layout');

const program = (name) => fileURLToPath(new URL(name, import.meta.url));

/** What each thread writes of the records. */
const SHARES = [0.49, 0.49, 0.02];
const FIRST = 0xffff_0000;
/** An event `e` with an attribute `n`: where the number lies, and how long the event is. */
const NUMBER_OFFSET = MIN_EVENT_BYTES + 1 + 4;
const EVENT_BYTES = NUMBER_OFFSET + 8;

function fail(what) {
  throw new Error(what);
}

const piecesIn = (directory) => readdirSync(directory).filter((name) => name[0] !== '.');

/** Whole numbers, as runs of them. */
class Numbers {
  /** From and to (exclusive), in order. */
  runs = [];

  add(number) {
    const { runs } = this;
    let i = runs.length - 1;
    while (i >= 0 && runs[i][0] > number) i--;
    if (i >= 0 && runs[i][1] === number) runs[i][1]++;
    else runs.splice(++i, 0, [number, number + 1]);
    if (runs[i + 1]?.[0] !== number + 1) return;
    runs[i][1] = runs[i + 1][1];
    runs.splice(i + 1, 1);
  }

  /** The first from `number` on that is not among them. */
  firstMissing(number) {
    const run = this.runs.find(([from, to]) => from <= number && number < to);
    return run === undefined ? number : run[1];
  }
}

/** Reads a trace that rotates, each time from where it was settled, and deletes the pieces that are done. */
class RotatingReader {
  readings = 0;
  events = 0;
  overtaken = 0;
  inRings = 0;
  pieces = 0;
  #directory;
  /** By piece: where the next reading begins. */
  #settled = new Map();
  /** By thread: the events that are settled. A piece can have some that an earlier one has not. */
  done = SHARES.map(() => new Numbers());

  constructor(directory) {
    this.#directory = directory;
  }

  /** @returns by thread: how many events there are, those in rings included. */
  read() {
    const found = SHARES.map(() => 0);
    const living = { pass: new LivingPass() };
    const read = new Set();
    const ended = new Set();
    let last;
    for (let pieces = piecesIn(this.#directory).sort(); pieces.length > 0;) {
      for (const piece of pieces) {
        const path = join(this.#directory, piece);
        const since = this.#settled.get(piece) ?? 0;
        const cursor = new PacketCursor(path, { living, since });
        while (cursor.next()) if (cursor.isEvent) this.#take(cursor, found, path);
        cursor.close();
        if (cursor.faults.length > 0) fail(cursor.faults[0]);
        this.overtaken += cursor.overtaken;
        this.#settled.set(piece, cursor.settled);
        read.add(piece);
        if (cursor.state === 'ended') ended.add(piece);
      }
      last = pieces.at(-1);
      pieces = piecesIn(this.#directory)
        .sort()
        .filter((name) => !read.has(name));
      // What was the last piece may have grown before the next one was begun.
      if (pieces.length > 0) pieces.unshift(last);
    }
    this.readings++;
    // The last piece goes on.
    for (const piece of ended) {
      if (piece === last || this.#settled.get(piece) < this.#sizes.get(piece)) continue;
      unlinkSync(join(this.#directory, piece));
      this.#settled.delete(piece);
      this.pieces++;
    }
    return found.map((next, thread) => this.done[thread].firstMissing(next));
  }

  /** By piece: where its reading ended. */
  #sizes = new Map();

  #take(cursor, found, path) {
    const thread = cursor.u32(STREAM_OFFSET);
    const counter = cursor.u32(COUNTER_OFFSET);
    const number = Number(cursor.view.getBigUint64(cursor.position + NUMBER_OFFSET));
    const wanted = this.done[thread].firstMissing(found[thread]);
    if (cursor.size !== EVENT_BYTES || counter !== (FIRST + number) >>> 0) {
      fail(`${path}, byte ${cursor.offset}: torn: ${number} with counter ${counter}`);
    }
    if (number !== wanted) {
      const where = cursor.inFile ? 'file' : 'ring';
      fail(
        `${path}, byte ${cursor.offset} (${where}): thread ${thread} has ${number}, not ${wanted}`,
      );
    }
    found[thread] = number + 1;
    this.events++;
    if (cursor.inFile)
      this.#sizes.set(path.slice(this.#directory.length + 1), cursor.offset + cursor.size);
    else this.inRings++;
    if (cursor.isSettled) this.done[thread].add(number);
  }
}

/** Writes all records, and reads them meanwhile. */
export async function readRotating(run, count) {
  const directory = join(run.directory, 'heph');
  mkdirSync(directory);
  const shares = SHARES.map((share) => Math.ceil(share * count));
  const records = shares.reduce((sum, share) => sum + share, 0);
  const order = {
    target: join(directory, 'trace.heph'),
    shares,
    ringBytes: 2 ** 20,
    rotateBytes: 2 ** 23,
    mostPieces: 12,
    first: FIRST,
  };
  const writer = spawn(process.execPath, [program('heph-child.mjs'), JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  run.writers.push(writer);
  let said = '';
  writer.stdout.on('data', (data) => (said += data));
  let code;
  writer.on('exit', (status) => (code = status));
  const reader = new RotatingReader(directory);
  const began = performance.now();
  let told = began;
  while (code === undefined) {
    const found = reader.read();
    await sleep(run.random.pick([0, 0, 1, 5]));
    if (performance.now() - told < 10_000) continue;
    told = performance.now();
    console.log(
      `heph: ${found.reduce((sum, count) => sum + count, 0)} events, ${reader.readings} readings`,
    );
  }
  if (code !== 0) fail(`the writer ended with ${code}`);
  const found = reader.read();
  const dropped = said
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).dropped);
  if (dropped.length !== shares.length || dropped.some((count) => count !== 0))
    fail(`dropped: ${said}`);
  if (String(found) !== String(shares)) fail(`${found} events, not ${shares}`);
  const settled = reader.done.map(({ runs }) => runs);
  if (JSON.stringify(settled) !== JSON.stringify(shares.map((share) => [[0, share]]))) {
    fail(`${JSON.stringify(settled)} settled of ${shares}`);
  }
  const seconds = (performance.now() - began) / 1000;
  rmSync(directory, { recursive: true });
  console.log(
    `heph: ${records} events of ${shares.length} threads in ${seconds.toFixed(1)} s: ` +
      `${reader.readings} readings, ${reader.pieces} pieces, ${reader.inRings} events read in rings, ` +
      `${reader.overtaken} bytes overtaken; none torn, doubled or missing`,
  );
}

/** What a reading finds: how many spans ended and how many are open, their numbers without a gap. */
async function spansOf(target) {
  let ended = 0;
  const unfinished = [];
  for await (const span of readSpans(target)) {
    const n = Number(span.attributes.n);
    if (span.unfinished) unfinished.push(n);
    else if (n !== ended++) fail(`span ${n} in place of ${ended - 1}`);
  }
  unfinished.sort((a, b) => a - b);
  unfinished.forEach((n, i) => n === ended + i || fail(`open span ${n} in place of ${ended + i}`));
  return { ended, unfinished: unfinished.length };
}

/** Kills a writer, and reads its trace before, during and after its recovery. */
export async function readKilled(run) {
  const directory = join(run.directory, 'heph killed');
  mkdirSync(directory);
  const target = join(directory, 'trace.heph');
  const open = run.random.pick([1, 7, 40, 300]);
  const writer = spawn(
    process.execPath,
    [program('../open-spans-child.mjs'), target, String(open)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const closed = once(writer, 'close');
  await once(writer.stdout, 'data');
  await sleep(run.random.integer(0, 60) + run.random.next());
  writer.kill('SIGKILL');
  await closed;

  const before = await spansOf(target);
  if (before.unfinished < open || before.unfinished > open + 1) {
    fail(`${open} were open, ${before.unfinished} were read`);
  }
  const readings = await readDuringRecovery(
    { module: import.meta.resolve('tracewright/heph'), name: 'recoverTrace', values: [target] },
    before,
    () => spansOf(target),
  );
  if (readdirSync(directory).length !== 1) fail('the recovery left something');
  rmSync(directory, { recursive: true });
  return readings;
}
