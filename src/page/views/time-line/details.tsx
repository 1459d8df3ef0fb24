import { Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { holderText } from '../../../look/report/print/report-texts.js';
import { countsText, cpuText } from '../../../look/report/print/interruption-texts.js';
import { nameWithDetail } from '../../../look/report/names/request-name.js';
import { codeOfName, functionText } from '../../../look/report/names/code-text.js';
import type { RecordingAnswer, RowAnswer } from '../../../look/wire/answers.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { countText, durationText } from '../../../look/report/measures/units.js';
import { sampleText } from '../../time-line/box-tip.js';
import type { Tip } from '../../time-line/box-tip.js';
import { fileName, tickText, utcText } from '../../time-line/axis-text.js';
import { threadText } from '../../time-line/lines.js';
import { CopyButton } from '../../shell/copy-button.js';
import { Link } from '../../shell/links.js';

/** Everything that is known of the selected span. */
export function Details() {
  const app = useApp();
  const row = useStore(app.view, (state) => state.row);
  const { answer, words } = useStore(app.selected.store, (selected) => selected);
  const spoken =
    answer &&
    `${answer.name}, ${durationText(answer.duration)}${answer.status === 'unset' ? '' : `, ${answer.status}`}`;
  useEffect(() => {
    if (spoken !== undefined) app.announce(spoken);
  }, [app, answer?.key, spoken]);
  const { selected: sample } = useStore(app.sample, (value) => value);
  if (row === undefined && sample !== undefined) return <Sample {...sample} />;
  if (row === undefined) return <p>Click a span to see what is known of it.</p>;
  return (
    <>
      {words !== '' && <p role="alert">{words}</p>}
      {answer !== undefined ? <Answer {...answer} /> : words === '' && <p>Reading …</p>}
    </>
  );
}

function Answer(answer: RowAnswer) {
  const app = useApp();
  const { start, duration, status, unfinished, parent, traceId, spanId } = answer;
  const { details, isAlone, openMeanwhile, ran, delayed, heldBy, track, key } = answer;
  const isTrace = useStore(app.view, ({ view }) => view === 'trace');
  const texts = Object.entries(details)
    // They are among the other fields.
    .filter(([field]) => traceId === undefined || !ABOVE.includes(field))
    .filter(([field]) => heldBy === null || field !== 'links')
    .map(([field, value]) => ({ field, text: textOf(field, value, duration) }));
  const fieldsOf = (areStacks: boolean) =>
    texts
      .filter(({ text }) => text.includes('\n') === areStacks)
      .map(({ field, text }) => <Field key={field} name={field} value={text} />);
  return (
    <>
      <h2>{nameWithDetail(answer)}</h2>
      <p>
        {isTrace && (
          <button type="button" onClick={() => void app.showRow(answer.row, start, true)}>
            The same moment on the time line
          </button>
        )}
        {!isTrace && traceId !== undefined && !isAlone && (
          <button
            type="button"
            onClick={() => {
              app.navigate('trace', { id: traceId });
            }}
          >
            Show its trace
          </button>
        )}
      </p>
      <table>
        <tbody>
          {/* What failed or blocked is what one looks for. */}
          {fieldsOf(true)}
          <Field name="start" value={startText(app.recording.answer, start)} />
          <Field
            name="duration"
            value={unfinished ? `${durationText(duration)}, unfinished` : durationText(duration)}
          />
          <TrackLine track={track} />
          {ran !== '' && <Field name="ran" value={ran} />}
          {delayed.length > 0 && <Field name="delayed" value={countsText(delayed)} />}
          {heldBy !== null && (
            <tr>
              <th scope="row">held by</th>
              <td>
                <Link
                  title="Show the trace that had the connection"
                  go={() => {
                    app.navigate('trace', { id: heldBy.traceId });
                  }}
                >
                  {holderText(heldBy)}
                </Link>
              </td>
            </tr>
          )}
          {openMeanwhile.count > 0 && <OpenMeanwhile key={key} {...openMeanwhile} />}
          {traceId !== undefined && status !== 'unset' && <Field name="status" value={status} />}
          {traceId !== undefined && <Field name="trace" value={traceId} />}
          {spanId !== undefined && <Field name="span" value={spanId} />}
          {traceId !== undefined && spanId !== undefined && (
            <Field name="in logs" value={`trace_id=${traceId} span_id=${spanId}`} copies />
          )}
          {traceId !== undefined && (
            <tr>
              <th scope="row">parent</th>
              <td>
                {typeof parent === 'number' ? (
                  <button
                    type="button"
                    onClick={() => {
                      if (isTrace) app.view.set({ row: parent, key: undefined });
                      else void app.showRow(parent);
                    }}
                  >
                    show the parent
                  </button>
                ) : parent === 'root' ? (
                  'none: it is a root'
                ) : (
                  'not in this recording'
                )}
              </td>
            </tr>
          )}
          {fieldsOf(false)}
        </tbody>
      </table>
    </>
  );
}

/** A call that a thread ran, by its samples. */
function Sample(sample: Tip) {
  const app = useApp();
  const { name, start, length, samples, row, within, withinStart, track, count } = sample;
  // A path may come later.
  useStore(app.rowNames.store, ({ answers }) => answers);
  const code = codeOfName(app.recording.name(name));
  const text = sampleText(sample, app);
  useEffect(() => {
    app.announce(text);
  }, [app, text]);
  if (count > 1) return <p>{text}. Zoom in to see each.</p>;
  return (
    <>
      <h2>{code.function ?? functionText(code)}</h2>
      <table>
        <tbody>
          {code.line !== '' && <Field name="begins at" value={code.line} />}
          <Field name="samples" value={countText(samples)} />
          <Field name="start" value={startText(app.recording.answer, start)} />
          <Field name="duration" value={durationText(length)} />
          <TrackLine track={track} />
          <tr>
            <th scope="row">span</th>
            <td>
              {row === -1 ? (
                'none, or more than one'
              ) : (
                <Link title="Show this span" go={() => void app.showRow(row, withinStart)}>
                  {app.rowNames.nameOf(within, row, withinStart)}
                </Link>
              )}
            </td>
          </tr>
        </tbody>
      </table>
    </>
  );
}

const ABOVE = ['trace', 'span', 'parent', 'status'];

/** As the time line counts, and as logs do. */
function startText(recording: RecordingAnswer | undefined, start: number): string {
  const since = `${tickText(start, 1000)} after the start of the recording`;
  const utc = recording && utcText(recording, start);
  return utc === undefined ? since : `${since}, ${utc}`;
}

function Field({ name, value, copies }: { name: string; value: string; copies?: boolean }) {
  return (
    <tr>
      <th scope="row">
        {name.split(/(?<=\.)/).map((part, at) => (
          <Fragment key={at}>
            {at > 0 && <wbr />}
            {part}
          </Fragment>
        ))}
      </th>
      <td class="any-break">
        {value.includes('\n') ? <pre tabIndex={0}>{value}</pre> : value}{' '}
        {copies === true && <CopyButton text={value} what={name} />}
      </td>
    </tr>
  );
}

/** Who recorded it: service, process and thread. */
function TrackLine({ track: number }: { track: number }) {
  const { recording } = useApp();
  const { tracks = [], sources = [] } = useStore(recording.store, ({ answer }) => answer) ?? {};
  const track = tracks[number];
  const source = track && sources[track.source];
  if (track === undefined || source === undefined) return null;
  const { service, pid, host, path } = source;
  const process = [
    ...(pid === undefined ? [] : [String(pid)]),
    ...(host === undefined ? [] : [`on ${host}`]),
    `in ${fileName(path)}`,
  ];
  return (
    <>
      {service !== undefined && <Field name="service" value={service} />}
      <Field name="process" value={process.join(' ')} />
      <Field name="thread" value={threadText(track)} />
    </>
  );
}

/** Spans that are listed before one asks for all. */
const FEW = 3;

/** Spans during which a loop did not turn: what blocked it, or what it delayed. */
function OpenMeanwhile({ count, rows }: RowAnswer['openMeanwhile']) {
  const app = useApp();
  const [showsAll, showAll] = useState(false);
  const shown = showsAll ? rows : rows.slice(0, FEW);
  return (
    <tr>
      <th scope="row">open meanwhile</th>
      <td>
        {shown.map(({ row, name, start, duration }) => (
          <div key={row}>
            <Link title="Show this span" go={() => void app.showRow(row, start)}>
              {name}
            </Link>
            , {durationText(duration)}
          </div>
        ))}
        {count > shown.length && !showsAll && (
          <button
            type="button"
            onClick={() => {
              showAll(true);
            }}
          >
            {rows.length < count
              ? `Show ${countText(rows.length)} of ${countText(count)}`
              : `Show all ${countText(count)}`}
          </button>
        )}
        {showsAll && rows.length < count && ` and ${countText(count - rows.length)} more`}
      </td>
    </tr>
  );
}

/** As docs/event-loop.md explains them. */
const CAUSES: Readonly<Record<string, string>> = {
  code: "the program's own code ran: a loop, a regular expression, JSON, synchronous cryptography",
  wait: 'the thread slept in a call: execSync, Atomics.wait, a synchronous read of a slow disk',
  held: 'the thread wanted to run and got no CPU: the machine is overloaded, or a quota throttles it',
  stop: 'the process did not run: SIGSTOP, a debugger such as gdb, or a paused virtual machine',
  debugger: 'the thread slept while its inspector was open, probably at a breakpoint',
};

/** An event of a span, and its stack. */
function eventText(event: Readonly<Record<string, unknown>>): string {
  const { name, 'after (ns)': after, 'exception.stacktrace': stack, ...others } = event;
  const hasStack = typeof stack === 'string';
  const fields = Object.entries(others)
    // The first line of a stack has them.
    .filter(([field]) => !hasStack || !['exception.type', 'exception.message'].includes(field))
    .map(([field, value]) => `${field}: ${String(value)}`);
  const when = typeof after === 'number' ? ` after ${durationText(after)}` : '';
  return [`${String(name)}${when}`, ...(hasStack ? [stack] : []), ...fields].join('\n');
}

function textOf(field: string, value: unknown, duration: number): string {
  if (field === 'eventloop.cpu_ms' && typeof value === 'number') {
    return `${value}: ${cpuText(value * 1e6, duration)}`;
  }
  if (field === 'events' && Array.isArray(value)) return value.map(eventText).join('\n');
  if (typeof value !== 'string') return JSON.stringify(value);
  const words = field === 'eventloop.cause' ? CAUSES[value] : undefined;
  return words === undefined ? value : `${value}: ${words}`;
}
