import { counted } from '../../../core/readable-text.js';
import { endText } from '../print/report-texts.js';
import type { ReportSource } from '../shape/report-shape.js';
import type { Rule } from './evidence.js';

/** A process ran out of heap, did not end by itself, or ended while requests were open. */
export const died: Rule = {
  name: 'died',
  isAlways: true,
  find({ report: { sources, open } }) {
    const dead = new Map<number | string, ReportSource>();
    for (const source of sources) {
      const { state, heapLimit } = source;
      if (state !== 'died' && state !== 'unfinished' && heapLimit === null) continue;
      const key = source.process ?? source.path;
      if (!dead.has(key) || source.service !== null) dead.set(key, source);
    }
    const requests = open.spans.filter(({ isRequest, isNow }) => isRequest && !isNow);
    return [...dead.values()].flatMap((source) => {
      const { service, pid, state, until, heapLimit } = source;
      const own = requests.filter((span) => span.service === service);
      // A process that was told to end may have background work, but no request.
      if (state === 'unfinished' && heapLimit === null && own.length === 0) return [];
      const isKnown = heapLimit !== null || state === 'died';
      const how = isKnown ? endText(source) : 'ended by an exit or a signal';
      const process = `${service ?? 'a process'}${pid === null ? '' : ` (process ${pid})`}`;
      const openThen = own.length === 0 ? '' : `, with ${counted(own.length, 'open request')}`;
      return {
        rule: 'died',
        loss: 'process',
        lost: own.length,
        service,
        text: `${process} ${how}${openThen}`,
        evidence: until === null ? `its recording is ${source.path}` : `it was alive at ${until}`,
        trace: own[0]?.traceId ?? null,
        section: 'open',
        where: [],
      };
    });
  },
};
