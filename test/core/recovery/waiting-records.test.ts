import { expect, test } from 'vitest';
import { core } from '../../../src/core/addon.js';
import { LITTLE } from '../../../src/core/byte-order.js';
import { readWaiting, waitingLayout } from '../../../src/core/recovery/waiting-records.js';
import type { WaitingLayout } from '../../../src/core/recovery/waiting-records.js';
import { eventBytes } from '../../../src/heph/read/event-bytes.js';
import { seededNumbers } from '../../look/report/recorded-service.js';

const CAPACITY = 1 << 16;
const GROUPS = 64;
const GROUP_AT = 16;
const LEAST_RECORD = 48;

/** A page, groups and data of records of 64 bytes, all of them undecided. */
function waitingRing(): { page: Buffer; bytes: Buffer; layout: WaitingLayout } {
  const { control } = core;
  const page = Buffer.alloc(control.bytes);
  const view = new DataView(page.buffer, page.byteOffset, page.length);
  view.setBigUint64(control.waitingAt, BigInt(control.bytes), LITTLE);
  view.setBigUint64(control.waitingCapacity, BigInt(CAPACITY), LITTLE);
  view.setUint32(control.waitingGroups, GROUPS, LITTLE);
  view.setUint32(control.groupAt, GROUP_AT, LITTLE);
  const layout = waitingLayout(view)!;
  const bytes = Buffer.alloc(layout.front + CAPACITY);
  const own = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  own.setBigUint64(control.head, BigInt(CAPACITY), LITTLE);
  for (let group = 0; group < GROUPS; group++) {
    const at = control.waitingPage + group * control.groupBytes;
    own.setUint32(at + 4, group, LITTLE);
    own.setUint32(at + 8, 1, LITTLE);
  }
  for (let at = layout.front; at < bytes.length; at += 64) {
    bytes.writeUInt32BE(((at - layout.front) / 64) % GROUPS, at + GROUP_AT + 4);
  }
  return { page, bytes, layout };
}

/** As if each record had 64 bytes. */
const of64 = (): number => 64;

test('what waits is read, up to the head and from the tail on', () => {
  const { bytes, layout } = waitingRing();
  expect(readWaiting(layout, bytes, 0, of64).records).toHaveLength(CAPACITY / 64);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  // It wraps.
  view.setBigUint64(core.control.tail, 640n, LITTLE);
  view.setBigUint64(core.control.head, BigInt(CAPACITY + 320), LITTLE);
  const { records } = readWaiting(layout, bytes, 0, of64);
  expect(records).toHaveLength(CAPACITY / 64 - 5);
  expect(records[0]!.readUInt32BE(GROUP_AT + 4)).toBe(10);
});

const WORDS = [
  0n,
  1n,
  63n,
  65_536n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 53n,
  2n ** 63n,
  2n ** 64n - 1n,
];

test('hostile pages and groups cost no more than their bytes', () => {
  const numbers = seededNumbers(34);
  const chance = (below: number) => Math.floor(numbers.next().value * below) % below;
  const { control } = core;
  const begun = performance.now();
  const { rss } = process.memoryUsage();
  for (let round = 0; round < 3000; round++) {
    const { page, bytes, layout } = waitingRing();
    const ofPage = new DataView(page.buffer, page.byteOffset, page.length);
    const ofRing = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const word = () => WORDS[chance(WORDS.length)]!;
    if (chance(2) === 0) ofPage.setBigUint64(control.waitingCapacity, word(), LITTLE);
    if (chance(4) === 0)
      ofPage.setUint32(control.waitingGroups, Number(word() % 2n ** 32n), LITTLE);
    if (chance(4) === 0) ofPage.setUint32(control.groupAt, Number(word() % 2n ** 32n), LITTLE);
    if (chance(2) === 0) ofRing.setBigUint64(control.head, word(), LITTLE);
    if (chance(2) === 0) ofRing.setBigUint64(control.tail, word(), LITTLE);
    for (let i = chance(200); i > 0; i--) {
      bytes[control.waitingPage + chance(layout.front - control.waitingPage)] = chance(256);
    }
    for (let i = chance(200); i > 0; i--) bytes[layout.front + chance(CAPACITY)] = chance(256);
    // A format that says anything of a record, or what Heph says of it.
    const sizes = [undefined, 0, -64, 1, LEAST_RECORD, 64, CAPACITY, 2 ** 32];
    const size = chance(2) === 0 ? () => sizes[chance(sizes.length)] : eventBytes;
    const claimed = waitingLayout(ofPage);
    const found = claimed && readWaiting(claimed, bytes, chance(2 ** 16), size);
    const all = (found?.records ?? []).reduce((sum, { length }) => sum + length, 0);
    expect(all).toBeLessThanOrEqual(bytes.length);
  }
  expect(process.memoryUsage.rss() - rss).toBeLessThan(512 << 20);
  expect(performance.now() - begun).toBeLessThan(100_000);
});
