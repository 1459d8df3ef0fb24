import { useEffect } from 'preact/hooks';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';
import { panels } from './all-panels.js';

/** The tabs of the panels, and the one that is open. */
export function PanelHost() {
  const { view } = useApp();
  const id = useStore(view, ({ panel }) => panel);
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
  return (
    <section class="panels" aria-label="Panels">
      <div class="panel-tabs">
        {panels.map(({ id: each, title, key, question }) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === id}
            {...(question === undefined ? {} : { title: question })}
            {...(key === undefined ? {} : { 'aria-keyshortcuts': key })}
            onClick={() => {
              view.set({ panel: each === id ? undefined : each });
            }}
          >
            {title}
          </button>
        ))}
        {open === undefined && (
          <p class="panel-hint">
            Report: which route is slow, and why. Click a span for its details. Shift and drag for
            the report of a part.
          </p>
        )}
      </div>
      {open !== undefined && (
        <section class="panel" id={`panel-${open.id}`} aria-label={open.title} tabIndex={-1}>
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
