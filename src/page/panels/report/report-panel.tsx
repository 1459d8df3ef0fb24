import type { Group, Report, SlowTrace } from '../../../look/report/report-shape.js';
import { MOST_OPEN } from '../../../look/wire/panel-answers.js';
import type { ReportAnswer, ReportedRow } from '../../../look/wire/panel-answers.js';
import { choiceFields, choiceOf, FIND_TEXT } from '../../data/choice.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { countText, durationText } from '../../time-line/duration-text.js';
import { ChoiceLine } from '../choice-line.js';
import type { Panel } from '../panel.js';
import { useAnswer } from '../use-answer.js';

/** What `tracewright report` prints, of the selected range and the search. */
export const reportPanel: Panel = {
  id: 'report',
  title: 'Report',
  question: 'Which route is slow, and why? What was open at the end?',
  key: 'r',
  Content: ReportView,
};

const SLOWEST = 5;
const MOST_GROUPS = 100;
/** Shares of less say nothing. */
const LEAST_SHARE = 0.005;

function ReportView() {
  const app = useApp();
  const choice = useStore(app.view, (state) => JSON.stringify(choiceOf(state)));
  const { answer, words, pending } = useAnswer<ReportAnswer>(choice, (signal) =>
    app.server.json<ReportAnswer>(
      '/data/report',
      { ...choiceFields(choiceOf(app.view.value)), slowest: SLOWEST },
      signal,
    ),
  );
  return (
    <div aria-busy={pending}>
      <ChoiceLine what="Report of the spans" />
      {words !== '' && <p role="alert">{words}</p>}
      {answer === undefined ? words === '' && <p>Reading …</p> : <Figures {...answer} />}
    </div>
  );
}

function Figures({ report, slowest, open }: ReportAnswer) {
  const { groups, by, interruptions, completeness, losses } = report;
  return (
    <>
      <div class="report-tables">
        <div>
          <Groups groups={groups.slice(0, MOST_GROUPS)} by={by} />
          {groups.length > MOST_GROUPS && <p>{countText(groups.length - MOST_GROUPS)} more.</p>}
        </div>
        {report.slowest.length > 0 && <Slowest slowest={report.slowest} rows={slowest} />}
        {report.open.count > 0 && <Open {...report.open} rows={open} />}
        <Interruptions {...interruptions} />
      </div>
      {completeness.incompleteTraces > 0 && (
        <p>
          {countText(completeness.incompleteTraces)} of {countText(completeness.traces)} traces are
          incomplete: the parents of {countText(completeness.missingParents)} spans are not in the
          recording.
        </p>
      )}
      {losses.map(({ path, reason }) => (
        <p key={`${path} ${reason}`}>
          Lost in {path}: {reason}
        </p>
      ))}
    </>
  );
}

function Groups({ groups, by }: { groups: readonly Group[]; by: string }) {
  const app = useApp();
  return (
    <table class="figures">
      <caption>By {by}, the most time first</caption>
      <thead>
        <tr>
          <th scope="col">{by}</th>
          <th scope="col">service</th>
          {['count', 'per s', 'errors', 'p50', 'p95', 'p99', 'max', 'share'].map((title) => (
            <th key={title} scope="col" class="number">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {groups.map((group) => (
          <tr key={`${group.service ?? ''} ${group.name}`}>
            <th scope="row">
              <button
                type="button"
                class="link"
                onClick={() => {
                  const { parameters } = app.view.value;
                  const text =
                    by === 'service' ? `service="${group.name}"` : `name="${group.name}"`;
                  app.view.set({ parameters: { ...parameters, [FIND_TEXT]: text } });
                }}
              >
                {group.name}
              </button>
            </th>
            <td>{group.service ?? '–'}</td>
            <td class="number">{countText(group.count)}</td>
            <td class="number">{group.rate.toPrecision(3)}</td>
            <td class={group.errors > 0 ? 'number bad' : 'number'}>{countText(group.errors)}</td>
            <td class="number">{durationText(group.p50)}</td>
            <td class="number">{durationText(group.p95)}</td>
            <td class="number">{durationText(group.p99)}</td>
            <td class="number">{durationText(group.max)}</td>
            <td class="number">{(group.share * 100).toFixed(1)} %</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Slowest({
  slowest,
  rows,
}: {
  slowest: readonly SlowTrace[];
  rows: ReportAnswer['slowest'];
}) {
  return (
    <table class="figures">
      <caption>The slowest traces, and what they waited for</caption>
      <tbody>
        {slowest.map((trace, place) => {
          const { traceId, name, service, duration, stalls, collections } = trace;
          return (
            <tr key={`${traceId ?? ''} ${name} ${duration}`}>
              <td class="number">{durationText(duration)}</td>
              <th scope="row">
                <SpanLink text={name} found={rows[place] ?? null} />
                {service === null ? '' : ` (${service})`}
              </th>
              <td>
                {waitedForText(trace)}
                {stalls > 0 && `; the event loop was blocked for ${durationText(stalls)}`}
                {collections > 0 && `; garbage collections took ${durationText(collections)}`}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** What a trace waited for, the longest first: with the service where it is another one. */
function waitedForText({ service: own, waitedFor }: SlowTrace): string {
  return waitedFor
    .filter(({ share }) => share >= LEAST_SHARE)
    .slice(0, 3)
    .map(({ name, service, share }) => {
      const where = service === null || service === own ? '' : ` (${service})`;
      return `${name}${where} ${Math.round(share * 100)} %`;
    })
    .join(', ');
}

/** Opens the trace of a span. */
function SpanLink({ text, found }: { text: string; found: ReportedRow | null }) {
  const app = useApp();
  if (found === null) return <>{text}</>;
  return (
    <button
      type="button"
      class="link"
      title="Show its trace"
      onClick={() => {
        void app.showRow(found.row, found.start);
        app.view.set({ panel: 'trace' });
      }}
    >
      {text}
    </button>
  );
}

function Interruptions({ stalls, collections }: Report['interruptions']) {
  const all = [...stalls, ...collections];
  if (all.length === 0) return null;
  return (
    <table class="figures">
      <caption>What kept threads from working</caption>
      <tbody>
        {all.map(({ name, count, total, max }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="number">{countText(count)} times</td>
            <td class="number">{durationText(total)} in all</td>
            <td class="number">{durationText(max)} at most</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Open({ count, spans, rows }: Report['open'] & { rows: ReportAnswer['open'] }) {
  return (
    <table class="figures">
      <caption>Open at the end: {countText(count)}, the oldest first</caption>
      <tbody>
        {spans.slice(0, MOST_OPEN).map(({ name, service, thread, start, age }, place) => (
          <tr key={`${start} ${name} ${thread}`}>
            <td class="number">{durationText(age)}</td>
            <th scope="row">
              <SpanLink text={name} found={rows[place] ?? null} />
              {service === null ? '' : ` (${service})`}
            </th>
            <td>
              thread {thread}, since {start.slice(0, 23).replace('T', ' ')}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
