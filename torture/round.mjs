// One round: a child writes, comes to its end, is recovered, and its traces are held against what it
// had acknowledged.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { THREADS, createPage, haveBegun, readPage } from './acknowledgements.mjs';
import { formatsOf } from './formats/all.mjs';
import { Random } from './random.mjs';
import { interruptedRecovery, recover, recoverByCommand } from './recovery.mjs';
import { SmallFileSystem } from './tmpfs.mjs';
import { droppedEvents, leftBehind, verify } from './verify.mjs';

const childScript = fileURLToPath(new URL('child.mjs', import.meta.url));
const LONGEST_START_MS = 300_000;
// Until a child must have ended itself.
const LONGEST_WRITING_MS = 5_000;

/** What ends a child, by the name of the option. */
export const endings = ['kill', 'segv', 'abort', 'tmpfs-full'];

function orderOf(round, random, ending, place, page) {
  const inside = ending === 'segv' || ending === 'abort';
  return {
    place,
    page,
    round,
    ring: {
      ringBytes: random.pick([65_536, 65_536, 131_072, 1 << 20]),
      clock: random.chance(0.5) ? 'scaled' : 'monotonic',
    },
    blocked: random.chance(0.5),
    // Else those that begin first write most, while the one that is to end itself has not begun.
    together: ending !== 'kill' || random.chance(0.5),
    // A state or a mark that is dropped makes later ones wrong.
    end: inside
      ? { thread: random.integer(0, THREADS - 1), after: random.integer(0, 60_000), how: ending }
      : undefined,
  };
}

function sumOf(page) {
  return page.reduce((sum, slots) => slots.reduce((all, count) => all + count, sum), 0);
}

/** Resolves once all threads are at work, or the child has ended. */
async function untilBegun(child, page) {
  const limit = performance.now() + LONGEST_START_MS;
  while (child.exitCode === null && child.signalCode === null && !haveBegun(page)) {
    if (performance.now() > limit) throw new Error('the child does not begin');
    await delay(5);
  }
}

async function untilFull(child, files) {
  const limit = performance.now() + LONGEST_START_MS;
  while (child.exitCode === null && child.signalCode === null && !files.isFull) {
    if (performance.now() > limit) throw new Error('the file system does not become full');
    await delay(5);
  }
}

/**
 * @param {object} options
 * @param {number} options.round which formats; also mixed into the seed.
 * @param {number} options.seed
 * @param {'kill' | 'segv' | 'abort' | 'tmpfs-full'} options.ending
 * @param {string} options.directory where the round makes and removes its own directory.
 * @param {Record<string, string>} [options.env] what the child gets beyond this environment.
 */
export async function runRound({ round, seed, ending, directory, env = {} }) {
  const random = new Random(Math.imul(seed, 0x9e37_79b1) ^ Math.imul(round + 1, 0x85eb_ca6b));
  const folder = mkdtempSync(join(directory, `round-${round}-`));
  const place = join(folder, 'traces');
  mkdirSync(place);
  const page = join(folder, 'acknowledged');
  createPage(page);
  const files =
    ending === 'tmpfs-full'
      ? new SmallFileSystem(place, random.integer(22, 32), [2, 3])
      : undefined;
  const formats = formatsOf(round);
  const order = orderOf(round, random, ending, place, page);
  let stderr = '';
  const child = spawn(process.execPath, [childScript, JSON.stringify(order)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const ended = once(child, 'close');
  let writing = 0;
  let during = 0;
  try {
    if (ending === 'kill' && random.chance(0.1)) {
      // Also while the process and its traces come into being.
      await Promise.race([ended, delay(random.integer(30, 200))]);
    } else {
      await untilBegun(child, page);
      const from = performance.now();
      const before = sumOf(readPage(page));
      if (files !== undefined) {
        await untilFull(child, files);
        await delay(random.integer(0, 100));
        if (random.chance(0.5)) {
          files.throwOff();
          await delay(random.integer(0, 100));
        }
      } else {
        await Promise.race([
          ended,
          delay(ending === 'kill' ? random.integer(5, 80) : LONGEST_WRITING_MS),
        ]);
      }
      during = sumOf(readPage(page)) - before;
      writing = performance.now() - from;
    }
    child.kill('SIGKILL');
    const [code, signal] = await ended;
    const faults = [];
    const expected = { kill: ['SIGKILL'], segv: ['SIGSEGV'], abort: ['SIGABRT'] }[ending];
    if (!(expected ?? ['SIGKILL']).includes(signal)) {
      faults.push(`the child ended by itself with ${signal ?? code}: ${stderr.slice(0, 500)}`);
    }
    const dropped = droppedEvents(place);
    const interruptions = random.chance(0.25) ? random.integer(1, 3) : 0;
    for (let i = 0; i < interruptions; i++) {
      await interruptedRecovery(place, random.integer(40, 140));
    }
    if (files !== undefined) {
      // As far as it comes on a full disk; with space it must come to its end.
      recover(formats, place);
      while (files.ballast.length > 0) files.throwOff();
    }
    if (random.chance(0.1)) {
      const said = recoverByCommand(place);
      if (said !== undefined && formats.some((format) => format.isThere(place))) faults.push(said);
    }
    faults.push(...recover(formats, place));
    const acknowledged = readPage(page);
    let events = 0;
    formats.forEach((format, slot) => {
      const counts = acknowledged.map((slots) => slots[slot]);
      events += counts.reduce((sum, count) => sum + count, 0);
      const said = verify(format, place, counts, dropped.get(format.name) ?? 0);
      faults.push(...said.map((fault) => `${format.name}: ${fault}`));
    });
    faults.push(...leftBehind(place).map((name) => `left behind: ${name}`));
    const lost = [...dropped.values()].reduce((sum, count) => sum + count, 0);
    return { round, faults, events, writing, during, dropped: lost, interruptions, order };
  } finally {
    child.kill('SIGKILL');
    await ended;
    files?.unmount();
    if (!process.env.TORTURE_KEEP) rmSync(folder, { recursive: true, force: true });
  }
}
