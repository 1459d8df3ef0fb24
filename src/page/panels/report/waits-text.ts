import type { WaitedFor } from '../../../look/report/report-shape.js';
import { longestWaits, waitName } from '../../../look/report/wait-texts.js';

const MOST_NAMES = 3;

interface Waiting {
  service: string | null;
  waitedFor: readonly WaitedFor[];
}

/** What a trace or a group waited for, the longest first: with the service where it is another one. */
export function waitsText(waiting: Waiting): string {
  return longestWaits(waiting)
    .slice(0, MOST_NAMES)
    .map((each) => {
      const { service, share } = each;
      const where = service === null || service === waiting.service ? '' : ` (${service})`;
      return `${waitName(each)}${where} ${Math.round(share * 100)} %`;
    })
    .join(', ');
}
