// Reads files that one ring alone feeds (ovni, DUMPI, Laplace) while threads write them and go from piece to
// piece; then those of killed processes while they are recovered.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { internal } from '../../scripts/package-layout.mjs';
import { leftBehind } from '../verify.mjs';
import { OF_THREAD, ownFileFormats, piecesIn } from './own-file-formats.mjs';
import { ProgressPage } from './progress-page.mjs';
import { readDuringRecovery } from './recovery-meanwhile.mjs';

const CHILD = fileURLToPath(new URL('own-file-child.mjs', import.meta.url));
const FORMATS = new URL('own-file-formats.mjs', import.meta.url).href;
/** What each thread writes of the records. */
const SHARES = [0.49, 0.49, 0.02];
const MOST_PIECE_RECORDS = 500_000;
const LEAST_PIECES = 8;
/** Bytes of a file before its first record, at most. */
const LONGEST_HEADER = 64;
const SAID_EVERY_MS = 10_000;

/** Reads a series of pieces again and again, and deletes those that are complete. */
class SeriesReader {
  readings = 0;
  records = 0;
  growing = 0;
  overtaken = 0;
  pieces = 0;
  /** By path: what was found of a stream. */
  streams = new Map();
  #format;
  #directory;
  #shares;
  #viewer;

  /** @param shares what each thread writes. */
  constructor(format, directory, shares) {
    this.#shares = shares;
    this.#format = format;
    this.#directory = directory;
    this.#viewer = internal(format.module).traceViewer();
  }

  /**
   * @param recorded by thread: records that must be found.
   * @param hasEnded whether no process writes any more.
   */
  read(recorded, hasEnded) {
    const found = piecesIn(this.#directory).flatMap((piece) =>
      this.#format.streamsIn(piece).map((path) => ({ path, piece })),
    );
    for (const { path, piece } of found) {
      const stream = this.streams.get(path) ?? { thread: undefined, piece, from: undefined, to: 0 };
      this.streams.set(path, stream);
      if (stream.isDone) continue;
      const isLeft = hasEnded || this.#hasLeft(piece, stream.thread);
      const state = this.#readStream(path, stream);
      // A thread leaves a stream after the next one has begun.
      stream.isDone = isLeft && state === 'ended';
      if (hasEnded && state !== 'ended') throw new Error(`${path}: ${state} after the end`);
    }
    this.readings++;
    SHARES.forEach((_, thread) => {
      const most = Math.max(0, ...this.#streamsOf(thread).map(({ to }) => to));
      if (most < recorded[thread]) {
        throw new Error(`thread ${thread}: ${recorded[thread]} were recorded, ${most} were read`);
      }
    });
  }

  #streamsOf(thread) {
    return [...this.streams.values()].filter((stream) => stream.thread === thread);
  }

  /** Whether a thread has written all of its records, or some in a later piece. */
  #hasLeft(piece, thread) {
    if (thread === undefined) return false;
    return this.#streamsOf(thread).some(
      (each) => each.piece > piece || each.to === this.#shares[thread],
    );
  }

  /** Reads one stream; what was there before must be there, and each record once and in order. */
  #readStream(path, stream) {
    const isBegun = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LONGEST_HEADER;
    const view = this.#viewer(path);
    try {
      if (view.faults.length > 0) throw view.faults[0];
      let next = stream.from;
      let first;
      for (const numbered of this.#format.numbers(path)) {
        const number = numbered % OF_THREAD;
        if (first === undefined) {
          first = number;
          stream.thread ??= Math.floor(numbered / OF_THREAD);
        }
        if (number !== (next ?? number)) throw new Error(`${path}: ${number} in place of ${next}`);
        next = number + 1;
        this.records++;
      }
      if (first === undefined && stream.from !== undefined) throw new Error(`${path}: no records`);
      if (next !== undefined && next < stream.to) {
        throw new Error(`${path}: ends before ${next}, had ${stream.to}`);
      }
      stream.from = first;
      stream.to = next ?? 0;
      this.overtaken += view.overtaken;
      if (view.state === 'growing') this.growing++;
      return view.state;
    } catch (error) {
      // Its writer, or a recovery, is only opening or deleting it: what it has recorded is counted anyway.
      if (stream.from === undefined && !isBegun) return 'growing';
      throw error;
    } finally {
      view.close();
    }
  }

  /** Deletes pieces that every thread has left, and whose streams have been read to their end. */
  deleteDone() {
    for (const piece of piecesIn(this.#directory)) {
      const streams = [...this.streams.values()];
      const isLeft = SHARES.every((_, thread) => this.#hasLeft(piece, thread));
      const isDone = streams.every((each) => each.piece !== piece || each.isDone);
      if (!isLeft || !isDone) return;
      rmSync(piece, { recursive: true });
      this.pieces++;
    }
  }

  /** By thread: how many records the pieces have, which must follow one another. */
  counts() {
    return SHARES.map((_, thread) => {
      let next = 0;
      const streams = this.#streamsOf(thread).filter(({ from }) => from !== undefined);
      for (const { piece, from, to } of streams.sort((a, b) => (a.piece < b.piece ? -1 : 1))) {
        if (from !== next) throw new Error(`${piece}: begins with ${from}, not ${next}`);
        next = to;
      }
      return next;
    });
  }
}

function startWriter(run, name, directory, shares, mostPieces, pieceRecords) {
  const page = new ProgressPage(join(directory, 'progress'));
  const order = {
    format: name,
    directory,
    shares,
    pieceRecords: SHARES.map((share) => Math.ceil(share * pieceRecords)),
    ringBytes: 2 ** 20,
    mostPieces,
    page: join(directory, 'progress'),
  };
  const child = spawn(process.execPath, [CHILD, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  run.writers.push(child);
  return { child, page, closed: once(child, 'close') };
}

/** Writes all records, and reads them meanwhile. */
export async function readSeries(run, name, records) {
  const directory = join(run.directory, name);
  mkdirSync(directory);
  const shares = SHARES.map((share) => Math.ceil(share * records));
  const began = performance.now();
  const inPiece = Math.min(MOST_PIECE_RECORDS, records / LEAST_PIECES);
  const { child, page, closed } = startWriter(run, name, directory, shares, 4, inPiece);
  let said = '';
  child.stdout.on('data', (data) => (said += data));
  let hasEnded = false;
  void closed.then(() => (hasEnded = true));
  const reader = new SeriesReader(ownFileFormats[name], directory, shares);
  for (let told = began; !hasEnded;) {
    const recorded = page.recorded();
    page.noteReading(true);
    reader.read(recorded, false);
    page.noteReading(false);
    reader.deleteDone();
    // As long as nobody reads, the writer's cost is that of a trace that is not read.
    await sleep(run.random.pick([1, 5, 20]));
    if (performance.now() - told < SAID_EVERY_MS) continue;
    told = performance.now();
    console.log(
      `${name}: ${recorded.reduce((a, b) => a + b)} records, ${reader.readings} readings`,
    );
  }
  if (child.exitCode !== 0) throw new Error(`the writer ended with ${child.exitCode}`);
  reader.read(shares, true);
  const counts = reader.counts();
  if (String(counts) !== String(shares)) throw new Error(`${counts} records, not ${shares}`);
  page.close();
  rmSync(directory, { recursive: true });
  const costs = said
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const mean = (of) => (costs.reduce((sum, cost) => sum + cost[of], 0) / costs.length).toFixed(1);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(
    `${name}: ${shares.reduce((a, b) => a + b)} records of ${shares.length} threads in ${seconds} s: ` +
      `${reader.readings} readings of ${reader.records} records, ${reader.pieces} pieces, ` +
      `${reader.growing} streams read while they grew, ${reader.overtaken} bytes overtaken; ` +
      `none torn, doubled or missing; a record took its writer ${mean('alone')} ns, ` +
      `${mean('read')} ns while it was read`,
  );
}

/** What a reading of all pieces finds: by thread, how many records. */
function countsIn(name, directory) {
  const reader = new SeriesReader(ownFileFormats[name], directory, []);
  reader.read([0, 0, 0], false);
  return reader.counts();
}

/** Kills a writer, and reads its pieces before, during and after their recovery. */
export async function readKilled(run, name) {
  const directory = join(run.directory, `${name} killed`);
  mkdirSync(directory);
  const many = SHARES.map(() => 2 ** 31);
  const { child, page, closed } = startWriter(run, name, directory, many, Infinity, 50_000);
  while (page.recorded()[0] === 0 && child.exitCode === null) await sleep(1);
  await sleep(run.random.integer(0, 60) + run.random.next());
  child.kill('SIGKILL');
  await closed;
  const recorded = page.recorded();
  page.close();

  const before = countsIn(name, directory);
  if (before.some((count, thread) => count < recorded[thread])) {
    throw new Error(`${recorded} were recorded, ${before} were read`);
  }
  const readings = await readDuringRecovery(
    { module: FORMATS, name: 'recoverPieces', values: [name, directory] },
    before,
    () => countsIn(name, directory),
  );
  const left = leftBehind(directory);
  if (left.length > 0) throw new Error(`the recovery left ${left}`);
  rmSync(directory, { recursive: true });
  return readings;
}
