import { isObject } from '../engine/payload.js';
import type { ChangedText, InjectedFile, Injection } from './injected-file.js';

/** Libraries that call functions of the program at their times. */

/**
 * Publishes the call of a job's function.
 *
 * @param from the call.
 * @param run the expression of the function.
 */
function jobCall(library: string, from: string | RegExp, run: string): ChangedText {
  return {
    channel: `orchestrion:${library}:job`,
    from,
    to: `$channel.promised(() => $match, { job: this, run: ${run} })`,
  };
}

const inNodeCron = (path: RegExp): InjectedFile => ({
  package: 'node-cron',
  path,
  texts: [jobCall('node-cron', 'taskFn(this.createContext(date, execution))', 'taskFn')],
});

export const nodeCron: Injection = {
  files: [
    inNodeCron(/^dist\/(?:(?:cjs|esm)\/)?tasks\/inline-scheduled-task\.js$/),
    inNodeCron(/^dist\/_shared\.c?js$/),
    // Version 3.
    {
      package: 'node-cron',
      path: /^src\/scheduled-task\.js$/,
      texts: [
        {
          channel: 'orchestrion:node-cron:job',
          from: 'new Task(func)',
          to: "new Task(typeof func !== 'function' ? func : function (now) { return $channel.promised(() => func.call(this, now), { job: options, run: func, pattern: cronExpression }); })",
        },
      ],
    },
  ],
};

export const croner: Injection = {
  files: [
    {
      package: 'croner',
      path: /^dist\/croner(?:\.min)?\.c?js$/,
      // One is within a `try` of the library's option `catch`.
      texts: [/\}catch/, /[;}](?:finally|this\._states\.previousRun)/].map((end) =>
        jobCall(
          'croner',
          new RegExp(`this\\.fn\\(this,this\\.options\\.context\\)(?=${end.source})`),
          'this.fn',
        ),
      ),
    },
  ],
};

export const cron: Injection = {
  files: [
    {
      package: 'cron',
      path: /^dist\/job\.js$/,
      texts: [jobCall('cron', 'callback.call(this.context, this.onComplete)', 'callback')],
    },
  ],
};

/** The patterns of jobs: the library keeps what it has made of them. */
const patterns = new WeakMap<object, string>();

export const nodeSchedule: Injection = {
  files: [
    {
      package: 'node-schedule',
      path: /^lib\/Job\.js$/,
      texts: [
        {
          channel: 'orchestrion:node-schedule:job',
          from: 'Job.prototype.schedule = function(spec) {',
          to: '$match $channel.scheduled(this, spec);',
        },
        {
          channel: 'orchestrion:node-schedule:job',
          from: 'this.job(fireDate)',
          to: '$channel.promised(() => $match, { job: this, run: this.job, pattern: $channel.patternOf(this) })',
        },
      ],
    },
  ],
  calls: () => ({
    scheduled(job: object, spec: unknown) {
      const rule = isObject(spec) ? (spec as { rule?: unknown }).rule : spec;
      if (typeof rule === 'string') patterns.set(job, rule);
      else patterns.delete(job);
    },
    patternOf: (job: object) => patterns.get(job),
  }),
};
