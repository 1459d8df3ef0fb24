import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { referencesToText } from '../../../src/laplace/read/convert-references.js';
import { main } from '../../cli/run-command.js';
import { fileIn, temporaryDirectory } from '../temporary-directory.js';

const RECORD_BYTES = 18;

describe('a reader that goes away', () => {
  const binary = fileIn(temporaryDirectory());
  // More than a pipe holds.
  writeFileSync(binary, Buffer.alloc(100_000 * RECORD_BYTES, 0x72));

  it('ends the conversion with the error of the stream, and nothing else', async () => {
    const closed = new Writable({
      write: (_, __, done) => {
        done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE', errno: -32 }));
      },
    });
    await expect(referencesToText(binary, closed)).rejects.toMatchObject({ code: 'ERR_SYSTEM' });
  });

  it('ends the command silently', async () => {
    const child = spawn(process.execPath, [main, 'convert', '--to', 'laplace-text', binary]);
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
    child.stdout.once('data', () => child.stdout.destroy());
    const [code] = (await once(child, 'close')) as [number | null];
    expect({ code, complaint }).toEqual({ code: 0, complaint: '' });
  });
});
