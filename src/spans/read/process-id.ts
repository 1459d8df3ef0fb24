import type { RecordedResource } from '../span-record.js';

/** Largest number of a process, in signed 32 bits. */
const MOST = 0x7fff_ffff;

/** The process that a resource names; undefined if it names none, or what cannot be one. */
export function processIdOf(resource: RecordedResource | undefined): number | undefined {
  const { attributes = {} } = resource ?? {};
  const pid = Object.hasOwn(attributes, 'process.pid') ? attributes['process.pid'] : undefined;
  return Number.isInteger(pid) && (pid as number) > 0 && (pid as number) <= MOST
    ? (pid as number)
    : undefined;
}
