import { ofService } from '../names/request-name.js';
import { LOOP_BUSY_CURVE } from '../../../spans/read/loop-curves.js';
import type { Counter, LookIndex } from '../../index/look-index.js';
import { durationText, shareText } from '../measures/units.js';
import type { ThreadFigures } from '../shape/thread-shape.js';
import { trackOf } from '../threads/memory.js';
import type { FindingWindow, Rule } from './evidence.js';

/** Of the time in which the loop ran code, and of all time. */
const LEAST_SHARE = 0.2;
const LEAST_TIME = 0.1;
const LEAST_SPANS = 50;
/** Ns that a request costs before and after its spans, for each of these. */
const AROUND_SPAN = 0.5e6;

/** An event loop runs code while no span is open: timers and jobs that nobody sees. */
export const outsideRequests: Rule = {
  name: 'outside requests',
  find(evidence) {
    const { index, selection, window, report, withoutCpu } = evidence;
    const { threads, profile } = report;
    // What other spans ran would count as outside.
    if (selection.conditional) return [];
    return evidence.selection.curves(LOOP_BUSY_CURVE).flatMap((curve) => {
      const thread = figuresOf(index, curve, threads);
      if (thread === undefined || thread.spans < LEAST_SPANS) return [];
      const { used, times } = useOf(curve, window);
      // What ran while a span was open may all have been for it.
      const held = withoutCpu.overlap(index.sources[curve.source]!, window.from, window.to);
      const outside = used - held - thread.busy - AROUND_SPAN * thread.spans;
      if (outside < LEAST_SHARE * used || outside < LEAST_TIME * window.length) return [];
      if (!window.hasInTwo(times)) return [];
      const { service } = thread;
      return {
        rule: 'outside requests',
        loss: 'time',
        lost: outside,
        service,
        text: `at least ${shareText(outside / used)} of the work of thread ${thread.thread}${ofService(service)} is outside requests, as of timers and jobs`,
        evidence: `${durationText(outside)} of ${durationText(window.length)}, in which no span was open${profile.length === 0 ? '; TRACEWRIGHT_PROFILE=cpu names the code' : ''}`,
        trace: null,
        section: 'threads',
        where: [],
      };
    });
  },
};

function figuresOf(
  index: LookIndex,
  curve: Counter,
  threads: readonly ThreadFigures[],
): ThreadFigures | undefined {
  const name = trackOf(index, curve)?.name;
  const path = index.sources.find(({ number }) => number === curve.source)?.path;
  return threads.find((each) => each.path === path && each.thread === name);
}

/** Ns in which the loop ran code, and when it did so for long enough. */
function useOf({ times, values }: Counter, { from, to }: FindingWindow) {
  let used = 0;
  const busy: number[] = [];
  for (let at = 0; at + 1 < times.length; at++) {
    const length = Math.min(times[at + 1]!, to) - Math.max(times[at]!, from);
    if (length <= 0) continue;
    used += values[at]! * length;
    if (values[at]! >= LEAST_TIME) busy.push(Math.max(times[at]!, from));
  }
  return { used, times: busy };
}
