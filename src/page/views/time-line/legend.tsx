import { isInterruption, PAUSE_NAMES } from '../../../look/report/names/interruption-kinds.js';
import { nameWithTargets } from '../../../look/report/names/request-name.js';
import type { SourceAnswer } from '../../../look/wire/answers.js';
import { serviceOf } from '../../data/recording-data.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { cssColour, OTHER_COLOUR, STATUS_COLOURS } from '../../theme/palette.js';

/** Services beyond these share one colour. */
const MOST = 9;

/** Explains the colours of the time line. */
export function Legend() {
  const { view, recording } = useApp();
  const colour = useStore(view, (state) => state.colour);
  const answer = useStore(recording.store, (state) => state.answer);
  const { frequentNames = [], interruptions = [], sources = [] } = answer ?? {};
  const items: (readonly [string, string])[] =
    colour === 'status'
      ? [
          ['unset', STATUS_COLOURS[0]],
          ['ok', STATUS_COLOURS[1]],
          ['error', STATUS_COLOURS[2]],
        ]
      : colour === 'service'
        ? servicesOf(sources).map((service) => [service, recording.serviceColours.of(service)])
        : frequentNames
            .filter(({ name }) => !isInterruption(name))
            .map((each) => [nameWithTargets(each), recording.nameColours.of(each.name)]);
  const others = { name: 'other names', service: 'other services', status: undefined }[colour];
  const hasOthers = colour === 'name' || new Set(sources.map(serviceOf)).size > MOST;
  return (
    <ul class="legend" aria-label="Colours of the time line">
      {interruptions.map((kind) => (
        <Item key={kind} text={PAUSE_NAMES[kind]} colour={cssColour(kind)} />
      ))}
      {items.map(([text, own]) => (
        <Item key={text} text={text} colour={own} />
      ))}
      {others !== undefined && hasOthers && <Item text={others} colour={OTHER_COLOUR} />}
    </ul>
  );
}

function servicesOf(sources: readonly SourceAnswer[]): string[] {
  return [...new Set(sources.map(serviceOf))].slice(0, MOST);
}

function Item({ text, colour }: { text: string; colour: string }) {
  return (
    <li title={text}>
      <span class="swatch" style={{ backgroundColor: colour }} />
      {text}
    </li>
  );
}
