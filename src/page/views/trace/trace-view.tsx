import { useRef } from 'preact/hooks';
import { failedText } from '../../../look/report/print/cause-texts.js';
import { interruptedText } from '../../../look/report/print/interruption-texts.js';
import { waitedText } from '../../../look/report/print/report-texts.js';
import { nameWithPath } from '../../../look/report/names/request-name.js';
import { countText, durationText, timeText } from '../../../look/report/measures/units.js';
import type { SourceAnswer } from '../../../look/wire/answers.js';
import {
  OVERVIEW_QUESTION,
  type ReportAnswer,
  type TraceAnswer,
} from '../../../look/wire/view-answers.js';
import { type Choice, choiceFields, scopeOf } from '../../data/choice.js';
import { SlowTraces } from '../overview/report-figures.js';
import { serviceOf } from '../../data/recording-data.js';
import { rowFields } from '../../data/selected-row.js';
import { useAnswer } from '../../data/use-answer.js';
import { CopyButton } from '../../shell/copy-button.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { Details } from '../time-line/details.js';
import { Waterfall } from './waterfall.js';

/** One trace across processes and hosts: what the request waited for. */
export function TraceView() {
  const { view } = useApp();
  const id = useStore(view, (state) => state.id);
  const row = useStore(view, (state) => state.row);
  const asked = useRef({ question: '', traceId: '' });
  if (id === undefined && row === undefined) return <NoTrace />;
  // The id of a trace that was found by a row is the same question.
  const isKnown = id !== undefined && id === asked.current.traceId;
  const question = isKnown ? asked.current.question : (id ?? `row ${row}`);
  return (
    <Answered
      key={question}
      question={question}
      onAnswer={(traceId) => {
        asked.current = { question, traceId };
        if (id === undefined) view.set({ id: traceId });
      }}
    />
  );
}

/** What to do without a trace. */
function NoTrace() {
  const { server, view } = useApp();
  const choice = useStore(view, (state) => JSON.stringify(scopeOf(state)));
  const { answer, words } = useAnswer<ReportAnswer>(choice, (signal) => {
    const scope = choiceFields(JSON.parse(choice) as Choice);
    return server.json<ReportAnswer>('/data/report', { ...scope, ...OVERVIEW_QUESTION }, signal);
  });
  return (
    <div class="empty">
      <h2>No trace is chosen</h2>
      <p>Search for the id that a log has, or its first digits; or choose one of these.</p>
      {words !== '' && <p role="alert">{words}</p>}
      {answer === undefined ? (
        words === '' && <p>Reading …</p>
      ) : (
        <SlowTraces slowest={answer.report.slowest} rows={answer.slowest} />
      )}
    </div>
  );
}

/** The row that waited; if it failed, the innermost span that failed with it: that has the stack. */
function rowAtFirst({ top, rows }: TraceAnswer): number {
  const failed = rows.filter((each) => each.status === 'error' && each.repeated === 1);
  if (!failed.some(({ row }) => row === top)) return top;
  return failed.reduce((found, each) => (each.depth > found.depth ? each : found)).row ?? top;
}

interface AnsweredProps {
  question: string;
  onAnswer: (traceId: string) => void;
}

function Answered({ question, onAnswer }: AnsweredProps) {
  const app = useApp();
  const { answer, words } = useAnswer<TraceAnswer>(question, async (signal) => {
    const { row, key } = app.view.value;
    const fields = question.startsWith('row ') ? rowFields(row!, key) : { id: question };
    const found = await app.server.json<TraceAnswer>('/data/trace', fields, signal);
    if (app.view.value.row === undefined) app.view.set({ row: rowAtFirst(found), key: undefined });
    if (found.traceId !== null) onAnswer(found.traceId);
    return found;
  });
  if (words !== '') {
    return (
      <p role="alert" class="empty">
        There is no such trace: {words}.
      </p>
    );
  }
  if (answer === undefined) return <p class="empty">Reading the trace …</p>;
  return (
    <div class="trace">
      <Head {...answer} />
      <div class="with-side">
        <Waterfall answer={answer} />
        <aside class="details-side" aria-label="Details" tabIndex={0}>
          <Details />
        </aside>
      </div>
    </div>
  );
}

/** What the trace is, what it waited for, and what is missing. */
function Head(answer: TraceAnswer) {
  const app = useApp();
  const { traceId, service, start, duration, top, errors, spans } = answer;
  const texts = [waitedText(answer), interruptedText(answer)].filter((text) => text !== undefined);
  const sources = app.recording.answer?.sources ?? [];
  return (
    <header class="trace-head">
      <h2>
        {nameWithPath(answer)}
        {service === null ? '' : ` · ${service}`} · {durationText(duration)}
      </h2>
      <p class="quiet">
        {timeText(start)} · {countText(spans)} {spans === 1 ? 'span' : 'spans'} ·{' '}
        {traceId === null ? 'of no trace' : <code>{traceId}</code>}{' '}
        {traceId !== null && <CopyButton text={traceId} what="the id of the trace" />}{' '}
        <button
          type="button"
          onClick={() => {
            void app.showRow(top, undefined, true);
          }}
        >
          Show on the time line
        </button>
      </p>
      {texts.map((text, at) => (
        <p key={text} class={at === 0 ? 'waited' : ''}>
          {text}
        </p>
      ))}
      {errors.map((error) => (
        <p key={failedText(error)} class="bad">
          {failedText(error)}
        </p>
      ))}
      <Notes answer={answer} sources={sources} />
    </header>
  );
}

/** What one must know to read the times. */
function Notes({ answer, sources }: { answer: TraceAnswer; sources: readonly SourceAnswer[] }) {
  const { rows, omitted, clocks } = answer;
  const single = rows.filter(({ repeated }) => repeated === 1);
  const open = single.filter(({ unfinished }) => unfinished).length;
  const missing = single.filter(({ missingParent }) => missingParent).length;
  const notes = [
    ...(open > 0 ? [`${countText(open)} were open when their process ended.`] : []),
    ...(missing > 0 ? [`The parents of ${countText(missing)} are not in this recording.`] : []),
    ...(omitted > 0 ? [`${countText(omitted)} shorter ones are not shown.`] : []),
    ...movedClocks(answer, sources),
    ...(clocks === null
      ? []
      : [
          `A span of ${clocks.child} seems to begin ${durationText(clocks.early)} before its parent of ${clocks.parent}: their clocks differ at least by that.`,
        ]),
  ];
  return notes.length === 0 ? null : <p class="quiet">{notes.join(' ')}</p>;
}

/** Which times were moved, because a call shows how far two clocks are apart. */
function movedClocks({ rows }: TraceAnswer, sources: readonly SourceAnswer[]): string[] {
  const numbers = new Set(rows.map(({ source }) => source));
  return sources
    .filter(({ number, clockOffset }) => numbers.has(number) && clockOffset !== '0')
    .map((source) => {
      const { host, clockOffset, clockError = 0 } = source;
      const machine = host === undefined ? '' : ` on ${host}`;
      const moved = `The times of ${serviceOf(source)}${machine} are moved by`;
      return `${moved} ${durationText(Number(clockOffset))}, right within ${durationText(clockError)}.`;
    });
}
