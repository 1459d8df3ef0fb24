// Rings that a dead process left, broken where it matters: a page of control fields is mostly empty.

import { existsSync, readFileSync } from 'node:fs';
import { internal } from '../../scripts/package-layout.mjs';
import { mutate } from './mutate.mjs';

const { core } = internal('core/addon');

const { control } = core;
/** Bytes of the data in which records lie. */
const RECORDS = 1024;

const U32 = [
  'version',
  'controlBytes',
  'targetKind',
  'stampOffset',
  'epilogue',
  'pending',
  'openPlaces',
  'openStride',
  'numberAt',
  'stampKind',
  'openRecords',
  'attention',
  'series',
  'nextNumber',
];
const U64 = [
  'capacity',
  'baseOffset',
  'pid',
  'head',
  'tail',
  'lastStamp',
  'claimFrom',
  'claimTo',
  'claimOffset',
  'droppedEvents',
  'targetInode',
  'targetBorn',
  'epoch',
  'unkeptRecords',
  'endingAt',
  'aliveAt',
  'endedAt',
];

/** Where the data of a ring begins: after its table of open records, if it has one. */
function dataOf(ring) {
  return ring.readUInt32LE(control.controlBytes);
}

/** Where text, tables, notes and records lie: start and bytes. */
function regionsOf(ring) {
  const data = Math.min(dataOf(ring), ring.length - 1);
  const table = data - control.openTable;
  return [
    [0, control.epilogues],
    [control.epilogues, 8 * control.epilogueStride],
    [control.openPlaces, control.endedAt + 8 - control.openPlaces],
    [control.target, 64],
    [control.note, 256],
    [data, RECORDS],
    [data, RECORDS],
    ...(table > 0 ? [[control.openTable, table]] : []),
  ];
}

/** The head of one place of a table of open records. */
function mutatePlace(ring, random) {
  const places = ring.readUInt32LE(control.openPlaces);
  const stride = ring.readUInt32LE(control.openStride);
  const at = control.openTable + random.integer(0, Math.max(places - 1, 0)) * stride;
  const field = random.pick([control.openState, control.openMark, control.openClosing]);
  if (places === 0 || at + field + 4 > ring.length) return;
  const near = ring.readUInt32LE(at + field) + random.integer(-40, 40);
  const head = Number(ring.readBigUInt64LE(control.head));
  const { openLength, openCommitting } = control;
  const number = random.pick([
    0,
    1,
    near,
    head,
    openLength,
    near | openCommitting,
    openCommitting,
    0xffff_ffff,
  ]);
  ring.writeUInt32LE(number >>> 0, at + field);
}

const EXTREMES = [0n, 1n, 2n ** 31n, 2n ** 32n - 1n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n];

/** A number near the one that stands there, near another field's, or an extreme one. */
function numberFor(bytes, at, random) {
  if (random.chance(0.3)) return random.pick(EXTREMES);
  const from = random.chance(0.5) ? at : control[random.pick(U64)];
  return BigInt.asUintN(64, bytes.readBigUInt64LE(from) + BigInt(random.integer(-40, 40)));
}

/** @type {typeof mutate} */
export function mutateRing(good, random) {
  if (random.chance(0.05)) return mutate(good, random);
  const bytes = Buffer.from(random.pick(good));
  for (let i = random.integer(1, 3); i > 0; i--) {
    if (bytes.readUInt32LE(control.openPlaces) > 0 && random.chance(0.3)) {
      mutatePlace(bytes, random);
    } else if (random.chance(0.5)) {
      const at = control[random.pick(U64)];
      bytes.writeBigUInt64LE(numberFor(bytes, at, random), at);
    } else if (random.chance(0.2)) {
      bytes.writeUInt32LE(
        random.pick([0, 1, 2, 3, 7, 255, 0xffff_ffff]),
        control[random.pick(U32)],
      );
    } else {
      const [start, length] = random.pick(regionsOf(bytes));
      for (let n = random.integer(1, 4); n > 0; n--) {
        const at = Math.min(start + random.integer(0, length - 1), bytes.length - 1);
        bytes[at] = random.chance(0.5)
          ? bytes[at] ^ (1 << random.integer(0, 7))
          : random.integer(0, 255);
      }
    }
  }
  return bytes;
}

/** The ring of a dead process with less room: what lies in it stays. */
export function smallRing(whole, capacity = 4096) {
  const bytes = Buffer.from(whole.subarray(0, dataOf(whole) + capacity));
  bytes.writeBigUInt64LE(BigInt(capacity), control.capacity);
  return bytes;
}

/** All records that were committed to a ring that has not wrapped. */
export function recordsOf(ring) {
  const data = dataOf(ring);
  return ring.subarray(data, data + Number(ring.readBigUInt64LE(control.head)));
}

/** What a file holds in front of the records of its only ring, some of which may have come there. */
export function withoutRecords(ring, file) {
  return file.subarray(0, file.length - Number(ring.readBigUInt64LE(control.tail)));
}

/**
 * A ring and its file as a drain has left them that came half the way: a recovery that takes a broken
 * ring's word must not take from the file what is there already.
 *
 * @param {Buffer} ring that has not wrapped.
 * @param {Buffer} file that it feeds.
 * @param {(records: Buffer) => number} [half] where in the ring's records the drain has stopped.
 */
export function halfDrained(ring, file, half = (records) => records.length >> 1) {
  const records = recordsOf(ring);
  const drained = half(records);
  const left = Buffer.from(ring);
  left.writeBigUInt64LE(BigInt(drained), control.tail);
  left.fill(0, control.claimFrom, control.claimOffset + 8);
  return {
    ring: left,
    file: Buffer.concat([withoutRecords(ring, file), records.subarray(0, drained)]),
  };
}

/** Makes sure that a file still begins with what it held before its recovery. */
export function mustStillHold(path, content) {
  if (!existsSync(path)) throw new Error(`the recovery took ${path} away`);
  const now = readFileSync(path).subarray(0, content.length);
  if (now.equals(content)) return;
  const differs = content.findIndex((byte, at) => now[at] !== byte);
  throw new Error(`the recovery changed byte ${differs} of ${content.length} in ${path}`);
}
