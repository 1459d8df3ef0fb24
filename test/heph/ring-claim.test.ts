import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { endianness, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { core } from '../../src/core/addon.js';
import { readPackets, recoverTrace } from '../../src/heph/index.js';
import { runFixture } from '../core/run-fixture.js';

const directory = mkdtempSync(join(tmpdir(), 'tracewright-claim-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe('a ring that says to have taken a place beyond the end of its file', () => {
  it('is refused, and keeps what it holds', async () => {
    const hephFile = join(directory, 'trace.heph');
    const input = { traceDir: join(directory, 'ovni'), version: 3, hephFile, count: 20 };
    await runFixture('killed.mjs', { input });
    const name = readdirSync(directory).find((each) => /^\.trace\.heph\..*\.ring$/.test(each))!;
    const path = join(directory, name);
    const whole = readFileSync(path);
    const { tail, head, claimFrom, claimTo, claimOffset } = core.control;
    const wrong = Buffer.from(whole);
    const write = (value: bigint, at: number) =>
      endianness() === 'LE' ? wrong.writeBigUInt64LE(value, at) : wrong.writeBigUInt64BE(value, at);
    write(0n, tail);
    write(0n, claimFrom);
    whole.copy(wrong, claimTo, head, head + 8);
    write(2n ** 40n, claimOffset);
    writeFileSync(path, wrong);
    const { size } = statSync(hephFile);

    const { faults, streams } = recoverTrace(hephFile);
    expect(streams).toEqual([]);
    expect(faults).toMatchObject([
      { code: 'ERR_TRACE_FORMAT', field: 'claim', offset: claimOffset },
    ]);
    expect(statSync(hephFile).size).toBe(size);

    writeFileSync(path, whole);
    expect(recoverTrace(hephFile).faults).toEqual([]);
    expect([...readPackets(hephFile)].filter(({ kind }) => kind === 'event')).toHaveLength(20);
  });
});
