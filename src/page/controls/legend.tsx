import { nameWithTargets } from '../../look/report/request-name.js';
import { serviceOf } from '../data/recording-data.js';
import { useApp } from '../state/app.js';
import { useStore } from '../state/store.js';
import { cssColour, kindOfName } from '../theme/interruption-kind.js';
import { STATUS_COLOURS } from '../theme/palette.js';

/** Names beyond these share colours with others. */
const MOST = 9;

/** What the colours of the time line mean. */
export function Legend() {
  const { view, recording } = useApp();
  const colour = useStore(view, (state) => state.colour);
  const answer = useStore(recording.store, (state) => state.answer);
  const { frequentNames = [], sources = [] } = answer ?? {};
  const items: (readonly [string, string])[] =
    colour === 'status'
      ? [
          ['unset', STATUS_COLOURS[0]],
          ['ok', STATUS_COLOURS[1]],
          ['error', STATUS_COLOURS[2]],
        ]
      : colour === 'service'
        ? [...new Set(sources.map(serviceOf))]
            .slice(0, MOST)
            .map((service) => [service, recording.serviceColours.of(service)])
        : frequentNames
            .filter(({ name }) => kindOfName(name) === undefined)
            .map((each) => [nameWithTargets(each), recording.nameColours.of(each.name)]);
  return (
    <ul class="legend" aria-label="Colours of the time line">
      <Item text="event loop blocked" colour={cssColour('stall')} />
      <Item text="garbage collection" colour={cssColour('collection')} />
      {items.map(([text, own]) => (
        <Item key={text} text={text} colour={own} />
      ))}
    </ul>
  );
}

function Item({ text, colour }: { text: string; colour: string }) {
  return (
    <li title={text}>
      <span class="swatch" style={{ backgroundColor: colour }} />
      {text}
    </li>
  );
}
