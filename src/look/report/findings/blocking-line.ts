import { counted } from '../../../core/readable-text.js';
import { durationText, shareText } from '../measures/units.js';
import { ranInText, requestsOf, stallsText } from '../print/interruption-texts.js';
import { codeText } from '../names/code-text.js';
import type { Rule } from './evidence.js';

/** Of the time that was recorded. */
const LEAST_SHARE = 0.02;
/** Or a single stall of so many ns. */
const LEAST_STALL = 500e6;
/** Of the time of its stalls: with a smaller share on a CPU, the machine is a reason, too. */
const MOST_OF_IT = 0.8;
/** Routes that are named. */
const MOST_ROUTES = 3;

/** A line of code keeps an event loop from turning. */
export const blockingLine: Rule = {
  name: 'blocking line',
  find({ report: { interruptions, length }, stallsOfLines, window }) {
    return interruptions.lines.flatMap((line, number) => {
      const { service, count, delayed } = line;
      const requests = line.requests.reduce((sum, each) => sum + each.count, 0);
      const spans = counted(delayed, 'span');
      const waiting = requests === 0 ? spans : `${spans} of ${counted(requests, 'request')}`;
      // Of slow machines and of collections the line is not the reason. What is said are the figures of the table.
      const stalls = stallsOfLines[number]!;
      const total = stalls.reduce((sum, { own }) => sum + own, 0);
      const max = Math.max(...stalls.map(({ own }) => own));
      const causer = ranInText(line);
      const ranIn = causer === null ? '' : `, in ${causer}`;
      const routes = requestsOf(line.requests.slice(0, MOST_ROUTES))
        .map((item) => item.join(' '))
        .join(', ');
      if (total < LEAST_SHARE * length && max < LEAST_STALL) return [];
      if (!window.hasInTwo(stalls.map(({ start }) => start))) return [];
      const hasCpu = total >= MOST_OF_IT * line.total;
      const onCpu = hasCpu ? '' : `, ${durationText(total)} of it on a CPU`;
      return {
        rule: 'blocking line',
        loss: 'time',
        lost: line.total + line.waited,
        service,
        text: `${service ?? 'an event loop'} was blocked for ${durationText(line.total)} by ${codeText(line)}${ranIn}: ${waiting} waited`,
        evidence: `${stallsText(count, interruptions)}, the longest ${durationText(line.max)}, ${shareText(line.total / length)} of the time${onCpu}${routes === '' ? '' : `; delayed ${routes}`}`,
        trace: null,
        section: 'stalls',
        where: [],
      };
    });
  },
};
