import { spans } from '../../spans/shared-spans.js';

/** A job that this thread runs, or has run. */
interface Job {
  /** Its queue and its own name. */
  readonly kind: string;
  /** Jobs above it in its trace. */
  readonly above: number;
}

/** A member of a job's metadata: how many jobs of its trace are above it, as a text. */
const ABOVE = 'tracewright-jobs';
/** A job with as many above it begins a trace, and so does what has begun as often before. */
const MOST = 10;
/** Milliseconds after a job was added, from which on it begins a trace. */
const LATEST_MS = 3_600_000;

/** By the sender of the job, which all carry that is below it. */
const jobs = new WeakMap<object, Job>();

/**
 * Notes in a job that is added how many are above it: a job that adds one of its own kind would be one trace for ever.
 *
 * @param carrier what the job carries.
 */
export function noteAdded(carrier: Record<string, unknown>, kind: string): void {
  const senders = spans.activeContext()?.carried?.senders;
  const adding = senders === undefined ? undefined : jobs.get(senders);
  if (adding === undefined) Reflect.deleteProperty(carrier, ABOVE);
  else carrier[ABOVE] = String(adding.kind === kind ? MOST : adding.above + 1);
}

/** Facts of a job that begins. */
export interface Beginning {
  readonly kind: string;
  readonly carrier: Readonly<Record<string, unknown>>;
  /** How often it has begun before. */
  readonly attempts: number;
  /** When it was added, in milliseconds since 1970. */
  readonly added: number;
  /** Whether a scheduler has added it. */
  readonly isScheduled: boolean;
}

/** Whether a job begins a trace, with a link to its sender, instead of being below that. */
export function beginsTrace(
  sender: object,
  { kind, carrier, attempts, added, isScheduled }: Beginning,
): boolean {
  const above = Number(carrier[ABOVE] ?? 0);
  const begins = isScheduled || above >= MOST || attempts >= MOST || Date.now() - added > LATEST_MS;
  jobs.set(sender, { kind, above: begins ? 0 : above });
  return begins;
}
