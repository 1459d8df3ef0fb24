import { counted } from '../../../core/readable-text.js';
import { UNCAUGHT } from '../../../spans/layout.js';
import { IndexRow, isError } from '../../index/index-row.js';
import type { LookIndex } from '../../index/look-index.js';
import { failedSpan } from '../errors/failures.js';
import { frameText } from '../print/cause-texts.js';
import { endText } from '../print/report-texts.js';
import type { ReportSource } from '../shape/report-shape.js';
import type { Rule } from './evidence.js';

/** A process ran out of heap, threw what nothing caught, was killed, or ended while requests were open. */
export const died: Rule = {
  name: 'died',
  isAlways: true,
  find({ index, selection, report: { sources, open } }) {
    const chosen = new Set(selection.sources.map(({ path }) => path));
    const dead = new Map<number | string, ReportSource>();
    const uncaught = uncaughtErrors(index);
    for (const source of sources) {
      const { state, heapLimit, path } = source;
      const isDead = state === 'died' || state === 'unfinished' || heapLimit !== null;
      if (!chosen.has(path) || (!isDead && !uncaught.has(path))) continue;
      const key = source.process ?? path;
      if (!dead.has(key) || source.service !== null) dead.set(key, source);
    }
    const requests = open.spans.filter(({ isRequest, isNow }) => isRequest && !isNow);
    return [...dead.values()].flatMap((source) => {
      const { service, pid, state, until, heapLimit, path } = source;
      const own = requests.filter((span) => span.service === service);
      const error = heapLimit === null ? uncaught.get(path) : undefined;
      const isKnown = heapLimit !== null || state === 'died';
      // SIGTERM may leave spans of timers open. It is a finding only if a request was open.
      if (!isKnown && error === undefined && own.length === 0) return [];
      const how = isKnown ? endText(source) : 'ended by an exit or a signal';
      const process = `${service ?? 'a process'}${pid === null ? '' : ` (process ${pid})`}`;
      const openThen = own.length === 0 ? '' : `, with ${counted(own.length, 'open request')}`;
      return {
        rule: 'died',
        loss: 'process',
        lost: own.length,
        service,
        text: `${error?.thread ?? ''}${process} ${error?.how ?? how}${openThen}`,
        evidence: until === null ? `its recording is ${path}` : `it was alive at ${until}`,
        trace: error?.trace ?? own[0]?.traceId ?? null,
        section: own.length > 0 ? 'open' : 'processes',
        where: [],
      };
    });
  },
};

interface Uncaught {
  /** `thread worker 1 of `, if only that has ended. */
  thread: string;
  how: string;
  trace: string | null;
}

/** By path of the recording: the last error that nothing caught. */
function uncaughtErrors(index: LookIndex): Map<string, Uncaught> {
  const found = new Map<string, Uncaught>();
  for (const part of index.parts) {
    const { names, name, flags, count, track } = part;
    const wanted = Array.from({ length: names.count }, (_, at) => names.text(at) === UNCAUGHT);
    if (!wanted.includes(true)) continue;
    for (let at = 0; at < count; at++) {
      if (!wanted[name[at]!] || !isError(flags[at]!)) continue;
      const { row, traceId } = new IndexRow(part, at);
      const { type, frame } = failedSpan(index, row);
      const thread = index.tracks[track[at]!]!.name;
      found.set(part.source.path, {
        thread: thread === 'main' ? '' : `thread ${thread} of `,
        how: `ended by an uncaught ${type ?? 'error'}${frame === null ? '' : ` at ${frameText(frame.text)}`}`,
        trace: traceId,
      });
    }
  }
  return found;
}
