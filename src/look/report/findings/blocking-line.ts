import { counted } from '../../../core/readable-text.js';
import { durationText, shareText } from '../measures/units.js';
import { codeText } from '../names/code-text.js';
import type { Rule } from './evidence.js';

/** Of the time that was recorded. */
const LEAST_SHARE = 0.02;
/** Or a single stall of so many ns. */
const LEAST_STALL = 500e6;

/** A line of code keeps an event loop from turning. */
export const blockingLine: Rule = {
  name: 'blocking line',
  find({ report: { interruptions, length }, stallTimes, window }) {
    return interruptions.lines.flatMap((line, number) => {
      const { service, count, total, max, delayed } = line;
      if (total < LEAST_SHARE * length && max < LEAST_STALL) return [];
      if (!window.hasInTwo(stallTimes[number]!)) return [];
      return {
        rule: 'blocking line',
        loss: 'time',
        // What waits for the loop loses as much as the loop.
        lost: total + (delayed * total) / count,
        service,
        text: `${service ?? 'an event loop'} was blocked for ${durationText(total)} by ${codeText(line)}: ${counted(delayed, 'span')} waited`,
        evidence: `${counted(count, 'stall')}, the longest ${durationText(max)}, ${shareText(total / length)} of the time`,
        trace: null,
        section: 'stalls',
        where: [],
      };
    });
  },
};
