import { isObject, requiredObject, text } from './engine/payload.js';
import type { Library } from './library.js';

/** The message of an injected channel for a job's function that is called. */
interface Call {
  job?: unknown;
  /** The function of the program. */
  run?: unknown;
  /** Of what has the job's pattern elsewhere. */
  pattern?: unknown;
}

/** Fields of a job that may have its name. */
interface Named {
  name?: string | undefined;
  pattern?: string | undefined;
  /** Whether it runs at a date: programs make a job of its own for each. */
  isOnce?: boolean;
}

const MAX_NAME = 256;

/** A library that calls functions of the program at their times. */
function jobsOf(library: string, named: (job: object, pattern: unknown) => Named): Library {
  return {
    name: library,
    operations: [
      {
        channel: `orchestrion:${library}:job`,
        // A report counts what is consumed as a request to the service.
        kind: 'consumer',
        nests: true,
        // Its context is that of the request which has scheduled it.
        isDetached: () => true,
        describe({ job, run, pattern: given }: Call) {
          const { name, pattern, isOnce } = named(requiredObject(job, 'job'), given);
          const known = isOnce === true ? 'job at a date' : name || pattern || 'job';
          const destination = known.slice(0, MAX_NAME);
          return {
            name: destination,
            attributes: {
              'messaging.system': library,
              'messaging.operation.name': 'process',
              'messaging.operation.type': 'process',
              'messaging.destination.name': destination,
              'code.function.name':
                text((run as { name?: unknown } | undefined)?.name) || undefined,
            },
          };
        },
      },
    ],
  };
}

/** Names that `node-cron` 3 makes itself. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** `node-cron`: a task of version 4, or options of version 3. */
export const nodeCron = jobsOf('node-cron', (job, given) => {
  const { id, name, cronExpression } = job as Readonly<Record<string, unknown>>;
  const own = text(name);
  const isMade = own === undefined || own === id || UUID.test(own);
  return { name: isMade ? undefined : own, pattern: text(given) ?? text(cronExpression) };
});

/** `croner`. */
export const croner = jobsOf('croner', (job) => {
  const { name, _states: states } = job as {
    name?: unknown;
    _states?: { once?: unknown; pattern?: { pattern?: unknown } };
  };
  return {
    name: text(name),
    pattern: text(states?.pattern?.pattern),
    isOnce: isObject(states?.once),
  };
});

/** `cron`. */
export const cron = jobsOf('cron', (job) => {
  const { name, runOnce, cronTime } = job as {
    name?: unknown;
    runOnce?: unknown;
    cronTime?: { source?: unknown };
  };
  return { name: text(name), pattern: text(cronTime?.source), isOnce: runOnce === true };
});

const ANONYMOUS = '<Anonymous Job ';

/** `node-schedule`. */
export const nodeSchedule = jobsOf('node-schedule', (job, given) => {
  const { name, isOneTimeJob } = job as { name?: unknown; isOneTimeJob?: unknown };
  const own = text(name);
  return {
    name: own?.startsWith(ANONYMOUS) === true ? undefined : own,
    pattern: text(given),
    isOnce: isOneTimeJob === true,
  };
});
