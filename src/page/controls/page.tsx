import { useEffect, useState } from 'preact/hooks';
import { PanelHost, isTyping } from '../panels/panel-host.js';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';
import { OverviewStrip } from '../time-line/overview-strip.js';
import { TimeLineView } from '../time-line/time-line-view.js';
import { goBack } from '../time-line/navigation.js';
import { Help } from './help.js';
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
