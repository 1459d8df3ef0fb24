import { parseOwnJson } from '../../core/json.js';
import { claimNote, getNote, putNote } from '../../core/process-notes.js';
import type { OvniProcess } from './process-note.js';

/**
 * Mark types and labels that any thread of the process has defined: they hold for all of them. The
 * native core keeps them, because Node's threads share no JavaScript.
 */

/** A mark type that all threads share. */
export interface SharedMark {
  title: string;
  stack: boolean;
}

/** A label that all threads share, by the lower half of its value, which the emulator compares. */
interface SharedLabel {
  value: string;
  label: string;
}

/** Puts a note unless another thread has: returns what the note says. */
function agree<T>(name: string, wanted: T): T {
  // Between another thread's claim and its note are some microseconds, or its end, which frees the claim.
  for (;;) {
    if (claimNote(name)) {
      putNote(name, JSON.stringify(wanted));
      return wanted;
    }
    const text = getNote(name);
    if (text !== '') return parseOwnJson(text) as T;
  }
}

function markName({ group }: OvniProcess, type: number): string {
  return `ovni.mark ${type} ${group}`;
}

/** The mark type as any thread has defined it; undefined if none has. */
export function sharedMark(process: OvniProcess, type: number): SharedMark | undefined {
  const text = getNote(markName(process, type));
  return text === '' ? undefined : (parseOwnJson(text) as SharedMark);
}

/** Defines a mark type for all threads, and returns the first definition: it holds. */
export function shareMark(process: OvniProcess, type: number, mark: SharedMark): SharedMark {
  return agree(markName(process, type), mark);
}

/** Labels a value for all threads, and returns the first label of such a value: it holds. */
export function shareLabel(
  process: OvniProcess,
  type: number,
  low: bigint,
  label: SharedLabel,
): SharedLabel {
  return agree(`ovni.label ${type} ${low} ${process.group}`, label);
}
