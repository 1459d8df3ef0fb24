import { textOf, valueOf } from '../core/settings/value-of.js';
import type { KeepOptions, KeepRules } from './keep/keep-options.js';

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
  if (given !== undefined || textOf('KEEP') === undefined) return rules;
  rules = valueOf('KEEP', undefined, (require('./keep/keep-variable.js') as Grammar).KEEP);
  return rules;
}

/** Bytes of a thread's spans that wait for the decision. */
export function waitingBytes(): number {
  return keepRules()?.waitingBytes ?? 0;
}
