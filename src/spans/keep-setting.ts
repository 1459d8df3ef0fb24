import { getNote, putNote } from '../core/process-notes.js';
import type { KeepOptions, KeepRules } from './keep/keep-options.js';

/** Of the process: all its threads have the same variable, and one of them warns. */
const FAULT_NOTE = 'spans.keep-fault';

let given: KeepOptions | undefined;
let rules: KeepRules | undefined;
let isRead = false;

type Checks = typeof import('./keep/keep-options.js');
type Grammar = typeof import('./keep/keep-variable.js');

/** @throws TracewrightError when they are wrong. */
export function giveKeep(options: KeepOptions): void {
  rules = (require('./keep/keep-options.js') as Checks).checkKeep(options);
  given = options;
  isRead = true;
}

/** Which traces are kept; undefined: all are. A variable that is wrong is said once, and all traces are recorded. */
export function keepRules(): KeepRules | undefined {
  if (isRead) return rules;
  isRead = true;
  const text = process.env['TRACEWRIGHT_KEEP']?.trim() ?? '';
  if (given !== undefined || text === '') return rules;
  try {
    rules = (require('./keep/keep-variable.js') as Grammar).parseKeep(text);
  } catch (error) {
    const { message } = error as Error;
    if (getNote(FAULT_NOTE) === message) return rules;
    putNote(FAULT_NOTE, message);
    process.emitWarning(`${message}; every trace is recorded`, {
      type: 'TracewrightWarning',
      code: 'TRACEWRIGHT_KEEP',
    });
  }
  return rules;
}

/** Bytes of a thread's spans that wait for the decision. */
export function waitingBytes(): number {
  return keepRules()?.waitingBytes ?? 0;
}
