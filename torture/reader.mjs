import { spawnSync } from 'node:child_process';

/** Runs a format's own reader; undefined when it accepts, else its words. */
export function runReader(command, args) {
  const { status, signal, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status === 0) return undefined;
  const said = stderr.split('\n').find((line) => line.includes('ERROR')) ?? stderr.slice(0, 100);
  return `${command} ended with ${error?.message ?? signal ?? status}: ${said}`;
}
