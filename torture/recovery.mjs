// Recovers as a user would, also with the recovery itself being killed.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const command = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

/** Begins `tracewright recover` and kills it after `ms` unless it is through by then. */
export async function interruptedRecovery(place, ms) {
  const child = spawn(process.execPath, [command, 'recover', place], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await Promise.race([ended, delay(ms)]);
  child.kill('SIGKILL');
  await ended;
}

/** Recovers each format; what could not be is given back in words. */
export function recover(formats, place) {
  const faults = [];
  for (const format of formats) {
    for (const fault of format.recover(place)?.faults ?? []) {
      faults.push(`recover: ${fault.message}`);
    }
  }
  return faults;
}

/** Through the command; its words when it fails. */
export function recoverByCommand(place) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, 'recover', place], {
    encoding: 'utf8',
  });
  return status === 0 ? undefined : `${stdout}${stderr}`;
}
