import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The built command, or the one that TRACEWRIGHT_CLI names. */
export const main =
  process.env['TRACEWRIGHT_CLI'] ??
  fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

if (!existsSync(main)) throw new Error(`${main} is not there: run \`npm run compile:ts\` first`);

/** What a run of the command left behind. */
export interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the command to its end. */
export function tracewright(...args: string[]): Run {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  return { status, stdout, stderr };
}
