import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TracedProcess } from '../traced-process.js';
import { install, place } from './installed.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

/** The trace id of a request that a service sends while it answers one with a `traceparent`. */
async function passedOn(env: Record<string, string>): Promise<string | undefined> {
  const directory = install('disabled', ['disabled-service.cjs'], {});
  const service = new TracedProcess(join(directory, 'disabled-service.cjs'), {
    env: { TRACEWRIGHT_CONTEXT: 'on', ...env },
  });
  const response = await fetch(`http://127.0.0.1:${await service.port()}/`, {
    headers: { traceparent: `00-${TRACE}-b7ad6b7169203331-01` },
  });
  const { traceparent } = (await response.json()) as Record<string, string>;
  service.kill('SIGTERM');
  await service.ended();
  return traceparent?.split('-')[1];
}

describe.skipIf(place === undefined)('OTEL_SDK_DISABLED', () => {
  it.each([
    ["OpenTelemetry's SDK", { TRACEWRIGHT_TEST_SDK: 'started', TRACEWRIGHT_ENABLED: '0' }],
    ['the hook', {}],
  ])('has %s send no header', async (_, env) => {
    expect(await passedOn(env)).toBe(TRACE);
    expect(await passedOn({ ...env, OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
  });
});
