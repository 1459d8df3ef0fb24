import { closeSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { putListEntry } from '../../core/native-calls.js';
import { recordsNothing } from '../../core/off.js';
import { PRIVATE_FILE } from '../../core/options/file-mode.js';
import { hasCode, systemError, wrapSystemError } from '../../core/files/system-error.js';
import { CPUS_NAMED, PROCESS_METADATA } from '../file-names.js';
import { currentProcess, endedProcess, noteProcess } from './process-note.js';
import type { CpuEntry, OvniProcess } from './process-note.js';

/**
 * Version 1: writes `metadata.json` (specification version 1, "Process metadata"). Everything that the
 * version has no key for is under `tracewright`, which readers of the format ignore.
 *
 * @param thread metadata of one thread, which is added to that of the others.
 */
export function writeProcessMetadata(
  current: OvniProcess,
  thread?: { tid: number; metadata: string },
): void {
  if (current.version !== 1) return;
  const known = currentProcess();
  // Another thread may have changed it since the caller read it.
  if (known?.procDir === current.procDir) current = known;
  else current = endedProcess(current.procDir) ?? current;
  const own: Record<string, unknown> = { version: 1, app_id: current.app };
  if (current.cpus.length > 0) own['cpus'] = current.cpus;
  if (current.rank !== undefined) Object.assign(own, current.rank);
  const before = `${JSON.stringify(own).slice(0, -1)},"tracewright":{"epoch":"${current.epoch}","loom":${JSON.stringify(current.loom)},"pid":${current.pid},"threads":{`;
  const piece = thread === undefined ? '' : threadEntry(thread.tid, thread.metadata);
  const path = join(current.workDir, PROCESS_METADATA);
  wrapSystemError(PROCESS_METADATA, path, () => {
    putListEntry(path, String(thread?.tid ?? ''), piece, before, '}}}\n', current.ring.fileMode);
  });
}

/** Entry of a thread in the metadata of the process. */
export function threadEntry(tid: number, metadata: string): string {
  return `"${tid}":${metadata}`;
}

/** Version 1: adds a CPU to the metadata of the process. */
export function addProcessCpu(current: OvniProcess, cpu: CpuEntry): void {
  current.cpus.push(cpu);
  noteProcess(current);
  writeProcessMetadata(current);
}

/**
 * Whether this process names the CPUs of its loom. Version 1 wants exactly one process to do so: the
 * first one that asks.
 */
export function isElectedForCpus(current: OvniProcess): boolean {
  if (current.cpus.length > 0 || recordsNothing()) return true;
  try {
    closeSync(openSync(join(dirname(current.procDir), CPUS_NAMED), 'wx', PRIVATE_FILE));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw systemError('cpus', current.procDir, error);
  }
}
