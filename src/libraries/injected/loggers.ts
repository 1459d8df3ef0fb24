import { spans } from '../../spans/shared-spans.js';
import type { SpanIds } from '../../spans/context/trace-context.js';
import type { ChangedText, Injection } from './injected-file.js';

/**
 * With `TRACEWRIGHT_LOGS=ids` the lines of loggers have the ids of the span that is active where the program logs. They
 * get them there: a stream may write a line later, where another request is served.
 */

const ID = 'trace_id';

/** Of what is logged now; undefined: no span is active, or the line has ids already. */
function idsFor(line: object | null | undefined): SpanIds | undefined {
  const ids = spans.activeSpan()?.ids;
  return ids === undefined || (typeof line === 'object' && line !== null && ID in line)
    ? undefined
    : ids;
}

/** Returns what `add` returns. Nothing that fails reaches the program: its line is written as it is. */
function orAsIs<Line>(line: Line, add: () => Line): Line {
  try {
    return add();
  } catch {
    return line;
  }
}

function isPlain(line: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(line);
  return prototype === Object.prototype || prototype === null;
}

function changed(channel: string, from: ChangedText['from'], to: string): ChangedText[] {
  return [{ channel: `orchestrion:${channel}:line`, from, to }];
}

/** The bindings of a logger are JSON already. Fields of the line itself follow them. */
export const pino: Injection = {
  files: [
    {
      package: 'pino',
      path: /^lib\/tools\.js$/,
      texts: changed(
        'pino',
        'const chindings = this[chindingsSym]',
        'const chindings = $channel.bindings(this[chindingsSym], obj)',
      ),
    },
  ],
  calls: () => ({
    bindings: (json: string, line: object | null | undefined) =>
      orAsIs(json, () => {
        const ids = json.includes(`"${ID}":`) ? undefined : idsFor(line);
        return ids === undefined ? json : `${json},${JSON.stringify(ids).slice(1, -1)}`;
      }),
  }),
};

/** A record may be an object of the program, which must not change. */
export const winston: Injection = {
  files: [
    {
      package: 'winston',
      path: /^lib\/winston\/logger\.js$/,
      texts: changed(
        'winston',
        /class Logger extends (?:stream\.)?Transform \{/,
        '$match write(info, ...rest) { return $channel.write(info, (line) => super.write(line, ...rest)); }',
      ),
    },
  ],
  calls: () => ({
    write(line: object, write: (line: object) => unknown) {
      const ids = orAsIs(undefined, () => idsFor(line));
      if (ids === undefined) return write(line);
      if (isPlain(line)) return write({ ...line, ...ids });
      // An error, which has no copy: it has the ids while it is written.
      const isGiven = orAsIs(false, () => Object.isExtensible(line));
      if (isGiven) Object.assign(line, ids);
      try {
        return write(line);
      } finally {
        if (isGiven) for (const name of Object.keys(ids)) Reflect.deleteProperty(line, name);
      }
    },
  }),
};

/** A record is made for one call. */
export const bunyan: Injection = {
  files: [
    {
      package: 'bunyan',
      path: /^lib\/bunyan\.js$/,
      texts: changed(
        'bunyan',
        'Logger.prototype._emit = function (rec, noemit) {',
        '$match $channel.add(rec);',
      ),
    },
  ],
  calls: () => ({
    add: (line: object) => orAsIs(line, () => Object.assign(line, idsFor(line))),
  }),
};
