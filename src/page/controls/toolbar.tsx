import { countText, durationText } from '../../look/report/measures/units.js';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';
import type { ColourBy, Theme } from '../state/view-state.js';
import { clearRange, goBack, pause, showAll } from '../time-line/navigation.js';

/** The bar that chooses what the time line shows, and how. */
export function Toolbar({ onHelp }: { onHelp: () => void }) {
  const app = useApp();
  const { view, recording } = app;
  const answer = useStore(recording.store, (state) => state.answer);
  const colour = useStore(view, (state) => state.colour);
  const theme = useStore(view, (state) => state.theme);
  const follow = useStore(view, (state) => state.follow);
  const from = useStore(view, (state) => state.from);
  const to = useStore(view, (state) => state.to);
  const hasRange = useStore(view, ({ rangeFrom }) => rangeFrom !== undefined);
  const canGoBack = useStore(app.left, ({ windows }) => windows.length > 0);
  return (
    <header class="toolbar">
      <h1>Tracewright</h1>
      <span class="what">
        {answer === undefined
          ? 'reading …'
          : `${countText(answer.rows)} rows, ${durationText(answer.length)}; ${shownText(answer.length, from, to)}`}
      </span>
      {answer?.live === true && (
        <button
          type="button"
          aria-pressed={follow}
          onClick={() => {
            if (follow) pause(app);
            else view.set({ follow: true });
          }}
        >
          {follow ? 'Pause' : 'Follow'}
        </button>
      )}
      {hasRange && (
        <button
          type="button"
          title="Select no range: Escape on the time line"
          onClick={() => {
            clearRange(app);
          }}
        >
          Clear range
        </button>
      )}
      {canGoBack && (
        <button
          type="button"
          title="Back to the part of the time line before the last link"
          aria-keyshortcuts="b"
          onClick={() => {
            goBack(app);
          }}
        >
          Back
        </button>
      )}
      <button
        type="button"
        onClick={() => {
          showAll(app);
        }}
      >
        Fit
      </button>
      <Choice
        label="Colour by"
        value={colour}
        words={['name', 'status', 'service']}
        onChoice={(word) => {
          view.set({ colour: word as ColourBy });
        }}
      />
      <Choice
        label="Theme"
        value={theme}
        words={['system', 'light', 'dark']}
        onChoice={(word) => {
          view.set({ theme: word as Theme });
        }}
      />
      <button type="button" aria-keyshortcuts="?" onClick={onHelp}>
        Help
      </button>
    </header>
  );
}

/** How much of the recording a window shows. */
function shownText(length: number, from = 0, to = length): string {
  if (from <= 0 && to >= length) return 'all shown';
  return `${durationText(to - from)} shown`;
}

interface ChoiceProps {
  label: string;
  value: string;
  words: readonly string[];
  onChoice: (word: string) => void;
}

/** One of some words, with its label. */
function Choice({ label, value, words, onChoice }: ChoiceProps) {
  return (
    <label>
      <span>{label} </span>
      <select
        title={label}
        value={value}
        onChange={(event) => {
          onChoice(event.currentTarget.value);
        }}
      >
        {words.map((word) => (
          <option key={word}>{word}</option>
        ))}
      </select>
    </label>
  );
}
