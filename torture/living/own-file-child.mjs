// Writes numbered records from three threads, each to a file of its own with a ring, in a series of pieces.
// A thread waits while the reader has not deleted enough pieces. The last one is slow: its ring holds
// records for a while.
//
//   node torture/living/own-file-child.mjs '{"format": NAME, "directory": PATH, ...}'

import { once } from 'node:events';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { FLAG_OFFSET } from './progress-page.mjs';
import { OF_THREAD, numberOf, ownFileFormats, piecesIn } from './own-file-formats.mjs';

const order = isMainThread ? JSON.parse(process.argv[2]) : workerData;
const { format, directory, shares, pieceRecords, ringBytes, mostPieces, page, thread = 0 } = order;

/** Records between two notes of progress. */
const TURN = 2000;
/** Turns between two looks at the directory. */
const LOOK = 20;

// ovni's process begins before its threads.
const writer = ownFileFormats[format].begin(directory, thread, ringBytes >> (2 * thread));
const ends = [];
for (let each = 1; isMainThread && each < shares.length; each++) {
  const worker = new Worker(new URL(import.meta.url), { workerData: { ...order, thread: each } });
  ends.push(once(worker, 'exit'));
}

const pause = new Int32Array(new SharedArrayBuffer(4));
const fd = openSync(page, 'r+');
const recorded = Buffer.alloc(8);
const flag = Buffer.alloc(1);
const isRead = () => readSync(fd, flag, 0, 1, FLAG_OFFSET) === 1 && flag[0] === 1;

/** Nanoseconds of a record: of each turn without a reader, and of each with one. */
const times = [[], []];
const isSlow = thread === shares.length - 1;
const first = thread * OF_THREAD;
let { piece } = writer;
let inPiece = 0;
let turns = 0;
for (let n = 0; n < shares[thread];) {
  const end = Math.min(shares[thread], n + TURN);
  const before = isRead();
  const began = process.hrtime.bigint();
  const from = n;
  while (n < end) writer.write(first + n++);
  const ns = Number(process.hrtime.bigint() - began) / (end - from);
  if (!isSlow && isRead() === before) times[Number(before)].push(ns);
  recorded.writeDoubleLE(n);
  writeSync(fd, recorded, 0, 8, 8 * thread);
  inPiece += end - from;
  const next = writer.next(inPiece >= pieceRecords[thread]);
  if (next !== undefined) {
    inPiece = 0;
    piece = next;
  }
  if (isSlow) Atomics.wait(pause, 0, 0, 1);
  if (++turns % LOOK !== 0) continue;
  while (piece - numberOf(piecesIn(directory)[0]) >= mostPieces) Atomics.wait(pause, 0, 0, 2);
}
// ovni's process ends after its threads.
await Promise.all(ends);
writer.end();
closeSync(fd);
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1] ?? 0;
if (!isSlow)
  console.log(JSON.stringify({ thread, alone: median(times[0]), read: median(times[1]) }));
