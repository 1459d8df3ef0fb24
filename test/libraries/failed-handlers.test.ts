import { expect, it } from 'vitest';
import { readSpans } from '../../src/spans/index.js';
import { TracedProcess } from '../node/traced-process.js';
import { hephFiles } from '../node/written-traces.js';
import { installedPackages } from './packages.js';

/** What has failed: its name and the types of its error. Of a handler, how its end differs from that of the request. */
async function failuresOf(env: Record<string, string>): Promise<string[]> {
  const place = await installedPackages('newest');
  const script = new URL('fixtures/failed-handlers.mjs', import.meta.url).href;
  const traced = new TracedProcess(script, {
    args: [place],
    env: { TRACEWRIGHT_CONTEXT: 'on', ...env },
    cwd: place,
  });
  expect(await traced.ended()).toMatchObject({ code: 0, stderr: '' });
  const failures: string[] = [];
  for await (const span of readSpans(hephFiles(traced.directory))) {
    const { kind, name, attributes, status, events, end } = span;
    expect(span.unfinished).toBe(false);
    if (kind === 'client' || status.code !== 'error') continue;
    for (const { time } of events) expect(time <= end).toBe(true);
    const thrown = events.map(({ attributes: thrown }) => {
      const { 'exception.message': message, 'exception.stacktrace': stack } = thrown;
      const [, frame] =
        /at (?:async |Object\.)?(\S+) \(.*failed-handlers\.mjs:\d+:\d+\)/.exec(String(stack)) ?? [];
      return [message, frame].filter((each) => each !== undefined).join(' at ');
    });
    failures.push([name, attributes['error.type'], ...thrown].join(' '));
  }
  return failures.sort();
}

it('an error that is answered with 4xx is no failure, and any other one is that of the innermost function', async () => {
  expect(await failuresOf({})).toEqual([
    'GET /broken 500',
    'GET /broken 500',
    'GET /json 500',
    'GET /json 500',
    'GET 500',
    'GET 500',
    'handler /broken TypeError no at broken',
    'handler /broken TypeError no at broken',
    // V8 has made it, and quotes what it has read.
    'handler /json SyntaxError parsed',
    'handler /json SyntaxError parsed',
    'middleware inner SyntaxError parsed',
    'middleware inner TypeError no at broken',
  ]);
});

it('messages are recorded of all errors, or of none', async () => {
  const all = await failuresOf({ TRACEWRIGHT_ERROR_TEXT: 'on' });
  const texts = all.filter((each) => each.startsWith('middleware'));
  expect(texts).toEqual([
    expect.stringMatching(/^middleware inner SyntaxError .*card 4711.* at parsed$/),
    'middleware inner TypeError no at broken',
  ]);
  const none = await failuresOf({ TRACEWRIGHT_ERROR_TEXT: 'off' });
  expect(none.filter((each) => each.startsWith('middleware'))).toEqual([
    'middleware inner SyntaxError parsed',
    'middleware inner TypeError broken',
  ]);
});
