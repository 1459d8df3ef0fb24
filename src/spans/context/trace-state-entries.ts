import { MAX_MEMBERS, OPEN_TELEMETRY, OWN } from './trace-context.js';

/**
 * Reads the entries of a `tracestate` about sampling. Texts are valid: `checkTraceState` has passed them, or they were
 * made here.
 */

/**
 * Ours where another agent has sent its own `traceparent`: the rest of the `traceparent` that it stands for, and what
 * is kept.
 */
const OWN_PARENT =
  /(?:^|,)tracewright=([\da-f]{32}-[\da-f]{16}-[\da-f]{2})(?:-(keep(?::\d{1,15})?))?(?=,|$)/;

const SAMPLED = 1;

/** The member of a trace that is not recorded: services that follow it do not record it either. */
export const NOT_SAMPLED = `${OWN}=0`;

/**
 * The value of a trace that a service keeps for a reason: `keep:TIME`. Who receives it until then keeps it too. Others may
 * send no time.
 */
const KEEP = 'keep';
const KEPT =
  /(?:^|,)tracewright=(?:[\da-f]{32}-[\da-f]{16}-[\da-f]{2}-)?(keep(?::(\d{1,15}))?)(?=,|$)/;

/**
 * Until when a sender has a receiver keep the trace, in milliseconds since 1970; 0: it does not, Infinity: it has given
 * no time.
 */
export function keptUntil(traceState: string): number {
  const found = traceState.includes(KEEP) ? KEPT.exec(traceState) : null;
  return found === null ? 0 : Number(found[2] ?? Infinity);
}

/** A `tracestate` that says so. */
export function withKeep(traceState: string, until: number): string {
  return [`${OWN}=${KEEP}:${until}`, ...othersThanOwn(traceState).slice(0, MAX_MEMBERS - 1)].join();
}

/** One that does not. */
export function withoutKeep(traceState: string): string {
  return keptUntil(traceState) === 0 ? traceState : othersThanOwn(traceState).join();
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

function othersThanOwn(traceState: string): string[] {
  return members(traceState).filter((member) => !member.startsWith(`${OWN}=`));
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
 * @param traceState the other agent's.
 * @param traceParent ours.
 * @param sent our `tracestate`, of which it has what is kept.
 */
export function withOwnParent(traceState: string, traceParent: string, sent: string): string {
  const keep = KEPT.exec(sent)?.[1];
  const own = [traceParent.slice('00-'.length), ...(keep === undefined ? [] : [keep])].join('-');
  return [`${OWN}=${own}`, ...othersThanOwn(traceState).slice(0, MAX_MEMBERS - 1)].join();
}

/** Our `traceparent` that a `tracestate` has, and the `tracestate` without it; undefined: it has none. */
export function ownParentIn(
  traceState: string,
): { traceParent: string; others: string } | undefined {
  const found = OWN_PARENT.exec(traceState);
  if (found === null) return undefined;
  const [, traceParent, keep] = found;
  const others = othersThanOwn(traceState);
  if (keep !== undefined) others.unshift(`${OWN}=${keep}`);
  return { traceParent: `00-${traceParent}`, others: others.join() };
}

/** The `tracestate` that is sent for a span: it names a refusal that was decided here. */
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
