// What an ovni event costs, compared with a C++ loop that writes the same event.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  emit,
  emitJumbo,
  event,
  flush,
  markPop,
  markPush,
  markType,
  procFini,
  procInit,
  threadFree,
  threadInit,
} from 'tracewright/ovni';
import { alternate, costTable, ratio } from './alternating.mjs';
import { main } from './benchmark.mjs';
import { loadEventLoops } from './event-loops.mjs';

const RING_BYTES = 2 << 20;
const KERNEL = 'C++ loop, clock_gettime';
const SCALED = 'C++ loop, scaled TSC';

/** @param {{ quick: boolean }} options */
async function measure({ quick }) {
  const loops = loadEventLoops();
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-bench-'));
  try {
    procInit(1, 'bench', process.pid, {
      traceDir: join(directory, 'ovni'),
      ringBytes: RING_BYTES,
      ringDir: directory,
    });
    threadInit();
    markType(7, 'benchmark', { stack: true });

    let opened = 0;
    /** @param {'bareEvents' | 'payloadEvents' | 'markEvents' | 'jumboEvents'} loop */
    const inCpp = (loop) =>
      [false, true].map((scaled) => {
        opened += 1;
        const place = join(directory, `loop-${opened}`);
        const producer = loops.open(place, `${place}.ring`, RING_BYTES, scaled);
        return {
          name: scaled ? SCALED : KERNEL,
          /** @param {number} count */
          run: (count) => {
            loops[loop](producer, count);
          },
          settle: () => {
            if (!loops.flush(producer)) throw new Error(`the loop could not write ${place}`);
          },
        };
      });

    const bare = event('OB.');
    const payload = event('XYZ(i32 a, i32 b, u64 c)');
    const widePayload = event('XYZ(i32 a, i32 b, u64 c)');
    const emptyPayload = new Uint8Array(0);
    const sixteen = new Uint8Array(16);
    const data = new Uint8Array(64).fill(0x78);

    // Every loop is a function of its own, as every call site of a service is.
    /** @param {number} count */
    const runBare = (count) => {
      for (let i = 0; i < count; i++) bare();
    };
    /** @param {number} count */
    const runEmit = (count) => {
      for (let i = 0; i < count; i++) emit('OB.');
    };
    /** @param {number} count */
    const runEmitEmpty = (count) => {
      for (let i = 0; i < count; i++) emit('OB.', emptyPayload);
    };
    /** @param {number} count */
    const runPayload = (count) => {
      for (let i = 0; i < count; i++) payload(i, i + 1, i);
    };
    /** @param {number} count */
    const runPayloadWide = (count) => {
      for (let i = 0; i < count; i++) widePayload(i, i + 1, 0x1_0000_0000 + i);
    };
    /** @param {number} count */
    const runEmitPayload = (count) => {
      for (let i = 0; i < count; i++) emit('XYZ', sixteen);
    };
    /** @param {number} count */
    const runMarks = (count) => {
      for (let i = 1; i <= count / 2; i++) {
        markPush(7, i);
        markPop(7, i);
      }
    };
    /** @param {number} count */
    const runJumbo = (count) => {
      for (let i = 0; i < count; i++) emitJumbo('OB.', data);
    };

    const settle = flush;
    const settings = { operations: quick ? 5000 : 10_000, rounds: quick ? 30 : 400 };
    const bareCosts = await alternate(
      [
        { name: "event('OB.')", run: runBare, settle },
        { name: "emit('OB.')", run: runEmit, settle },
        { name: "emit('OB.', empty)", run: runEmitEmpty, settle },
        ...inCpp('bareEvents'),
      ],
      settings,
    );
    const payloadCosts = await alternate(
      [
        { name: "event('XYZ(i32, i32, u64)')", run: runPayload, settle },
        { name: '  with a u64 above 2^32', run: runPayloadWide, settle },
        { name: "emit('XYZ', 16 bytes)", run: runEmitPayload, settle },
        ...inCpp('payloadEvents'),
      ],
      settings,
    );
    const markCosts = await alternate(
      [{ name: 'markPush, markPop (each)', run: runMarks, settle }, ...inCpp('markEvents')],
      settings,
    );
    const jumboCosts = await alternate(
      [{ name: 'emitJumbo, 64 bytes', run: runJumbo, settle }, ...inCpp('jumboEvents')],
      settings,
    );
    threadFree();
    procFini();

    const bareRatio = ratio(bareCosts, "event('OB.')", KERNEL);
    const payloadRatio = ratio(payloadCosts, "event('XYZ(i32, i32, u64)')", KERNEL);
    const emitRatio = ratio(payloadCosts, "emit('XYZ', 16 bytes)", KERNEL);
    const jumboRatio = ratio(jumboCosts, 'emitJumbo, 64 bytes', KERNEL);
    const markRatio = ratio(markCosts, 'markPush, markPop (each)', KERNEL);
    return {
      tables: [
        costTable('An event without payload (12 bytes)', bareCosts, [KERNEL, SCALED]),
        costTable('An event with 16 bytes of payload', payloadCosts, [KERNEL, SCALED]),
        costTable('A mark (24 bytes)', markCosts, [KERNEL, SCALED]),
        costTable('A jumbo event with 64 bytes of data', jumboCosts, [KERNEL, SCALED]),
      ],
      goals: [
        {
          goal: `event without payload at most 1.0 x ${KERNEL}`,
          figure: bareRatio,
          met: bareRatio <= 1,
        },
        {
          goal: `event with 16 bytes at most 1.15 x ${KERNEL}`,
          figure: payloadRatio,
          met: payloadRatio <= 1.15,
        },
        { goal: `mark at most 1.15 x ${KERNEL}`, figure: markRatio, met: markRatio <= 1.15 },
        {
          goal: `emit with 16 bytes at most 1.8 x ${KERNEL}`,
          figure: emitRatio,
          met: emitRatio <= 1.8,
        },
        {
          goal: `emitJumbo of 64 bytes at most 2 x ${KERNEL}`,
          figure: jumboRatio,
          met: jumboRatio <= 2,
        },
      ],
      notes: [
        `Batches of ${settings.operations} operations, ${settings.rounds} rounds; ratios are medians over the rounds.`,
        `JavaScript events are stamped by ${loops.scaledClock && process.env['TRACEWRIGHT_CLOCK'] !== 'monotonic' ? 'the scaled TSC' : 'clock_gettime'}; TRACEWRIGHT_CLOCK=monotonic changes that.`,
      ],
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main(import.meta.url, { title: 'The cost of an ovni event', measure });
