import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { checkTrace as checkHeph } from '../../../src/heph/read/check.js';
import { recoverTrace as recoverHeph } from '../../../src/heph/read/recover.js';
import { checkTrace as checkOvni } from '../../../src/ovni/read/check.js';
import { readStream } from '../../../src/ovni/read/ordered-reader.js';
import { recoverTrace as recoverOvni } from '../../../src/ovni/read/recover.js';
import { readTraceDirectory } from '../../../src/ovni/read/trace-directory.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { TracedProcess } from '../traced-process.js';

const RING = 65_536;
const PIECE = 512 * 1024;

function piecesOf(service: TracedProcess): string[] {
  const directory = join(service.directory, 'ovni');
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => !name.startsWith('.'))
    .sort()
    .map((name) => join(directory, name));
}

function bytesBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.ring'))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

async function busy(env: Record<string, string>): Promise<TracedProcess> {
  const service = new TracedProcess('busy-service.mjs', {
    env: {
      TRACEWRIGHT_RING_BYTES: String(RING),
      TRACEWRIGHT_ROTATE_BYTES: String(PIECE),
      ...env,
    },
  });
  await service.port();
  return service;
}

async function untilPiece(service: TracedProcess, number: number): Promise<void> {
  const last = () => piecesOf(service).at(-1) ?? '';
  while (Number(last().slice(-6)) < number) {
    await service.get('/');
    await sleep(20);
  }
}

/** What is wrong with a piece, and how its streams begin and end. */
function expectWhole(piece: string, last: boolean): void {
  const findings = [...checkOvni(piece)]
    .map(({ message }) => message)
    // A program that is ended by a signal does not come to pop what it has pushed, and one of its
    // threads may not have gone on to the last piece.
    .filter((message) => !last || !message.includes('left at the end'));
  expect({ piece, findings }).toEqual({ piece, findings: [] });
  for (const { path, version } of readTraceDirectory(piece).streams) {
    const mcvs: string[] = [];
    for (const { mcv } of readStream(path, { version })) mcvs.push(mcv);
    expect(mcvs.slice(0, 2)).toContain('OHx');
    expect(mcvs.at(-1)).toBe('OHe');
  }
}

describe('the ovni trace of a service that rotates', () => {
  it.each(['1', '3'])('goes on from piece to piece, version %s', async (version) => {
    const service = await busy({ TRACEWRIGHT_OVNI_VERSION: version });
    await untilPiece(service, 4);
    service.kill('SIGTERM');
    expect(await service.ended()).toMatchObject({ signal: 'SIGTERM', stderr: '' });
    const pieces = piecesOf(service);
    expect(pieces[0]).toBe(join(service.directory, 'ovni', `${service.pid}.000001`));
    for (const piece of pieces) expectWhole(piece, pieces.indexOf(piece) >= pieces.length - 2);
    // Both threads come along; one that gets no processor for a while passes a piece by.
    const streams = pieces.slice(1, -1).map((piece) => readTraceDirectory(piece).streams.length);
    expect(Math.max(...streams)).toBeGreaterThanOrEqual(2);
  });

  it('deletes the oldest within its budget', async () => {
    const maxBytes = 4 * 2 ** 20;
    const service = await busy({ TRACEWRIGHT_MAX_BYTES: String(maxBytes) });
    await untilPiece(service, 12);
    service.kill('SIGTERM');
    expect(await service.ended()).toMatchObject({ signal: 'SIGTERM', stderr: '' });
    const pieces = piecesOf(service);
    expect(pieces[0]).not.toContain('.000001');
    // A piece is as long as what comes between two looks at it.
    expect(bytesBelow(join(service.directory, 'ovni'))).toBeLessThan(maxBytes + 2 * 2 ** 20);
    for (const piece of pieces) expectWhole(piece, pieces.indexOf(piece) >= pieces.length - 2);
  });

  it('keeps the piece in which a thread still is, wherever the rings are', async () => {
    const rings = join(temporaryDirectory(), 'rings');
    mkdirSync(rings);
    const service = new TracedProcess('late-worker-service.mjs', {
      env: {
        TRACEWRIGHT_RING_BYTES: String(RING),
        TRACEWRIGHT_ROTATE_BYTES: String(PIECE),
        TRACEWRIGHT_MAX_BYTES: String(4 * 2 ** 20),
        TRACEWRIGHT_RING_DIR: rings,
      },
    });
    await service.port();
    await untilPiece(service, 14);
    const pieces = piecesOf(service);
    expect(pieces[0]).toMatch(/\.000001$/);
    expect(pieces[1]).not.toMatch(/\.000002$/);
    expect(await service.get('/go-on')).toBe('');
    service.kill('SIGTERM');
    expect(await service.ended()).toMatchObject({ signal: 'SIGTERM', stderr: '' });
  });

  it.each([0, 1, 2, 3])('survives a kill, round %i', async (round) => {
    const service = await busy({ TRACEWRIGHT_MAX_BYTES: String(4 * 2 ** 20) });
    await untilPiece(service, 3 + round);
    await sleep(67 * round);
    service.kill('SIGKILL');
    await service.ended();
    const { faults } = recoverOvni(join(service.directory, 'ovni'));
    expect(faults).toEqual([]);
    const filesOf = (piece: string): string[] =>
      readdirSync(piece, { recursive: true, encoding: 'utf8' });
    const begun = (piece: string): boolean =>
      filesOf(piece).some((name) => name.endsWith('stream.json'));
    // One that was only just begun has no event yet.
    for (const piece of piecesOf(service).filter((each) => !begun(each))) {
      const streams = filesOf(piece).filter((name) => name.endsWith('stream.obs'));
      for (const name of streams) expect(statSync(join(piece, name)).size).toBeLessThanOrEqual(8);
    }
    const pieces = piecesOf(service).filter(begun);
    // The kill may have come while the threads went from one to the next.
    for (const piece of pieces) expectWhole(piece, pieces.indexOf(piece) >= pieces.length - 2);
    const heph = join(service.directory, 'heph');
    for (const name of readdirSync(heph).filter((file) => file.endsWith('.heph'))) {
      recoverHeph(join(heph, name));
      expect(
        [...checkHeph(join(heph, name))].filter(({ severity }) => severity === 'error'),
      ).toEqual([]);
    }
  });
});
