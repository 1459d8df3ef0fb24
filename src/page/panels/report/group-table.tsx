import { useState } from 'preact/hooks';
import type { Group, GroupBy } from '../../../look/report/report-shape.js';
import { groupTitle } from '../../../look/report/request-name.js';
import { waitingGroups } from '../../../look/report/wait-texts.js';
import { searchFor, searchText } from '../../data/choice.js';
import { useApp } from '../../state/app.js';
import { countText, durationText, shareText } from '../../time-line/duration-text.js';
import { ErrorsLink } from './errors-link.js';
import { waitsText } from './waits-text.js';

const MOST_GROUPS = 100;
/** Where there is little room, these are left out, and the service is below the name. */
const WIDE_ONLY: ReadonlySet<string> = new Set(['rate', 'p99', 'share']);
type Figure = 'count' | 'rate' | 'errors' | 'p50' | 'p95' | 'p99' | 'max' | 'share';
const FIGURES: readonly (readonly [Figure, string, (group: Group) => string])[] = [
  ['count', 'count', ({ count }) => countText(count)],
  ['rate', 'per s', ({ rate }) => rate.toPrecision(3)],
  ['errors', 'errors', ({ errors }) => countText(errors)],
  ['p50', 'p50', ({ p50 }) => durationText(p50)],
  ['p95', 'p95', ({ p95 }) => durationText(p95)],
  ['p99', 'p99', ({ p99 }) => durationText(p99)],
  ['max', 'max', ({ max }) => durationText(max)],
  ['share', 'share of time', ({ share }) => shareText(share)],
];

const TITLES: Readonly<Partial<Record<Figure, string>>> = {
  rate: 'Per second in which its service was recorded',
};

/** Latency by route, name or service. A click on a title sorts. */
export function GroupTable({ groups, by }: { groups: readonly Group[]; by: GroupBy }) {
  const [sort, sortBy] = useState<Figure>('share');
  const shown = groups.toSorted((a, b) => b[sort] - a[sort]).slice(0, MOST_GROUPS);
  const waiting = waitingGroups(groups);
  const hasWaits = waiting.length > 0;
  const isEstimate = waiting.some(({ sampled, count }) => sampled < count);
  const title = FIGURES.find(([figure]) => figure === sort)?.[1];
  return (
    <div>
      <table class="figures">
        <caption>
          By {by}, the most first: {title}
        </caption>
        <thead>
          <tr>
            <th scope="col">{by}</th>
            <th scope="col" class="wide-only">
              service
            </th>
            {FIGURES.map(([figure, text]) => (
              <th
                key={figure}
                scope="col"
                class={classOf(figure)}
                aria-sort={figure === sort ? 'descending' : 'none'}
              >
                <button
                  type="button"
                  class="link"
                  title={TITLES[figure]}
                  onClick={() => {
                    sortBy(figure);
                  }}
                >
                  {text}
                  {figure === sort ? ' ↓' : ''}
                </button>
              </th>
            ))}
            {hasWaits && (
              <th
                scope="col"
                title="What the time of a span went to, in its own process: the critical path"
              >
                {isEstimate ? 'waited for (estimate)' : 'waited for'}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {shown.map((group) => (
            <Line
              key={`${group.service ?? ''} ${group.name}`}
              group={group}
              by={by}
              hasWaits={hasWaits}
            />
          ))}
        </tbody>
      </table>
      {isEstimate && (
        <p class="quiet">
          “waited for” is an estimate: from at most{' '}
          {countText(Math.max(...waiting.map(({ sampled }) => sampled)))} spans of each {by}, taken
          evenly from their time.
        </p>
      )}
      {groups.length > MOST_GROUPS && <p>{countText(groups.length - MOST_GROUPS)} more.</p>}
    </div>
  );
}

function classOf(figure: Figure): string {
  return WIDE_ONLY.has(figure) ? 'number wide-only' : 'number';
}

interface LineProps {
  group: Group;
  by: GroupBy;
  hasWaits: boolean;
}

function Line({ group, by, hasWaits }: LineProps) {
  const { view } = useApp();
  const { service, errors, where } = group;
  const title = groupTitle(group, by);
  return (
    <tr>
      <th scope="row">
        {where === null ? (
          title
        ) : (
          <button
            type="button"
            class="link"
            title="Show only these, and what they waited for"
            onClick={() => {
              searchFor(view, searchText(where));
            }}
          >
            {title}
          </button>
        )}
        {service !== null && <span class="narrow-only quiet"> {service}</span>}
      </th>
      <td class="wide-only">{service ?? '–'}</td>
      {FIGURES.map(([figure, , text]) => (
        <td key={figure} class={classOf(figure)}>
          {figure === 'errors' && errors > 0 && where !== null ? (
            <ErrorsLink where={[...where, 'status=error']} text={text(group)} />
          ) : (
            text(group)
          )}
        </td>
      ))}
      {hasWaits && (
        <td
          class="whole waits"
          title={`In ${countText(group.sampled)} of ${countText(group.count)} spans`}
        >
          {waitsText(group)}
        </td>
      )}
    </tr>
  );
}
