import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { startSpan } from '../../../src/spans/start-span.js';
import { recording } from '../../look/report/recorded-service.js';
import { tracewright } from '../run-command.js';

it('convert --traces selects traces by their ids', async () => {
  const { path, spans } = await recording(() => {
    for (let i = 0; i < 5; i++) {
      const request = startSpan(`GET /${i}`, {}, { kind: 'server', parent: null });
      startSpan('SELECT', {}, { parent: request }).end();
      request.end();
    }
  });
  const ids = [...new Set(spans.map(({ traceId }) => traceId))];
  const converted = (...traces: string[]): string[] => {
    const { stdout, status } = tracewright('convert', '--to', 'otlp', path, ...traces);
    expect(status).toBe(0);
    const found = [...stdout.matchAll(/"traceId":"([\da-f]{32})"/g)].map(([, id]) => id!);
    return [...new Set(found)].sort();
  };
  expect(converted()).toEqual(ids.toSorted());
  const [first, second, third] = ids as [string, string, string];
  expect(converted('--traces', `${first.toUpperCase()},${second.slice(0, 12)}`)).toEqual(
    [first, second].sort(),
  );
  expect(converted('--traces', first, '--traces', third)).toEqual([first, third].sort());
  expect(converted('--traces', 'f'.repeat(32))).toEqual([]);
  for (const id of ['1234567', 'xyzxyzxyz', `${first}0`, '']) {
    const { status, stderr } = tracewright('convert', '--to', 'otlp', path, '--traces', id);
    expect(status).toBe(2);
    expect(stderr).toContain(
      '--traces must be ids of traces, 8 to 32 hexadecimal digits each, got',
    );
  }
  const picture = join(dirname(path), 'picture.pftrace');
  expect(tracewright('convert', '--to', 'perfetto', path, picture, '--traces', first).status).toBe(
    0,
  );
  const drawn = readFileSync(picture, 'utf8');
  expect(ids.filter((id) => drawn.includes(id))).toEqual([first]);
  const { status, stderr } = tracewright('convert', '--to', 'ovni3', path, '--traces', first);
  expect(status).toBe(2);
  expect(stderr).toContain('are for perfetto, otlp, parquet');
});
