import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { bytesIn, millisecondsIn } from '../../../src/core/settings/amounts.js';
import { duration } from '../../../src/core/settings/kinds.js';
import { SETTINGS } from '../../../src/core/settings/table.js';
import { PREFIX, valueOf } from '../../../src/core/settings/value-of.js';
import type { SettingName } from '../../../src/core/settings/value-of.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

test.each([
  ['65536', 65536],
  ['500k', 500_000],
  ['128MB', 128e6],
  ['2MiB', 2 << 20],
  ['1.5 G', 1.5e9],
  ['1Gi', 2 ** 30],
  ['-1', undefined],
  ['1MM', undefined],
  ['many', undefined],
])('%s is %s bytes', (text, bytes) => {
  expect(bytesIn(text)).toBe(bytes);
});

test.each([
  ['50ms', 50],
  ['2s', 2000],
  ['1.5m', 90_000],
  ['7d', 604_800_000],
  ['50', undefined],
  ['2 weeks', undefined],
])('%s is %s milliseconds', (text, milliseconds) => {
  expect(millisecondsIn(text)).toBe(milliseconds);
});

test.each([
  ['50', 50],
  ['off', 0],
  ['0', 0],
  ['2s', 2000],
  ['-1', undefined],
  ['61s', undefined],
])('a stall of %s', (text, value) => {
  expect(SETTINGS.STALL_MS.kind.parse(text)).toBe(value);
});

test('a made-up setting is one entry', async () => {
  const all = SETTINGS as Record<string, unknown>;
  all['MADE_UP_MS'] = { ...SETTINGS.STALL_MS, kind: duration(1, 9000, 0), otherwise: 7 };
  const name = 'MADE_UP_MS' as SettingName;
  try {
    expect(valueOf(name)).toBe(7);
    vi.stubEnv(`${PREFIX}MADE_UP_MS`, '3s');
    expect(valueOf(name)).toBe(3000);
  } finally {
    delete all['MADE_UP_MS'];
  }

  // Its text, its values and its default are on the page, and without it the page is what the table says.
  const root = join(import.meta.dirname, '../../..');
  const script = join(root, 'scripts/options-page.mjs');
  const { pageOf } = (await import(script)) as {
    pageOf: (page: string, table: string) => Promise<string>;
  };
  const page = readFileSync(join(root, 'docs/options.md'), 'utf8');
  const table = readFileSync(join(root, 'src/core/settings/table.ts'), 'utf8');
  expect(await pageOf(page, table)).toBe(page);
  const entry =
    '  /** What nobody needs. */\n  MADE_UP_MS: setting(duration(1, 9000, 0), 7),\n} as const';
  const changed = await pageOf(
    page,
    table.replace('} as const', () => entry),
  );
  const row = '| `TRACEWRIGHT_MADE_UP_MS` | off, or 1 to 9,000 ms | What nobody needs. | 7 ms |\n';
  expect(changed.replace(row, '')).toBe(page);
  expect(changed).toContain(row);
});
