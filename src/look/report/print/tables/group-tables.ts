import type { Group, Report } from '../../shape/report-shape.js';
import { groupTitle, ofService } from '../../names/request-name.js';
import { HTTP } from '../../../../spans/read/system-of.js';
import { digits, durationText, roughly } from '../../measures/units.js';
import { waitShares, waitingGroups } from '../report-texts.js';
import { fieldColumn, kindColumns, onlyService, serviceColumn, tableOf } from './report-table.js';
import type { ReportColumn, ReportTable } from './report-table.js';

const LIMIT = 50;
const WAITING_LIMIT = 20;

/** Titles of the tables of groups. */
const GROUP_TITLES = { route: 'Routes', name: 'Spans', service: 'Services' } as const;

/** `Routes`, `By db.query.text`. */
function groupsTitle({ by, attributes }: GroupedBy): string {
  return by === 'attribute' ? `By ${attributes.join(', ')}` : GROUP_TITLES[by];
}

type GroupedBy = Pick<Report, 'by' | 'attributes'>;

function nameColumn({ by, attributes }: GroupedBy): ReportColumn<Group> {
  const title = by === 'attribute' ? attributes.join(', ') : by;
  // Values, such as statements, differ at their ends.
  const least = by === 'attribute' ? 48 : 15;
  return { title, unit: 'text', value: (group) => groupTitle(group, by), spare: 0, least };
}

/** Of spans that were not kept only counts by duration are known. */
function isCounted({ notKept }: Group): boolean {
  return notKept > 0;
}

/** Latency by route, name, service or values of attributes. */
export function groupTable(report: GroupedBy & Pick<Report, 'groups'>): ReportTable<Group> {
  const columns = report.by === 'route' ? routeColumns(report) : spanColumns(report);
  const what = report.by === 'route' ? 'routes' : 'groups';
  const hasTitle = report.by === 'route' || report.by === 'name';
  return tableOf(
    `${groupsTitle(report)}${hasTitle ? ofService(onlyService(report.groups)) : ''}`,
    columns,
    report.groups,
    LIMIT,
    what,
  );
}

function spanColumns(report: GroupedBy & Pick<Report, 'groups'>): ReportColumn<Group>[] {
  const { groups, by } = report;
  return [
    nameColumn(report),
    // Client and server of one call have the same values.
    ...kindColumns(groups, by === 'attribute' ? 0 : undefined),
    ...(by === 'service' ? [] : [serviceColumn<Group>(onlyService(groups) === null ? 2 : 7)]),
    fieldColumn('count', 'count', 0),
    fieldColumn('rate', 'rate', 5, { explanation: 'Per second in which its service was recorded' }),
    fieldColumn('errors', 'count', 2, { isBad: ({ errors }) => errors > 0 }),
    fieldColumn('p50', 'duration', 1, { isEstimate: isCounted }),
    fieldColumn('p95', 'duration', 0, { isEstimate: isCounted }),
    fieldColumn('p99', 'duration', 3, { isEstimate: isCounted }),
    fieldColumn('max', 'duration', 4, { isEstimate: isCounted }),
    fieldColumn('total', 'duration', by === 'attribute' ? 0 : 6),
    fieldColumn('share', 'share', 3, { explanation: 'Of the time of all groups' }),
  ];
}

/** Routes as somebody on call reads them. */
function routeColumns(report: GroupedBy & Pick<Report, 'groups'>): ReportColumn<Group>[] {
  const { groups } = report;
  const blockedOnes = groups.filter(({ blocked }) => blocked !== null && blocked.share > 0);
  const watched = new Set(blockedOnes.map(({ service }) => service));
  const areRefused = groups.some(({ refused }) => (refused ?? 0) > 0);
  const areHttp = groups.every(({ system }) => system === HTTP || system === null);
  return [
    nameColumn(report),
    // On 40 columns it has no room; on 100 no service is lost. The title has the only one.
    serviceColumn<Group>(onlyService(groups) === null ? 0.5 : 7),
    fieldColumn('rate', 'rate', 3, { title: 'rate' }),
    fieldColumn('count', 'count', 2.6),
    {
      title: 'calls/req',
      explanation: 'Calls of services, databases and queues that a request makes',
      unit: 'number',
      value: ({ calls, sampled, recorded }) =>
        calls === null ? null : digits(sampled < recorded ? roughly(calls) : calls),
      spare: 2,
    },
    fieldColumn('refused', 'share', areRefused ? 2 : 2.7, {
      title: '4xx',
      explanation: 'Share of the requests; –: it is no request of HTTP',
      unknown: '–',
    }),
    fieldColumn('errors', 'count', 0, {
      title: areHttp ? '5xx' : 'errors',
      isBad: ({ errors }) => errors > 0,
    }),
    fieldColumn('p50', 'duration', 1, { isEstimate: isCounted }),
    fieldColumn('p95', 'duration', 0, { isEstimate: isCounted }),
    fieldColumn('p99', 'duration', 4, { isEstimate: isCounted }),
    fieldColumn('max', 'duration', 7, { isEstimate: isCounted }),
    {
      title: 'blocked',
      explanation: 'The part of its time in which others blocked an event loop',
      unit: 'share',
      value: ({ blocked, service }) => {
        if (blocked === null || !watched.has(service)) return null;
        return blocked.isEstimate ? roughly(blocked.share) : blocked.share;
      },
      isEstimate: ({ blocked }) => blocked?.isEstimate === true,
      unknown: '–',
      spare: 1,
    },
    fieldColumn('total', 'duration', 8),
    // By it they are sorted.
    fieldColumn('share', 'share', 2.5, { explanation: 'Of the time of all groups' }),
  ];
}

/** Title of what the spans of groups waited for. */
function waitTitle({ by }: GroupedBy): string {
  return by === 'attribute'
    ? 'What these waited for'
    : `What ${GROUP_TITLES[by].toLowerCase()} waited for`;
}

/** The table of what groups waited for, without groups that waited for nothing else. */
export function groupWaitTable(report: GroupedBy & Pick<Report, 'groups'>): ReportTable<Group> {
  const { groups, by } = report;
  const columns: ReportColumn<Group>[] = [
    nameColumn(report),
    ...(by === 'service' ? [] : [serviceColumn<Group>(1)]),
    fieldColumn('sampled', 'count', 2, {
      title: 'looked at',
      explanation:
        'How many of its spans were looked at: those that met a blocked loop, and others evenly by time and number',
    }),
    {
      title: 'waited for',
      explanation:
        'What the time of a span went to, in its own process and in those that it called: the critical path',
      unit: 'text',
      value: waitShares,
      spare: 0,
      least: 24,
      isProse: true,
    },
  ];
  return tableOf(waitTitle(report), columns, waitingGroups(groups), WAITING_LIMIT, 'groups');
}

/** A service that was recorded for less than this part of the time has its own time for rates. */
const WHOLE = 0.9;

/** Whose rates are not of the whole time; undefined: nobody's. */
export function rateNote({ groups, length }: Report): string | undefined {
  const parts = new Map<string, number>();
  for (const { service, count, rate } of groups) {
    const recorded = (count / rate) * 1e9;
    if (recorded < WHOLE * length) parts.set(service ?? 'no service', recorded);
  }
  if (parts.size === 0) return undefined;
  const texts = [...parts].map(([service, recorded]) => `${service} ${durationText(recorded)}`);
  return `Rates are of the time in which the service was recorded: ${texts.join(', ')} of ${durationText(length)}`;
}
