import { expect, test } from 'vitest';
import * as api from '@opentelemetry/api';
import { register, TracewrightProvider } from '../../src/otel/index.js';
import { startSpan, withSpan } from '../../src/spans/index.js';

test('unknown options are typed errors that list the valid ones', () => {
  const unknown = { target: 'spans.heph' } as object;
  for (const call of [() => register(unknown), () => new TracewrightProvider(unknown)]) {
    expect(call).toThrow(
      expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE', field: 'option', value: 'target' }),
    );
  }
  expect(() => register(unknown)).toThrow(
    'one of api, forceFlushTimeoutMillis, sampler, spanProcessors',
  );
  expect(() => new TracewrightProvider({ sampler: {} } as object)).toThrow(
    expect.objectContaining({ code: 'ERR_ARGUMENT_TYPE', field: 'sampler' }),
  );
});

test('an unknown option of a call is a typed error, too', async () => {
  const unknown = { target: 'spans.heph' } as object;
  const error = { code: 'ERR_ARGUMENT_RANGE', field: 'option', value: 'target' };
  const provider = new TracewrightProvider();
  await expect(provider.forceFlush(unknown)).rejects.toMatchObject(error);
  await expect(provider.shutdown(unknown)).rejects.toMatchObject(error);
  expect(() => startSpan('order', {}, unknown)).toThrow(expect.objectContaining(error));
  expect(() => withSpan('order', {}, () => 1, unknown)).toThrow(expect.objectContaining(error));
});

test('a provider without a target says so once', async () => {
  const warnings: string[] = [];
  const listen = ({ message }: Error): number => warnings.push(message);
  process.on('warning', listen);
  try {
    register({ api });
    api.trace.getTracer('first').startSpan('one').end();
    api.trace.getTracer('first').startSpan('two').end();
    await new Promise(setImmediate);
  } finally {
    process.removeListener('warning', listen);
  }
  expect(warnings).toEqual([expect.stringContaining('they have no target; call configure')]);
});
