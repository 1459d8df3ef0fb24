import type { SourceState } from '../index/look-index.js';

/** How the process of a recording has ended. docs/report.md explains the words. */
export const STATE_TEXTS: Readonly<Record<SourceState, string>> = {
  ended: 'ended',
  growing: 'running',
  died: 'was killed',
  unfinished: 'ended with open spans',
};

/** Empty if there is nothing special, so that a column of it can be left out. */
export function unusualStateText(state: SourceState): string {
  return state === 'ended' ? '' : STATE_TEXTS[state];
}
