import { kindOfSpan } from '../../look/report/names/interruption-kinds.js';
import { codeOfName, functionText, GARBAGE_COLLECTOR } from '../../look/report/names/code-text.js';
import type { InterruptionKind } from '../../look/report/names/interruption-kinds.js';
import { STALLS_LANE } from '../../look/wire/answers.js';
import type { RecordingData } from '../data/recording-data.js';
import { serviceOf } from '../data/recording-data.js';
import type { ViewState } from '../shell/address.js';
import { colourOfText, INK, mixed, PALETTE } from '../theme/palette.js';
import type { AssignedColours } from '../theme/palette.js';
import type { CanvasColours } from '../theme/theme.js';
import { statusColour } from './draw-boxes.js';
import type { BoxStyle } from './draw-boxes.js';
import type { Picture } from './picture.js';

/** The colours of the boxes of a picture. Those of names are kept: most frames have the same names. */
export class BoxColours {
  readonly #recording: RecordingData;
  readonly #picture: Picture;
  readonly #ofNames: string[] = [];
  /** By number of a name. */
  readonly #kindsOfNames: (InterruptionKind | undefined)[] = [];
  readonly #ofFunctions: string[] = [];
  #assigned: AssignedColours | undefined;

  constructor(recording: RecordingData, picture: Picture) {
    this.#recording = recording;
    this.#picture = picture;
  }

  /** Names have other numbers now. */
  forget(): void {
    this.#ofNames.length = 0;
    this.#kindsOfNames.length = 0;
    this.#ofFunctions.length = 0;
  }

  /** Interruptions have their colours, whatever the others are coloured by. */
  style(
    by: ViewState['colour'],
    { stall, stallText, collection, collectionText }: CanvasColours,
  ): Pick<BoxStyle, 'colourOf' | 'isStriped' | 'inkOf'> {
    const picture = this.#picture;
    const recording = this.#recording;
    const ofNames = this.#kindsOfNames;
    for (let name = ofNames.length; name < recording.names.length; name++) {
      const text = recording.name(name);
      const isCollector = codeOfName(text).function === GARBAGE_COLLECTOR;
      ofNames.push(isCollector ? 'collection' : kindOfSpan(text));
    }
    const kindOf = (box: number): InterruptionKind | undefined => ofNames[picture.name[box]!];
    const functionColour = (name: number): string =>
      (this.#ofFunctions[name] ??= colourOfText(functionText(codeOfName(recording.name(name)))));
    const others = this.#ofOthers(by);
    return {
      colourOf(box) {
        const kind = kindOf(box);
        if (kind === undefined && picture.samples[box]! > 0) {
          const own = functionColour(picture.name[box]!);
          return picture.count[box] === 1 ? own : mixed(own);
        }
        if (kind === undefined) return others(box);
        return kind === 'stall' ? stall : collection;
      },
      // Mixed, the one would look like the other.
      isStriped: (box) =>
        picture.count[box]! > 1 && picture.lane[box] !== STALLS_LANE && kindOf(box) !== undefined,
      inkOf(box) {
        const kind = kindOf(box);
        if (kind === undefined) return INK;
        return kind === 'stall' ? stallText : collectionText;
      },
    };
  }

  #ofOthers(by: ViewState['colour']): (box: number) => string {
    const picture = this.#picture;
    const recording = this.#recording;
    if (by === 'status') return (box) => statusColour(picture.flags[box]!, picture.count[box]! > 1);
    if (by === 'service') {
      const { tracks = [], sources = [] } = recording.answer ?? {};
      const { serviceColours } = recording;
      const ofTrack = tracks.map(({ source }) => serviceColours.of(serviceOf(sources[source]!)));
      return (box) => ofTrack[picture.track[box]!] ?? PALETTE[0];
    }
    const { nameColours } = recording;
    if (nameColours !== this.#assigned) this.#ofNames.length = 0;
    this.#assigned = nameColours;
    return (box) => {
      const name = picture.name[box]!;
      const own = (this.#ofNames[name] ??= nameColours.of(recording.name(name)));
      return picture.count[box] === 1 ? own : mixed(own);
    };
  }
}
