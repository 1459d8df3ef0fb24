import { kindOfSpan } from '../../../look/report/names/interruption-kinds.js';
import { nameWithDetail } from '../../../look/report/names/request-name.js';
import { PAUSE_TEXTS } from '../../../look/report/print/report-texts.js';
import type { SourceAnswer } from '../../../look/wire/answers.js';
import type {
  TraceAnswer,
  WaterfallPause,
  WaterfallRow,
} from '../../../look/wire/panel-answers.js';
import { rowFields } from '../../data/selected-row.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { cssColour } from '../../theme/palette.js';
import { countText, durationText } from '../../../look/report/measures/units.js';
import { Link } from '../../shell/links.js';
import { useAnswer } from '../../data/use-answer.js';

/** Pixels that a level of the tree is indented by, up to so many levels. */
const INDENT = 12;
const MOST_INDENTED = 20;

/** The trace of the selected span across processes and hosts, with its critical path. */
export function TraceView() {
  const { view } = useApp();
  const row = useStore(view, (state) => state.row);
  if (row === undefined) return <p>Click a box of the time line to see its trace.</p>;
  return <Waterfall row={row} />;
}

function Waterfall({ row }: { row: number }) {
  const app = useApp();
  const { answer, words } = useAnswer<TraceAnswer>(String(row), (signal) =>
    app.server.json<TraceAnswer>('/data/trace', rowFields(row, app.view.value.key), signal),
  );
  if (words !== '') return <p role="alert">{words}</p>;
  if (answer === undefined) return <p>Reading …</p>;
  const { rows, traceId, omitted, clocks } = answer;
  const from = rows.reduce((least, { start }) => Math.min(least, start), Infinity);
  const to = rows.reduce((most, { start, duration }) => Math.max(most, start + duration), 0);
  const missing = rows.filter(({ missingParent }) => missingParent).length;
  const critical = rows.filter(({ waited }) => waited > 0).length;
  const severalHosts = new Set(rows.map(({ host }) => host)).size > 1;
  const unfinished = rows.filter((each) => each.unfinished).length;
  return (
    <>
      <p>
        {traceId === null ? 'This row belongs to no trace.' : <code>{traceId}</code>}{' '}
        {countText(rows.length + omitted)} spans in {durationText(to - from)}.
        {unfinished > 0 && ` ${countText(unfinished)} were open when their process ended.`}
        {missing > 0 && ` The parents of ${countText(missing)} are not in this recording.`}
        {omitted > 0 && ` ${countText(omitted)} are not shown.`}
        {critical > 0 &&
          ' A line below a bar marks the critical path; “waited for” is how much of it the span itself took.'}
        {clockWords(rows, app.recording.answer?.sources ?? [])}
        {clocks !== null &&
          ` A span of ${clocks.child} seems to begin ${durationText(clocks.early)} before its parent of ${clocks.parent}: their clocks differ at least by that.`}
      </p>
      <table class="waterfall">
        <caption class="spoken">Spans of the trace in the order of their parents</caption>
        <thead>
          <tr>
            <th scope="col">span</th>
            <th scope="col">service</th>
            <th scope="col" class="number">
              duration
            </th>
            <th
              scope="col"
              class="number"
              title="Time of the critical path that the span itself took"
            >
              waited for
            </th>
            <th scope="col" class="bars">
              <span class="spoken">when</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((each) => (
            <SpanLine
              key={each.row}
              span={each}
              from={from}
              length={Math.max(1, to - from)}
              selected={each.row === row}
              severalHosts={severalHosts}
            />
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Which times were moved, because a call shows how far two clocks are apart. */
function clockWords(rows: readonly WaterfallRow[], sources: readonly SourceAnswer[]): string {
  const numbers = new Set(rows.map(({ source }) => source));
  return sources
    .filter(({ number, clockOffset }) => numbers.has(number) && clockOffset !== '0')
    .map(({ service, path, host, clockOffset, clockError = 0 }) => {
      const machine = host === undefined ? '' : ` on ${host}`;
      const moved = `The times of ${service ?? path}${machine} are moved by`;
      return ` ${moved} ${durationText(Number(clockOffset))}, right within ${durationText(clockError)}.`;
    })
    .join('');
}

interface SpanLineProps {
  span: WaterfallRow;
  from: number;
  length: number;
  selected: boolean;
  severalHosts: boolean;
}

function SpanLine({ span, from, length, selected, severalHosts }: SpanLineProps) {
  const app = useApp();
  const { row, depth, name, service, host, start, duration, waited, status, pauses } = span;
  const kind = kindOfSpan(name);
  const colour = kind === undefined ? app.recording.nameColours.of(name) : cssColour(kind);
  const percent = (value: number): string => `${((value / length) * 100).toFixed(3)}%`;
  return (
    <tr class={selected ? 'selected' : ''} aria-current={selected ? 'true' : undefined}>
      <th scope="row" style={{ paddingLeft: `${Math.min(depth, MOST_INDENTED) * INDENT}px` }}>
        <Link go={() => void app.showRow(row, start)}>{nameWithDetail(span)}</Link>
        {status === 'error' && <span class="bad"> error</span>}
        {span.unfinished && ' unfinished'}
        {pauses.length > 0 && <span class="quiet"> after {pausesText(pauses)}</span>}
        {span.missingParent && <span class="quiet"> parent missing</span>}
      </th>
      <td>
        {service ?? '–'}
        {severalHosts && host !== null && ` on ${host}`}
      </td>
      <td class="number">{durationText(duration)}</td>
      <td class="number">{waited > 0 ? durationText(waited) : ''}</td>
      <td class="bars">
        {pauses.map((pause) => (
          <div
            key={pause.start}
            class="bar pause"
            title={pausesText([pause])}
            style={{
              left: percent(pause.start - from),
              width: `max(2px, ${percent(pause.end - pause.start)})`,
              backgroundColor: cssColour(pause.kind === 'collection' ? 'collection' : 'stall'),
            }}
          />
        ))}
        <div
          class={waited > 0 ? 'bar critical' : 'bar'}
          style={{
            left: percent(start - from),
            width: `max(2px, ${percent(duration)})`,
            backgroundColor: colour,
          }}
        />
      </td>
    </tr>
  );
}

/** Words for what a span has waited for, by what it was. */
function pausesText(pauses: readonly WaterfallPause[]): string {
  const times = new Map<string, number>();
  for (const { kind, name = '', start, end } of pauses) {
    const what = kind === 'blocked' ? name : `of ${PAUSE_TEXTS[kind]}`;
    times.set(what, (times.get(what) ?? 0) + end - start);
  }
  return [...times].map(([what, time]) => `${durationText(time)} ${what}`).join(' and ');
}
