import { useState } from 'preact/hooks';
import type { Group, Report } from '../../../look/report/shape/report-shape.js';
import {
  groupTable,
  groupWaitTable,
  rateNote,
} from '../../../look/report/print/tables/group-tables.js';
import { countText } from '../../../look/report/measures/units.js';
import { waitingGroups } from '../../../look/report/print/report-texts.js';
import { FiguresTable } from '../../charts/figures-table.js';
import { ErrorsLink, RouteLink } from '../../shell/view-link.js';

/** Latency by route, name or service, and what it waited for. A click on a title sorts. */
export function GroupFigures({ report: given }: { report: Report }) {
  const { groups, by, attributes } = given;
  const [sort, sortBy] = useState('share');
  if (groups.length === 0) return null;
  const table = groupTable(given);
  const sorted = table.columns.find(({ title }) => title === sort);
  const figureOf = (group: Group): number => Number(sorted?.value(group) ?? 0);
  const report = { by, attributes, groups: groups.toSorted((a, b) => figureOf(b) - figureOf(a)) };
  const { rows, more } = groupTable(report);
  const waiting = waitingGroups(groups);
  const isEstimate = waiting.some(({ sampled, recorded }) => sampled < recorded);
  const waits = waiting.length > 0 ? groupWaitTable(report).columns.slice(-1) : [];
  const rates = rateNote(given);
  return (
    <>
      <FiguresTable
        table={{ ...table, rows, more, columns: [...table.columns, ...waits] }}
        sort={{ by: sort, choose: sortBy }}
        cell={({ where, errors, name, service }, { title }, text) => {
          if (where === null) return undefined;
          if ((title === 'errors' || title === '5xx') && errors > 0) {
            return <ErrorsLink where={[...where, 'status=error']}>{text}</ErrorsLink>;
          }
          if (title !== table.columns[0]!.title) return undefined;
          return (
            <RouteLink name={name} service={service} where={where}>
              {text}
            </RouteLink>
          );
        }}
      />
      {rates !== undefined && <p class="quiet">{rates}.</p>}
      {isEstimate && (
        <p class="quiet">
          “waited for” is an estimate: from at most{' '}
          {countText(Math.max(...waiting.map(({ sampled }) => sampled)))} spans of each {by}, taken
          evenly from their time and number.
        </p>
      )}
    </>
  );
}
