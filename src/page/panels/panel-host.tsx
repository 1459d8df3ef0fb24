import { useEffect } from 'preact/hooks';
import type { RecordingAnswer } from '../../look/wire/answers.js';
import { Legend } from '../controls/legend.js';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';
import { NO_PANEL } from '../state/view-state.js';
import { comparePanel } from './compare/compare-panel.js';
import { detailsPanel } from './details-panel.js';
import { findPanel } from './find/find-panel.js';
import { latencyPanel } from './latency/latency-panel.js';
import type { Panel } from './panel.js';
import { recordingPanel } from './recording-panel.js';
import { reportPanel } from './report/report-panel.js';
import { tablePanel } from './table/table-panel.js';
import { tracePanel } from './trace/trace-panel.js';

/** Every panel, in the order of its tabs. */
const panels: readonly Panel[] = [
  reportPanel,
  findPanel,
  detailsPanel,
  tracePanel,
  tablePanel,
  latencyPanel,
  comparePanel,
  recordingPanel,
];

/** Rows of which the report is there at once, and the screen that has room for it below the time line. */
const FEW_ROWS = 1_000_000;
const ROOM = '(min-width: 620px) and (min-height: 600px)';
const TALL = 'panels.tall';

/** The panel that is open at first: the report, unless it takes long, or the recording is live. */
function panelAtStart(answer: RecordingAnswer | undefined): string {
  const { live = true, rows = 0 } = answer ?? {};
  const opens = !live && rows > 0 && rows <= FEW_ROWS && window.matchMedia(ROOM).matches;
  return opens ? 'report' : NO_PANEL;
}

/** The tabs of the panels, and the one that is open. */
export function PanelHost() {
  const { view, recording } = useApp();
  const chosen = useStore(view, ({ panel }) => panel);
  const start = useStore(recording.store, ({ answer }) => panelAtStart(answer));
  const isTall = useStore(view, ({ parameters }) => parameters[TALL] === 'yes');
  const id = chosen ?? start;
  const open = panels.find((panel) => panel.id === id);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      const panel = panels.find(({ key }) => key === event.key);
      if (panel === undefined) return;
      event.preventDefault();
      view.set({ panel: panel.id });
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, [view]);
  const close = (): void => {
    view.set({ panel: NO_PANEL });
  };
  return (
    <section class="panels" aria-label="Panels">
      <div class="panel-tabs">
        <div>
          {panels.map(({ id: each, title, key, question }) => (
            <button
              key={each}
              type="button"
              aria-pressed={each === id}
              {...(question === undefined ? {} : { title: question })}
              {...(key === undefined ? {} : { 'aria-keyshortcuts': key })}
              onClick={() => {
                if (each === id) close();
                else view.set({ panel: each });
              }}
            >
              {title}
            </button>
          ))}
          {open === undefined && (
            <p class="panel-hint">
              Click a span for its details. Shift and drag for the report of a part.
            </p>
          )}
        </div>
        {open !== undefined && (
          <>
            <button
              type="button"
              aria-label={isTall ? 'Make the panel smaller' : 'Make the panel larger'}
              title={isTall ? 'Smaller' : 'Larger'}
              onClick={() => {
                const { parameters } = view.value;
                view.set({ parameters: { ...parameters, [TALL]: isTall ? '' : 'yes' } });
              }}
            >
              {isTall ? '▼' : '▲'}
            </button>
            <button type="button" aria-label="Close the panel" title="Close" onClick={close}>
              ✕
            </button>
          </>
        )}
        <Legend />
      </div>
      {open !== undefined && (
        <section
          class={isTall ? 'panel tall' : 'panel'}
          id={`panel-${open.id}`}
          aria-label={open.title}
          tabIndex={0}
        >
          <open.Content />
        </section>
      )}
    </section>
  );
}

/** Whether a key belongs to a field. */
export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as Element | null;
  return target?.closest('input, select, textarea, [contenteditable]') != null;
}
