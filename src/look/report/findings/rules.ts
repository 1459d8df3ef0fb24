import { blockingLine } from './blocking-line.js';
import { collections } from './collections.js';
import { constantTimeout } from './constant-timeout.js';
import { died } from './died.js';
import { dominatedTail } from './dominated-tail.js';
import { withCpu } from './evidence.js';
import type { Evidence, Rule } from './evidence.js';
import { failures } from './failures.js';
import { loopUsedUp } from './loop-used-up.js';
import { memoryGrows } from './memory-grows.js';
import { outsideRequests } from './outside-requests.js';
import { poolIsTheQueue } from './pool-queue.js';
import { repeatedCalls } from './repeated-calls.js';
import { retries } from './retries.js';
import { hasEnoughRequests } from '../measures/enough-requests.js';
import type { Finding } from '../shape/finding-shape.js';

/** Every rule. Each is one file. */
const RULES: readonly Rule[] = [
  died,
  failures,
  repeatedCalls,
  blockingLine,
  poolIsTheQueue,
  dominatedTail,
  constantTimeout,
  retries,
  collections,
  loopUsedUp,
  memoryGrows,
  outsideRequests,
];

const MOST_FINDINGS = 7;
const LOSSES: readonly Finding['loss'][] = ['process', 'requests', 'time'];

/** What is wrong: processes that died first, then requests that failed, then time that was lost. */
export function findingsOf(evidence: Evidence): Finding[] {
  const isEnough = hasEnoughRequests(evidence.report);
  const seen = withCpu(evidence);
  return RULES.filter(({ isAlways }) => isAlways === true || isEnough)
    .flatMap((rule) => rule.find(rule.ignoresCpu === true ? evidence : seen))
    .sort((a, b) => LOSSES.indexOf(a.loss) - LOSSES.indexOf(b.loss) || b.lost - a.lost)
    .slice(0, MOST_FINDINGS);
}
