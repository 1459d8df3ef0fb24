import { expect, it } from 'vitest';
import { recoverTrace } from '../../src/heph/index.js';
import { readSpans } from '../../src/spans/index.js';
import { TracedProcess } from '../node/traced-process.js';
import { hephFiles } from '../node/written-traces.js';
import { installedPackages } from './packages.js';
import type { Age } from './packages.js';

it.each<[string, Age, Record<string, string>]>([
  ['Express 5', 'newest', {}],
  ['Express 4', 'earlier', {}],
])('open requests of %s have their route after SIGKILL', async (_, age, env) => {
  const place = await installedPackages(age);
  const script = new URL('fixtures/express-killed.mjs', import.meta.url).href;
  const traced = new TracedProcess(script, {
    args: [place],
    env: { TRACEWRIGHT_CONTEXT: 'on', ...env },
    cwd: place,
  });
  await traced.printed(/^open$/m);
  traced.kill('SIGKILL');
  expect((await traced.ended()).stderr).toBe('');
  const files = hephFiles(traced.directory).filter((path) => path.endsWith('.heph'));
  for (const file of files) recoverTrace(file);

  const requests: Record<string, [string, unknown]> = {};
  for await (const { kind, name, attributes, unfinished } of readSpans(files)) {
    if (kind !== 'server') continue;
    expect(unfinished).toBe(true);
    requests[String(attributes['url.path'])] = [name, attributes['http.route']];
  }
  expect(requests).toEqual({
    '/warm': ['GET', undefined],
    '/slow-middleware': ['GET', undefined],
    '/api/orders/7': ['GET /api/orders/:id', '/api/orders/:id'],
    // It was in the handler of the parameter.
    '/api/param/8': ['GET /api/param/:held', '/api/param/:held'],
    // The first route that matched has given it to the next one.
    '/api/next/9': ['GET /api/next/:other', '/api/next/:other'],
    // What the program says counts more.
    '/named/1': ['GET /mine', '/mine'],
    '/pattern': ['GET', undefined],
    '/api/none': ['GET', undefined],
  });
});
