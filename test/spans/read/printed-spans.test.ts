import { strictEqual } from 'node:assert';
import { expect, test } from 'vitest';
import { startSpan } from '../../../src/spans/start-span.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { recorded } from '../span-trace.js';

const directory = temporaryDirectory();
/** Far more than a span has, and far less than a ring has. */
const MOST_CHARACTERS = 20_000;

test('JSON has the name and the ids of a span', async () => {
  await recorded(directory, () => {
    const span = startSpan('work', { secret: 1 });
    expect(JSON.parse(JSON.stringify({ span }))).toEqual({ span: { name: 'work', ...span.ids } });
    span.end();
  });
});

test('a failed assertion about a span does not print the buffers of its trace', async () => {
  await recorded(directory, () => {
    const span = startSpan('work');
    let message = '';
    try {
      strictEqual<unknown>({}, span);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain('work');
    expect(message.length).toBeLessThan(MOST_CHARACTERS);
    span.end();
  });
});
