import type { Group, Report } from '../../../look/report/report-shape.js';
import { choiceFields, choiceOf, FIND_TEXT } from '../../data/choice.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { countText, durationText } from '../../time-line/duration-text.js';
import { ChoiceLine } from '../choice-line.js';
import type { Panel } from '../panel.js';
import { useAnswer } from '../use-answer.js';

/** What `tracewright report` prints, of the selected range and the search. */
export const reportPanel: Panel = { id: 'report', title: 'Report', key: 'r', Content: ReportView };

const SLOWEST = 5;
const MOST_GROUPS = 100;
const MOST_OPEN = 20;

function ReportView() {
  const app = useApp();
  const choice = useStore(app.view, (state) => JSON.stringify(choiceOf(state)));
  const { answer, words, pending } = useAnswer<Report>(choice, (signal) =>
    app.server.json<Report>(
      '/data/report',
      { ...choiceFields(choiceOf(app.view.value)), slowest: SLOWEST },
      signal,
    ),
  );
  return (
    <div aria-busy={pending}>
      <ChoiceLine what="Report" />
      {words !== '' && <p role="alert">{words}</p>}
      {answer === undefined ? words === '' && <p>Reading …</p> : <Figures report={answer} />}
    </div>
  );
}

function Figures({ report }: { report: Report }) {
  const { groups, by, slowest, open, interruptions, completeness, losses } = report;
  return (
    <>
      <Groups groups={groups.slice(0, MOST_GROUPS)} by={by} />
      {groups.length > MOST_GROUPS && <p>{countText(groups.length - MOST_GROUPS)} more.</p>}
      {slowest.length > 0 && <Slowest slowest={slowest} />}
      <Interruptions {...interruptions} />
      {open.count > 0 && <Open {...open} />}
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

function Slowest({ slowest }: Pick<Report, 'slowest'>) {
  const app = useApp();
  return (
    <table class="figures">
      <caption>The slowest traces, and what they waited for</caption>
      <tbody>
        {slowest.map(({ traceId, name, service, duration, waitedFor, stalls, collections }) => (
          <tr key={`${traceId ?? ''} ${name} ${duration}`}>
            <td class="number">{durationText(duration)}</td>
            <th scope="row">
              {name}
              {service === null ? '' : ` (${service})`}
            </th>
            <td>
              {waitedFor
                .slice(0, 3)
                .map((each) => `${each.name} ${Math.round(each.share * 100)} %`)
                .join(', ')}
              {stalls > 0 && `; the event loop was blocked for ${durationText(stalls)}`}
              {collections > 0 && `; garbage collections took ${durationText(collections)}`}
            </td>
            <td>
              {traceId !== null && (
                <button
                  type="button"
                  onClick={() => {
                    const { parameters } = app.view.value;
                    app.view.set({
                      parameters: { ...parameters, [FIND_TEXT]: traceId },
                      panel: 'find',
                    });
                  }}
                >
                  Find
                </button>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
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

function Open({ count, spans }: Report['open']) {
  return (
    <table class="figures">
      <caption>{countText(count)} open at the end</caption>
      <tbody>
        {spans.slice(0, MOST_OPEN).map(({ name, service, thread, start, age }) => (
          <tr key={`${start} ${name} ${thread}`}>
            <th scope="row">{name}</th>
            <td>{service ?? '–'}</td>
            <td>{thread}</td>
            <td>since {start}</td>
            <td class="number">{durationText(age)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
