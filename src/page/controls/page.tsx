import { useEffect, useRef, useState } from 'preact/hooks';
import { isTyping, PanelHost } from '../panels/panel-host.js';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';
import { goBack } from '../time-line/navigation.js';
import { OverviewStrip } from '../time-line/overview-strip.js';
import { TimeLineView } from '../time-line/time-line-view.js';
import { Legend } from './legend.js';
import { Toolbar } from './toolbar.js';

/** The whole page. */
export function Page() {
  const app = useApp();
  const [help, showHelp] = useState(false);
  const words = useStore(app.server.connection, (connection) => connection.words);
  const answer = useStore(app.recording.store, (state) => state.answer);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '?') showHelp(true);
      if (event.key === 'b') goBack(app);
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, [app]);
  return (
    <>
      <Toolbar
        onHelp={() => {
          showHelp(true);
        }}
      />
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
        <OverviewStrip />
        <TimeLineView />
        <PanelHost />
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

const KEYS: readonly (readonly [string, string])[] = [
  ['w s', 'zoom in and out'],
  ['a d ← →', 'move in time'],
  ['↑ ↓', 'scroll'],
  ['f', 'show the whole recording'],
  ['b', 'go back to the part that a link has left'],
  ['o', 'show all lanes of all threads, or fold them again'],
  ['Shift ← ↑ → ↓', 'select a neighbour'],
  ['/', 'find spans'],
  ['e t r l c', 'trace, table, report, latency, compare'],
  ['Escape', 'select no range'],
  ['?', 'this help'],
  ['wheel', 'zoom; with Shift, or over the names: scroll'],
  ['drag', 'move; with Shift: select a range'],
  ['two fingers', 'zoom and move'],
];

/** Keys and gestures. */
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
        The keys for zooming and moving work while the time line has the focus. A box that begins
        with a number and × merges so many rows: zoom in to see each.
      </p>
      <h2>Colours</h2>
      <Legend />
      <p>A red bar below a box and ✕ are errors. An open right side: it never ended.</p>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </dialog>
  );
}
