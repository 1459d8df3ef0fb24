import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  addCpu,
  attrSet,
  emit,
  emitJumbo,
  markLabel,
  markType,
  procFini,
  procInit,
  procSetRank,
  threadFree,
  threadInit,
  threadRequire,
} from '../../src/ovni/index.js';
import {
  goldenMetadata,
  goldenMetadataText,
  goldenStream,
  goldenSums,
  sha256,
} from './golden-trace.js';
import { i32, temporaryFolder } from './trace-building.js';

function hex(text: string): Buffer {
  return Buffer.from(text.replace(/\s/g, ''), 'hex');
}

/** The calls that the format's own library was given for the golden traces. */
function replayGolden(traceDir: string, version: 1 | 3): string {
  const { procDir } = procInit(1, 'node0.1000', 4242, { traceDir, version });
  threadInit(4242);
  addCpu(0, 0);
  addCpu(1, 2);
  procSetRank(0, 2);
  if (version === 3) {
    threadRequire('nosv', '2.4.0');
    attrSet('app.name', 'golden');
    attrSet('app.level', 2.5);
    attrSet('app.debug', true);
    markType(3, 'Request', { stack: true });
    markLabel(3, 7, 'GET /');
  }
  const mark = hex('0700000000000000 03000000');
  const at = (nanoseconds: number): bigint => 1_000_000_000_000n + BigInt(nanoseconds);
  emit('OHx', Buffer.concat([i32(0, -1), Buffer.alloc(8)]), at(0));
  emit('OB.', undefined, at(10));
  emit('OAs', i32(1), at(20));
  emit('OHp', undefined, at(30));
  emit('OHr', undefined, at(40));
  emitJumbo('VYc', Buffer.concat([i32(1), Buffer.from('testtype1\0')]), at(50));
  if (version === 3) {
    emit('OM[', mark, at(60));
    emit('OM]', mark, at(70));
  }
  emit('XXa', hex('abcd'), at(80));
  emit('XXb', hex('010203040506070809'), at(90));
  emit('OHe', undefined, at(100));
  threadFree();
  procFini();
  return procDir;
}

describe('the golden traces', () => {
  it.each([1, 3] as const)('of version %d are here as the library wrote them', (version) => {
    expect(sha256(goldenStream(version))).toBe(goldenSums[version].stream);
    expect(sha256(goldenMetadataText(version))).toBe(goldenSums[version].metadata);
  });

  it('come out byte for byte in version 1', () => {
    const procDir = replayGolden(join(temporaryFolder(), 'ovni'), 1);
    const stream = readFileSync(join(procDir, 'thread.4242'));
    expect(stream.toString('hex')).toBe(goldenStream(1).toString('hex'));
    expect(sha256(stream)).toBe(goldenSums[1].stream);
    const metadata = JSON.parse(readFileSync(join(procDir, 'metadata.json'), 'utf8')) as object;
    expect({ ...metadata, tracewright: undefined }).toEqual(goldenMetadata[1]);
  });

  it('come out byte for byte in version 3, metadata up to ovni.lib', () => {
    const procDir = replayGolden(join(temporaryFolder(), 'ovni'), 3);
    const ours = join(procDir, 'thread.4242');
    const stream = readFileSync(join(ours, 'stream.obs'));
    expect(stream.toString('hex')).toBe(goldenStream(3).toString('hex'));
    expect(sha256(stream)).toBe(goldenSums[3].stream);
    const metadata = JSON.parse(readFileSync(join(ours, 'stream.json'), 'utf8')) as {
      ovni: { lib: Record<string, string> };
    };
    const { lib } = goldenMetadata[3].ovni;
    expect(Object.keys(metadata.ovni.lib)).toEqual(expect.arrayContaining(Object.keys(lib)));
    metadata.ovni.lib = lib;
    expect(metadata).toEqual(goldenMetadata[3]);
  });
});

describe("the specification's examples", () => {
  /** Writes one version 1 stream and gives its bytes. */
  function streamOf(write: () => void): Buffer {
    const { procDir } = procInit(1, 'spec', 1, { traceDir: join(temporaryFolder(), 'ovni') });
    threadInit(552943);
    write();
    threadFree();
    procFini();
    return readFileSync(join(procDir, 'thread.552943'));
  }

  const executeBytes = hex(
    '0f 4f 48 78 58 c1 b0 b5 95 43 11 00 00 00 00 00 ff ff ff ff 00 00 00 00 00 00 00 00',
  );
  const executePayload = executeBytes.subarray(12);
  const executeClock = executeBytes.readBigUInt64LE(4);

  it('event without payload, 12 bytes', () => {
    const bytes = streamOf(() => {
      emit('OHx', executePayload, 1n);
      emit('OHe', undefined, 0x0012_d096_1dcf_c501n);
    });
    expect(bytes.subarray(28)).toEqual(hex('00 4f 48 65 01 c5 cf 1d 96 d0 12 00'));
  });

  it('event with 16 bytes of payload, 28 bytes', () => {
    const bytes = streamOf(() => {
      emit('OHx', executePayload, executeClock);
      emit('OHe', undefined, executeClock);
    });
    expect(bytes.subarray(0, 28)).toEqual(executeBytes);
  });

  it('jumbo event, 30 bytes', () => {
    const expected = hex(
      '13 56 59 63 eb c1 4b 1a 96 d0 12 00 0e 00 00 00' +
        '01 00 00 00 74 65 73 74 74 79 70 65 31 00',
    );
    const bytes = streamOf(() => {
      emitJumbo('VYc', Buffer.from('\x01\0\0\0testtype1\0', 'latin1'), 0x0012_d096_1a4b_c1ebn);
    });
    expect(bytes).toEqual(expected);
  });

  it('the beginning of a stream, 160 bytes', () => {
    const dump = hex(`
      0f 4f 48 78 58 c1 b0 b5 95 43 11 00 00 00 00 00
      ff ff ff ff 00 00 00 00 00 00 00 00 00 36 53 72
      ab cb b0 b5 95 43 11 00 00 36 53 73 78 c3 b9 b5
      95 43 11 00 00 36 53 40 87 a4 c2 b5 95 43 11 00
      00 36 53 68 9c 4b cb b5 95 43 11 00 00 36 53 66
      85 44 d4 b5 95 43 11 00 00 36 53 5b cb e7 dc b5
      95 43 11 00 00 36 53 5d cf ca e5 b5 95 43 11 00
      00 36 53 75 8c db ee b5 95 43 11 00 00 36 53 55
      5a 70 f8 b5 95 43 11 00 00 36 55 5b 1b ae 01 b6
      95 43 11 00 00 36 55 5d aa 19 0b b6 95 43 11 00`);
    const bytes = streamOf(() => {
      emit('OHx', executePayload, executeClock);
      for (let at = 28; at < dump.length; at += 12) {
        emit(dump.toString('latin1', at + 1, at + 4), undefined, dump.readBigUInt64LE(at + 4));
      }
      emit('OHe');
    });
    expect(bytes.subarray(0, dump.length)).toEqual(dump);
  });
});
