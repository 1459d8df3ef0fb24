import type { OpenSpan } from '../../../look/report/report-shape.js';
import { nameWithPath } from '../../../look/report/request-name.js';
import type { OpenRow } from '../../../look/wire/panel-answers.js';
import { countText, durationText } from '../../time-line/duration-text.js';
import { SpanLink } from './span-link.js';

const INDENT = 14;

interface OpenSpansProps {
  count: number;
  spans: readonly OpenSpan[];
  rows: readonly (OpenRow | null)[];
}

interface Place {
  at: number;
  depth: number;
}

/** What had not ended: each request, and below it what it was waiting for. */
export function OpenSpans({ count, spans, rows }: OpenSpansProps) {
  const places = treeOf(rows);
  const tops = places.filter(({ depth }) => depth === 0).length;
  return (
    <table class="figures">
      <caption>
        Open at the end: {tops < count ? `${countText(tops)} with ` : ''}
        {countText(count)} spans, the oldest first
      </caption>
      <tbody>
        {places.map(({ at, depth }) => {
          const span = spans[at]!;
          const { name, service, thread, start, age } = span;
          const found = rows[at] ?? null;
          return (
            <tr key={`${at} ${start} ${name}`}>
              <td class="number">{durationText(age)}</td>
              <th scope="row" style={{ paddingLeft: `${depth * INDENT}px` }}>
                <SpanLink text={nameWithPath(span)} found={found} />
                {service === null || depth > 0 ? '' : ` (${service})`}
              </th>
              <td>
                {depth === 0 && `thread ${thread}, since ${start.slice(0, 23).replace('T', ' ')}`}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Spans below their parents, as far as those are open too. */
function treeOf(rows: readonly (OpenRow | null)[]): Place[] {
  const known = new Set(rows.map((row) => row?.row));
  const children = new Map<number, number[]>();
  const tops: number[] = [];
  for (const [at, row] of rows.entries()) {
    const parent = row?.parent ?? null;
    if (parent === null || !known.has(parent) || parent === row?.row) tops.push(at);
    else children.set(parent, [...(children.get(parent) ?? []), at]);
  }
  const places: Place[] = [];
  const add = (at: number, depth: number): void => {
    places.push({ at, depth });
    const row = rows[at]?.row;
    if (row !== undefined) for (const child of children.get(row) ?? []) add(child, depth + 1);
  };
  for (const top of tops) add(top, 0);
  return places;
}
