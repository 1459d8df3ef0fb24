import { expect, it } from 'vitest';
import { readEpoch } from '../../../src/heph/read/reader.js';
import { encodeEpoch, encodeEvent, encodeMetadata, someEvent } from '../byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../temporary-file.js';

const directory = temporaryDirectory();
const event = encodeEvent(someEvent({}));

const read = (...parts: Uint8Array[]): bigint | undefined =>
  readEpoch(writeTrace(directory, 'epoch.heph', ...parts));

it('is the first epoch, wherever it lies, or undefined', () => {
  const epoch = encodeEpoch(1610113734118010000n);
  expect(read(epoch, encodeEpoch(2n))).toBe(1610113734118010000n);
  expect(read(encodeMetadata('colour', Buffer.of(1)), event, encodeEpoch(3n))).toBe(3n);
  expect(read(event)).toBeUndefined();
  expect(read()).toBeUndefined();
});
