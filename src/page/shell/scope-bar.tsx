import { useState } from 'preact/hooks';
import { countText, durationText } from '../../look/report/measures/units.js';
import { periodsOf } from '../../look/report/recording/recording-sides.js';
import type { RecordingAnswer } from '../../look/wire/answers.js';
import { hiddenServices, showServices, shownPeriod } from '../data/choice.js';
import { serviceOf } from '../data/recording-data.js';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';
import { fileName, tickText, utcText } from '../time-line/axis-text.js';
import { pause, windowAround } from '../time-line/navigation.js';
import { ClearRange } from './links.js';
import type { Theme } from './address.js';
import { LacksChip } from './lacks-chip.js';

/** What all views are about: services, and a time range; and what the recording lacks. */
export function ScopeBar() {
  const app = useApp();
  const { view, recording } = app;
  const answer = useStore(recording.store, (state) => state.answer);
  const theme = useStore(view, (state) => state.theme);
  const follow = useStore(view, (state) => state.follow);
  if (answer === undefined)
    return (
      <section class="bar scope" aria-label="Services and time">
        Reading …
      </section>
    );
  return (
    <section class="bar scope" aria-label="Services and time">
      <Services answer={answer} />
      <Recordings answer={answer} />
      <Range answer={answer} />
      <LacksChip answer={answer} />
      {answer.live && (
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
      <label class="theme">
        Theme{' '}
        <select
          value={theme}
          onChange={({ currentTarget: { value } }) => {
            view.set({ theme: value as Theme });
          }}
        >
          {['system', 'light', 'dark'].map((word) => (
            <option key={word}>{word}</option>
          ))}
        </select>
      </label>
    </section>
  );
}

/** Services that are shown one by one; more are in a list that opens. */
const FEW = 5;

/** Switches services on and off, everywhere. */
function Services({ answer }: { answer: RecordingAnswer }) {
  const { view, recording } = useApp();
  const hidden = useStore(view, (state) => hiddenServices(state).join('\n')).split('\n');
  const names = [...new Set(answer.sources.map(serviceOf))];
  if (names.length < 2) return <span class="what">{names.map(fileName)}</span>;
  const boxes = names.map((name) => (
    <label key={name} title={name}>
      <input
        type="checkbox"
        checked={!hidden.includes(name)}
        onChange={({ currentTarget: { checked } }) => {
          showServices(view, [name], checked);
        }}
      />
      <span class="swatch" style={{ backgroundColor: recording.serviceColours.of(name) }} />
      {fileName(name)}
    </label>
  ));
  if (names.length <= FEW) {
    return (
      <fieldset class="services">
        <legend class="spoken">Services</legend>
        {boxes}
      </fieldset>
    );
  }
  const shown = names.filter((name) => !hidden.includes(name)).length;
  return (
    <details class="services">
      <summary>
        {countText(shown)} of {countText(names.length)} services
      </summary>
      <fieldset>
        <legend class="spoken">Services</legend>
        {boxes}
      </fieldset>
    </details>
  );
}

/** `18:48:48 UTC`, or the time since the start. */
function clockText(answer: RecordingAnswer, at: number): string {
  const utc = utcText(answer, at);
  return utc === undefined ? tickText(at, 1e6) : `${utc.slice(11, 19)} UTC`;
}

/** Which of several recordings the views are about: the one with the range of time. */
function Recordings({ answer }: { answer: RecordingAnswer }) {
  const { view } = useApp();
  const rangeFrom = useStore(view, (state) => state.rangeFrom);
  const rangeTo = useStore(view, (state) => state.rangeTo);
  const all = { name: 'all together', from: 0, to: answer.length + 1 };
  const periods = periodsOf(answer.sources);
  if (periods.length < 2) return null;
  const choices = [...periods, all];
  const shown = rangeFrom === undefined ? all : shownPeriod(choices, { rangeFrom, rangeTo });
  return (
    <label>
      Recording{' '}
      <select
        value={shown?.name ?? ''}
        onChange={({ currentTarget: { selectedIndex } }) => {
          const chosen = choices[selectedIndex];
          if (chosen !== undefined) view.set({ rangeFrom: chosen.from, rangeTo: chosen.to });
        }}
      >
        {choices.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
        {shown === undefined && <option value="">a part</option>}
      </select>
    </label>
  );
}

/** The time that all views are about. */
function Range({ answer }: { answer: RecordingAnswer }) {
  const app = useApp();
  const from = useStore(app.view, ({ rangeFrom }) => rangeFrom);
  const to = useStore(app.view, ({ rangeTo }) => rangeTo);
  const isRange = from !== undefined && to !== undefined;
  // A recording is chosen next to this.
  const isOfRecording = shownPeriod(periodsOf(answer.sources), { rangeFrom: from, rangeTo: to });
  return (
    <>
      <span class="what">
        {clockText(answer, from ?? 0)}, {durationText(isRange ? to - from : answer.length)}{' '}
        {isRange && isOfRecording === undefined && <ClearRange />}
      </span>
      {answer.epoch !== '0' && <TimeOfDay answer={answer} from={from ?? 0} />}
    </>
  );
}

/** Around a single time, in ns. */
const AROUND = 5e9;

/** Chooses the range between two times of day, or around one, and shows it on the time line. */
function TimeOfDay({ answer, from }: { answer: RecordingAnswer; from: number }) {
  const app = useApp();
  const [isWrong, say] = useState(false);
  return (
    <input
      class="time-of-day"
      aria-label="Go to a time of day, UTC"
      title="13:05:20, or 13:05 13:06: the range of time of all views, UTC. With a date and an offset: 2026-01-31T13:05:20+02:00"
      placeholder={`go to ${clockText(answer, from)}`}
      aria-invalid={isWrong}
      onChange={({ currentTarget: { value } }) => {
        const times = timesOfDay(answer, value);
        const first = Math.max(0, times.length > 1 ? times[0]! : times[0]! - AROUND);
        const last = Math.min(answer.length, times.length > 1 ? times[1]! : times[0]! + AROUND);
        say(value !== '' && !(first < last));
        if (!(first < last)) return;
        const room = last - first;
        const range = { rangeFrom: first, rangeTo: last };
        app.view.set({ ...range, ...windowAround(app, first - room / 4, last + room / 4) });
      }}
    />
  );
}

/** An offset only after a date: `13:05-13:06` is two times. */
const TIME_OF_DAY =
  /(?:(\d{4}-\d\d-\d\d)[T ])?(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)((?<=-\d\d[T ][\d:.]*)[+-]\d\d:?\d\d)?/g;

/** Times in a text, in ns since time 0 of the recording. One without a date is the first that it has. */
function timesOfDay({ epoch }: RecordingAnswer, text: string): number[] {
  const begin = Number(epoch) / 1e6;
  const today = new Date(begin).toISOString().slice(0, 10);
  return [...text.matchAll(TIME_OF_DAY)].map(([, date, time, offset]) => {
    const at = Date.parse(`${date ?? today}T${time!}${offset ?? 'Z'}`) - begin;
    // A minute that has begun when the recording did is not one of tomorrow.
    const isTomorrow = date === undefined && at < -60_000;
    return (isTomorrow ? at + 86_400_000 : at) * 1e6;
  });
}
