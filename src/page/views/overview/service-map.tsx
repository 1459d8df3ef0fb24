import { countText, roughly } from '../../../look/report/measures/units.js';
import type { Report } from '../../../look/report/shape/report-shape.js';
import { type ReportTable, fieldColumn } from '../../../look/report/print/tables/report-table.js';
import { FiguresTable } from '../../charts/figures-table.js';

/** Calls from a service to another one, a database, or a queue. */
interface Edge {
  from: string;
  to: string;
  isService: boolean;
  calls: number;
  isEstimate: boolean;
  total: number;
}

const WIDTH = 190;
const GAP = 110;
const HEIGHT = 34;
const ROW = 52;

/** Who calls whom: columns by depth, and a table of the same. */
export function ServiceMap({ report }: { report: Report }) {
  const edges = edgesOf(report);
  if (edges.length === 0) return null;
  const columns = columnsOf(edges, report);
  const positions = new Map<string, { x: number; y: number }>();
  columns.forEach((names, column) => {
    names.forEach((name, row) => {
      positions.set(name, { x: column * (WIDTH + GAP), y: row * ROW });
    });
  });
  const width = columns.length * (WIDTH + GAP) - GAP;
  const height = Math.max(...columns.map((names) => names.length)) * ROW;
  const services = new Set(report.groups.map(({ service }) => service ?? '–'));
  return (
    <section aria-label="Map of services" class="map">
      <svg
        viewBox={`-1 -1 ${width + 2} ${height}`}
        style={{ maxWidth: `${width / 13}rem` }}
        aria-hidden="true"
      >
        {edges.map((edge) => {
          const { from, to } = edge;
          const a = positions.get(from)!;
          const b = positions.get(to)!;
          const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
          const path =
            x2 > x1
              ? `M${x1},${y1} C${x1 + 50},${y1} ${x2 - 50},${y2} ${x2},${y2}`
              : `M${x1},${y1} C${x1 + 40},${y1 - 40} ${b.x + WIDTH + 40},${y2 + 40} ${b.x + WIDTH},${y2}`;
          return (
            <g key={`${from} ${to}`}>
              <path class="edge" d={path} />
              {x2 > x1 ? (
                // Where the line does not come from.
                <text class="calls" x={x2 - 6} y={y1 < y2 ? y2 + 14 : y2 - 6} text-anchor="end">
                  {callsText(edge)}
                </text>
              ) : (
                <text class="calls" x={b.x + WIDTH} y={b.y + HEIGHT + 13} text-anchor="end">
                  {from === to ? 'itself: ' : `from ${from}: `}
                  {callsText(edge)}
                </text>
              )}
            </g>
          );
        })}
        {[...positions].map(([name, { x, y }]) => (
          <g key={name}>
            <rect
              class={services.has(name) ? 'node' : 'node outside'}
              {...{ x, y, width: WIDTH, height: HEIGHT, rx: 4 }}
            />
            <text x={x + 8} y={y + HEIGHT / 2 + 4}>
              {name.length > 26 ? `${name.slice(0, 25)}…` : name}
            </text>
          </g>
        ))}
      </svg>
      <FiguresTable table={edgeTable(edges)} />
    </section>
  );
}

/** `about 1,100`: as the callees are estimated. */
function callsText({ calls, isEstimate }: Edge): string {
  return isEstimate ? `about ${countText(roughly(calls))}` : countText(calls);
}

function edgesOf({ callees }: Report): Edge[] {
  const edges = new Map<string, Edge>();
  for (const { service, system, target, name, reached, count, isEstimate, total } of callees) {
    const from = service ?? '–';
    const to = reached ?? (target === null ? (system ?? name) : target);
    const key = `${from}\n${to}`;
    const isService = reached !== null;
    const edge = edges.get(key) ?? { from, to, isService, calls: 0, isEstimate: false, total: 0 };
    edge.isEstimate ||= isEstimate;
    edge.calls += count;
    edge.total += total;
    edges.set(key, edge);
  }
  return [...edges.values()].sort((a, b) => b.total - a.total);
}

/** Names by depth: those that nobody calls first. A circle ends where it began. */
function columnsOf(edges: readonly Edge[], { groups }: Report): string[][] {
  const called = new Set(edges.filter(({ from, to }) => from !== to).map(({ to }) => to));
  const names = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];
  const services = [...new Set(groups.map(({ service }) => service ?? '–'))];
  const roots = names.filter((name) => !called.has(name));
  const depths = new Map<string, number>();
  let next = roots.length > 0 ? roots : services.filter((name) => names.includes(name)).slice(0, 1);
  for (let depth = 0; next.length > 0 && depth < names.length; depth++) {
    for (const name of next) depths.set(name, depth);
    const targets = edges.filter(({ from }) => next.includes(from)).map(({ to }) => to);
    next = [...new Set(targets)].filter((name) => !depths.has(name));
  }
  const columns: string[][] = [];
  for (const name of names) (columns[depths.get(name) ?? 0] ??= []).push(name);
  return columns;
}

function edgeTable(edges: readonly Edge[]): ReportTable<Edge> {
  return {
    title: edges.some(({ isEstimate }) => isEstimate)
      ? 'Who calls whom, estimated from a part of the requests'
      : 'Who calls whom',
    columns: [
      { title: 'from', unit: 'text', value: ({ from }) => from, spare: 0, least: 16 },
      { title: 'to', unit: 'text', value: ({ to }) => to, spare: 0 },
      { title: 'calls', unit: 'number', value: callsText, spare: 0 },
      fieldColumn('total', 'duration', 0, {
        value: ({ isEstimate, total }) => (isEstimate ? roughly(total) : total),
      }),
    ],
    rows: edges,
    more: 0,
    what: 'calls',
  };
}
