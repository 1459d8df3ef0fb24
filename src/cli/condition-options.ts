import { TracewrightError } from '../core/errors.js';
import { parseTimePoint } from '../look/condition/time-point.js';
import type { TimeRange } from '../look/condition/time-point.js';
import { parseWhere } from '../look/condition/where.js';
import type { Condition } from '../look/index/look-index.js';
import { shellWord } from '../look/report/print/hint-texts.js';
import { UsageError } from './command.js';

/** Options of the subcommands that select a part of a recording. */
export const conditionOptions = {
  since: { type: 'string' },
  from: { type: 'string' },
  until: { type: 'string' },
  where: { type: 'string', multiple: true },
} as const;

/** Their values on the command line. */
interface ConditionValues {
  since?: string | undefined;
  from?: string | undefined;
  until?: string | undefined;
  where?: string[] | undefined;
}

/** Lines of a help text about these options. */
export const conditionHelp = `  --since, --until
                only what overlaps this time. A time is 2026-01-31T12:00:00Z,
                +5m after the start of the recording, or -5m before its end.
                --from is another name of --since
  --where       only spans that meet a condition; can be repeated. NAME=VALUE
                with name (* is any text), service, system (http, redis),
                status, kind, trace, cause (of failure, as --json has it), or
                any attribute; duration>=10ms, duration<=1s; unfinished;
                missing-parent
`;

/** The condition of the options. The times of the condition are in the range. */
interface Selection {
  range: TimeRange;
  condition: Condition;
}

/** @throws UsageError for a value that is no time or no condition. */
export function checkSelection(values: ConditionValues): Selection {
  const { from, until, where = [] } = values;
  if (from !== undefined && values.since !== undefined) {
    throw new UsageError('--from is another name of --since: use one of them');
  }
  const since = values.since ?? from;
  const option = from === undefined ? '--since' : '--from';
  try {
    return {
      range: {
        ...(since !== undefined && { since: parseTimePoint(option, since) }),
        ...(until !== undefined && { until: parseTimePoint('--until', until) }),
      },
      condition: parseWhere(where),
    };
  } catch (error) {
    throw error instanceof TracewrightError ? new UsageError(error.message) : error;
  }
}

/** The options as they were given: `--where 'name=GET *'`. */
export function selectionTexts({ since, from, until, where = [] }: ConditionValues): string[] {
  const textOf = (option: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`--${option} ${shellWord(value)}`];
  return [
    ...textOf('since', since),
    ...textOf('from', from),
    ...textOf('until', until),
    ...where.flatMap((value) => textOf('where', value)),
  ];
}

const TIME_OPTIONS: readonly string[] = ['--since', '--from', '--until'];

/** Joins `--since -5m`, which `parseArgs` takes for two options. */
export function withSignedTimes(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1);
    const isTime = before !== undefined && TIME_OPTIONS.includes(before) && /^-\d/.test(arg);
    if (isTime) joined[joined.length - 1] = `${before}=${arg}`;
    else joined.push(arg);
  }
  return joined;
}
