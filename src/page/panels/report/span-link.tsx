import type { ReportedRow } from '../../../look/wire/panel-answers.js';
import { useApp } from '../../state/app.js';

/** Opens the trace of a span, which then fills the time line. */
export function SpanLink({ text, found }: { text: string; found: ReportedRow | null }) {
  const app = useApp();
  if (found === null) return <>{text}</>;
  return (
    <button
      type="button"
      class="link"
      title="Show its trace"
      onClick={() => {
        void app.showRow(found.row, found.start, true);
        app.view.set({ panel: 'trace' });
      }}
    >
      {text}
    </button>
  );
}
