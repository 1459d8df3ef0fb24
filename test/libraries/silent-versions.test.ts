import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory, TracedProcess } from '../node/traced-process.js';
import { installedPackages, versionOf } from './packages.js';

it.each([
  ['mssql', 'it publishes nothing; 12.7.0 and later do'],
  ['pg', 'it cannot connect on Node 14 and later, with the hook or without; 8.0.3 and later can'],
])('a version of %s that cannot be recorded has one warning', async (name, reason) => {
  const place = await installedPackages('earlier');
  const script = join(temporaryDirectory(), 'program.cjs');
  const path = createRequire(join(place, 'package.json')).resolve(name);
  writeFileSync(script, `require(${JSON.stringify(path)});`);
  const traced = new TracedProcess(script, { env: { TRACEWRIGHT_CONTEXT: 'on' } });
  const { code, stderr } = await traced.ended();
  expect(code).toBe(0);
  const lines = stderr.split('\n').filter((line) => line.includes('TracewrightWarning'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(`${name} ${versionOf('earlier', name)} is not traced: `);
  expect(lines[0]).toContain(reason);
});
