import type { FunctionComponent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';
import { CompareView } from '../views/compare/compare-view.js';
import { FindView } from '../views/find/find-view.js';
import { OverviewView } from '../views/overview/overview-view.js';
import { RouteView } from '../views/route/route-view.js';
import { Legend } from '../views/time-line/legend.js';
import { TimeLineView } from '../views/time-line/time-line-view.js';
import { TraceView } from '../views/trace/trace-view.js';
import { VIEWS, type ViewName } from './address.js';
import { ScopeBar } from './scope-bar.js';
import { SearchBar, SEARCH_FIELD } from './search-bar.js';

interface View {
  /** On its tab. */
  title: string;
  /** The question that it answers: the tooltip of its tab. */
  question: string;
  Content: FunctionComponent;
}

const CONTENTS: Readonly<Record<ViewName, View>> = {
  overview: { title: 'Overview', question: 'What is wrong, and where?', Content: OverviewView },
  route: { title: 'Route', question: 'Why is a route slow?', Content: RouteView },
  trace: { title: 'Trace', question: 'What did one request wait for?', Content: TraceView },
  'time-line': { title: 'Time line', question: 'What ran when?', Content: TimeLineView },
  find: { title: 'Find', question: 'Which spans match?', Content: FindView },
  compare: { title: 'Compare', question: 'What became slower since?', Content: CompareView },
};

/** The whole page. */
export function Page() {
  const app = useApp();
  const [help, showHelp] = useState(false);
  const words = useStore(app.server.connection, (connection) => connection.words);
  const answer = useStore(app.recording.store, (state) => state.answer);
  const name = useStore(app.view, ({ view }) => view);
  const { title, Content } = CONTENTS[name];
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      const view = VIEWS[Number(event.key) - 1];
      if (event.key === '?') showHelp(true);
      else if (event.key === '/') document.getElementById(SEARCH_FIELD)?.focus();
      else if (view !== undefined) app.navigate(view);
      else return;
      event.preventDefault();
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, [app]);
  useEffect(() => {
    document.title = `${title} · Tracewright`;
  }, [title]);
  return (
    <>
      <header class="bar">
        <h1>Tracewright</h1>
        <Tabs shown={name} />
        <SearchBar />
        <button
          type="button"
          aria-keyshortcuts="?"
          onClick={() => {
            showHelp(true);
          }}
        >
          Help
        </button>
      </header>
      <ScopeBar />
      <main>
        {words !== '' && (
          <p class="notice bad" role="alert">
            {words}
          </p>
        )}
        {answer?.problems.map((problem) => (
          <p key={problem} class="notice bad" role="alert">
            {problem}
          </p>
        ))}
        {answer?.rows === 0 && <p class="notice">The recording has no spans or events yet.</p>}
        <section key={name} class="view" id={`view-${name}`} aria-label={title}>
          <Content />
        </section>
      </main>
      <Help
        open={help}
        onClose={() => {
          showHelp(false);
        }}
      />
      <div id="spoken" class="spoken" aria-live="polite" />
    </>
  );
}

/** The views as links. */
function Tabs({ shown }: { shown: ViewName }) {
  const { navigate, view, href } = useApp();
  // The links have the range and the look, too.
  useStore(view, (state) => state);
  return (
    <nav aria-label="Views">
      {VIEWS.map((name, at) => (
        <a
          key={name}
          href={href(name)}
          aria-current={name === shown ? 'page' : undefined}
          aria-keyshortcuts={String(at + 1)}
          title={CONTENTS[name].question}
          onClick={(event) => {
            event.preventDefault();
            navigate(name);
          }}
        >
          {CONTENTS[name].title}
        </a>
      ))}
    </nav>
  );
}

/** Whether a key belongs to a field. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as Element | null;
  return target?.closest('input, select, textarea, [contenteditable]') != null;
}

const KEYS: readonly (readonly [string, string])[] = [
  ['1 … 6', 'Overview, Route, Trace, Time line, Find, Compare'],
  ['/', 'find spans'],
  ['?', 'this help'],
  ['w s', 'time line: zoom in and out'],
  ['a d ← →', 'time line: move in time'],
  ['↑ ↓', 'time line: scroll'],
  ['f', 'time line: show the whole recording'],
  ['o', 'time line: show all lanes of all threads, or fold them again'],
  ['Shift ← ↑ → ↓', 'time line: select a neighbour'],
  ['Escape', 'time line: select no range'],
  ['wheel', 'time line: zoom; with Shift, or over the names: scroll'],
  ['drag', 'time line: move; with Shift: select a range'],
  ['two fingers', 'time line: zoom and move'],
];

const WORDS: readonly (readonly [string, string])[] = [
  ['span', 'something that a program did, with a beginning and an end: a request, a query'],
  ['trace', 'all spans of one request, in every process that it led to'],
  ['own time', 'what no child of a span took: its own code, or a wait that is not recorded'],
  ['stall, blocked', 'code kept the event loop, so that nothing else of the thread ran'],
  ['critical path', 'what the end of a trace waited for'],
  ['callee', 'what a request calls: a statement, a service, a queue'],
  ['p50, p95, p99', 'so many percent of the spans took no longer'],
];

/** Keys, gestures, and words. */
function Help({ open, onClose }: { open: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keys and gestures</h2>
      <table>
        <tbody>
          {KEYS.map(([keys, what]) => (
            <tr key={keys}>
              <td>
                <kbd>{keys}</kbd>
              </td>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        Keys of the time line work while it has the focus. A box in a mixed colour, or with stripes,
        merges several spans: zoom in to see each.
      </p>
      <h2>Words</h2>
      <dl>
        {WORDS.map(([word, meaning]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <h2>Colours of the time line</h2>
      <Legend />
      <p>A red bar below a box and ✕ are errors. An open right side: it never ended.</p>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
}
