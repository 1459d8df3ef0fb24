import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkKernelEvents, checkReferences } from '../../src/laplace/read/check.js';
import { referencesToText, textToReferences } from '../../src/laplace/read/convert-references.js';
import { readKernelEvents } from '../../src/laplace/read/kernel-reader.js';
import { recoverTrace } from '../../src/laplace/read/recover.js';
import { readReferences } from '../../src/laplace/read/reference-reader.js';
import { openKernelEvents } from '../../src/laplace/write/kernel-events.js';
import { fileIn, temporaryDirectory } from './temporary-directory.js';

const directory = temporaryDirectory();

describe('a misspelt option', () => {
  it('is refused wherever there are options', async () => {
    const path = fileIn(directory);
    writeFileSync(path, 's 1 2\nc\n');
    const option = expect.objectContaining({ field: 'option', value: 'ende' }) as Error;
    const wrong = { ende: 'big' } as never;
    expect(() => openKernelEvents(fileIn(directory), wrong)).toThrow(option);
    expect(() => [...readReferences(path, wrong)]).toThrow(option);
    expect(() => [...readKernelEvents(path, wrong)]).toThrow(option);
    expect(() => [...checkReferences(path, wrong)]).toThrow(option);
    expect(() => [...checkKernelEvents(path, wrong)]).toThrow(option);
    expect(() => recoverTrace(path, wrong)).toThrow(option);
    const to = fileIn(directory);
    await expect(referencesToText(path, to, wrong)).rejects.toThrow(option);
    await expect(textToReferences(path, to, wrong)).rejects.toThrow(option);
    expect(existsSync(to)).toBe(false);
  });
});
