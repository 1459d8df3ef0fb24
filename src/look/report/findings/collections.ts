import { ofService } from '../names/request-name.js';
import { durationText, shareText } from '../measures/units.js';
import { threadText } from '../print/interruption-texts.js';
import type { Rule } from './evidence.js';

/** Of a thread's time, in a stretch of so many ns. */
const LEAST_SHARE = 0.1;
const STRETCH = 10e9;
const MOST_STRETCHES = 100_000;

/** A thread collects garbage for a tenth of its time. */
export const collections: Rule = {
  name: 'collections',
  find({ index, interruptions, window, report }) {
    const length = Math.max(STRETCH, window.length / MOST_STRETCHES);
    const known = new Set<string>();
    return index.tracks.flatMap(({ kind, number }) => {
      if (kind !== 'thread' || !interruptions.hasAny(number)) return [];
      const thread = interruptions.threadOf(number);
      // A thread has a track in each trace of its process.
      const key = threadText(thread) + String(thread.pid);
      if (known.has(key)) return [];
      known.add(key);
      const seen: { at: number; time: number }[] = [];
      for (let at = window.from; at + length <= window.to; at += length) {
        const time = interruptions.overlap(number, at, at + length).collection;
        if (time >= LEAST_SHARE * length) seen.push({ at, time });
      }
      if (!window.hasInTwo(seen.map(({ at }) => at))) return [];
      const lost = seen.reduce((sum, { time }) => sum + time, 0);
      const [most] = seen.sort((a, b) => b.time - a.time);
      return {
        rule: 'collections',
        loss: 'time',
        lost,
        service: thread.service,
        text: `thread ${thread.thread}${ofService(thread.service)} collects garbage for ${shareText(most!.time / length)} of its time`,
        evidence: `in ${durationText(seen.length * length)} of ${durationText(report.length)}, ${durationText(lost)} together`,
        trace: null,
        section: 'stalls',
        where: [],
      };
    });
  },
};
