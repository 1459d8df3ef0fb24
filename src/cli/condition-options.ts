import { TracewrightError } from '../core/errors.js';
import { parseTimePoint } from '../look/condition/time-point.js';
import type { TimeRange } from '../look/condition/time-point.js';
import { parseWhere } from '../look/condition/where.js';
import type { Condition } from '../look/index/look-index.js';
import { UsageError } from './command.js';

/** Options of the subcommands that select a part of a recording. */
export const conditionOptions = {
  since: { type: 'string' },
  until: { type: 'string' },
  where: { type: 'string', multiple: true },
} as const;

/** Their values on the command line. */
interface ConditionValues {
  since?: string | undefined;
  until?: string | undefined;
  where?: string[] | undefined;
}

/** Lines of a help text about these options. */
export const conditionHelp = `  --since, --until
                only what overlaps this time. A time is 2026-01-31T12:00:00Z,
                +5m after the start of the recording, or -5m before its end
                (--since=-5m)
  --where       only spans that meet a condition; can be repeated. NAME=VALUE
                with name (* stands for any text), service, status, kind,
                trace, unfinished, parent=missing, or any attribute;
                duration>=10ms, duration<=1s
`;

/** What the options select. The times of the condition are in the range. */
export interface Selection {
  range: TimeRange;
  condition: Condition;
}

/** @throws UsageError for a value that is no time or no condition. */
export function checkSelection({ since, until, where = [] }: ConditionValues): Selection {
  try {
    return {
      range: {
        ...(since !== undefined && { since: parseTimePoint('--since', since) }),
        ...(until !== undefined && { until: parseTimePoint('--until', until) }),
      },
      condition: parseWhere(where),
    };
  } catch (error) {
    throw error instanceof TracewrightError ? new UsageError(error.message) : error;
  }
}
