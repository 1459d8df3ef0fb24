import { MAX_MEMBERS, OPEN_TELEMETRY, OWN } from './trace-context.js';

/**
 * What a `tracestate` says of sampling. Texts are valid: `checkTraceState` has passed them, or they were made here.
 */

/** Ours where another agent has sent its own `traceparent`: the rest of the `traceparent` that it stands for. */
const OWN_PARENT = /(?:^|,)tracewright=([\da-f]{32}-[\da-f]{16}-[\da-f]{2})(?=,|$)/;

const SAMPLED = 1;

/** The member of a trace that is not recorded: services that follow it do not record it either. */
export const NOT_SAMPLED = `${OWN}=0`;

/** The member of a trace that a service keeps for a reason: who receives it keeps it too. */
export const KEEP = `${OWN}=keep`;
const KEPT = /(?:^|,)tracewright=(?:keep|[\da-f]{32}-[\da-f]{16}-[\da-f]{2}-keep)(?=,|$)/;

/** Whether a sender keeps the trace whole. */
export function isKept(traceState: string): boolean {
  return traceState.includes('keep') && KEPT.test(traceState);
}

/** A `tracestate` that says so. */
export function withKeep(traceState: string): string {
  if (isKept(traceState)) return traceState;
  const others = members(traceState).filter((member) => !member.startsWith(`${OWN}=`));
  return [KEEP, ...others.slice(0, MAX_MEMBERS - 1)].join(',');
}

/** A `tracestate` that says which share the trace is of, unless it says so already. */
export function withThreshold(traceState: string, threshold: string): string {
  if (threshold === '' || traceState.includes(`${OPEN_TELEMETRY}=`)) return traceState;
  const others = members(traceState).slice(0, MAX_MEMBERS - 1);
  return [threshold, ...others].join(',');
}

/** The members by which a sender says what it has decided. */
const DECISION = new RegExp(`^(?:${OPEN_TELEMETRY}|${OWN})=`);

const DIGITS = 14;
const RANDOM_VALUE = /(?:^|;)rv:([\da-f]{14})(?:;|$)/;

function members(traceState: string): string[] {
  return traceState === '' ? [] : traceState.split(',');
}

/** `ot=th:…` of a threshold of 56 bits. */
export function thresholdMember(threshold: bigint): string {
  const digits = threshold.toString(16).padStart(DIGITS, '0').replace(/0+$/, '');
  return `${OPEN_TELEMETRY}=th:${digits === '' ? '0' : digits}`;
}

/** Whether the sender has decided about the trace by rules that Tracewright knows: only then its refusal counts. */
export function saysWhetherSampled(traceState: string): boolean {
  return members(traceState).some((member) => DECISION.test(member));
}

/**
 * A `tracestate` that has our parent next to a `traceparent` of another agent.
 *
 * @param traceParent ours.
 */
export function withOwnParent(traceState: string, traceParent: string): string {
  const others = members(traceState).filter((member) => !member.startsWith(`${OWN}=`));
  const kept = others.slice(0, MAX_MEMBERS - 1);
  return [`${OWN}=${traceParent.slice('00-'.length)}`, ...kept].join(',');
}

/** Our `traceparent` that a `tracestate` has, and its other members; undefined: it has none. */
export function ownParentIn(
  traceState: string,
): { traceParent: string; others: string } | undefined {
  const found = OWN_PARENT.exec(traceState);
  if (found === null) return undefined;
  const others = members(traceState).filter((member) => !member.startsWith(`${OWN}=`));
  return { traceParent: `00-${found[1]}`, others: others.join(',') };
}

/** What is sent of a span: a refusal that was decided here says so. */
export function sentTraceState(span: {
  readonly traceState: string;
  readonly flags: number;
  readonly output: { stateOf(span: never): string } | undefined;
}): string {
  const { traceState, flags, output } = span;
  if (output === undefined) return traceState;
  if ((flags & SAMPLED) === 0) return traceState === '' ? NOT_SAMPLED : traceState;
  return output.stateOf(span as never);
}

/** The random value that a sender has chosen in place of the trace id's, in hexadecimal digits; undefined: none. */
export function randomValue(traceState: string): string | undefined {
  if (!traceState.includes('rv:')) return undefined;
  const own = members(traceState).find((member) => member.startsWith(`${OPEN_TELEMETRY}=`));
  return RANDOM_VALUE.exec(own?.slice(OPEN_TELEMETRY.length + 1) ?? '')?.[1];
}

/**
 * A `tracestate` after a new decision.
 *
 * @param decision `ot=th:…`, `NOT_SAMPLED`, or empty: every trace is recorded here.
 */
export function withDecision(traceState: string, decision: string): string {
  if (traceState === '') return decision;
  const others: string[] = [];
  let kept = '';
  for (const member of members(traceState)) {
    if (member.startsWith(`${OWN}=`)) continue;
    if (!member.startsWith(`${OPEN_TELEMETRY}=`)) others.push(member);
    else kept = withoutThreshold(member.slice(OPEN_TELEMETRY.length + 1));
  }
  const isThreshold = decision.startsWith(`${OPEN_TELEMETRY}=`);
  const own = isThreshold && kept !== '' ? `${decision};${kept}` : decision;
  const rest = !isThreshold && kept !== '' ? [`${OPEN_TELEMETRY}=${kept}`] : [];
  return [own, ...rest, ...others]
    .filter((member) => member !== '')
    .slice(0, MAX_MEMBERS)
    .join(',');
}

function withoutThreshold(value: string): string {
  return value
    .split(';')
    .filter((field) => field !== '' && !field.startsWith('th:'))
    .join(';');
}
