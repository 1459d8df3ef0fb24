import { rowAt } from '../../index/index-row.js';
import { nearestName } from '../../../core/nearest-name.js';
import { sameAttribute } from '../../../spans/read/older-names.js';
import type { LookIndex } from '../../index/look-index.js';
import type { UnknownAttribute } from '../shape/report-shape.js';
import { sampledRows } from '../measures/samples.js';

/** Spans whose attributes are looked at. */
const MOST_SPANS = 500;

/** Short names of attributes that are no part of the whole name. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  method: 'http.request.method',
  host: 'server.address',
  hostname: 'server.address',
  ip: 'client.address',
  sql: 'db.query.text',
  statement: 'db.query.text',
  db: 'db.namespace',
  database: 'db.namespace',
  table: 'db.collection.name',
  queue: 'messaging.destination.name',
  topic: 'messaging.destination.name',
};

/** Names of attributes that no span has, if spans have one that is called nearly so, or so in short. */
export function unknownAttributes(index: LookIndex, asked: readonly string[]): UnknownAttribute[] {
  if (asked.length === 0) return [];
  const known = recordedNames(index);
  return asked.flatMap((name) => {
    if (sameAttribute(name).some((each) => known.has(each))) return [];
    const near = longerName(name, known) ?? nearestName(name, known);
    return near === undefined ? [] : [{ name, near }];
  });
}

/** Finds the recorded name of a short one: `http.route` for `route`. */
function longerName(name: string, known: ReadonlySet<string>): string | undefined {
  const short = Object.hasOwn(SHORT_NAMES, name) ? sameAttribute(SHORT_NAMES[name]!) : [];
  const parts = [`.${name}`, `_${name}`, `.${name}.`];
  return (
    short.find((each) => known.has(each)) ??
    [...known]
      .sort((a, b) => a.length - b.length)
      .find((each) =>
        parts.some((part) => (part.endsWith('.') ? each.includes(part) : each.endsWith(part))),
      )
  );
}

function recordedNames(index: LookIndex): Set<string> {
  const names = new Set<string>();
  for (const row of sampledRows(index, MOST_SPANS)) {
    if (rowAt(index, row).traceId === null) continue;
    for (const name of Object.keys(index.details(row))) names.add(name);
  }
  return names;
}
