import type { ProcessAnswer, RecordingAnswer } from '../../look/wire/answers.js';
import { hiddenServices } from '../data/choice.js';
import { type ViewState, setParameters } from '../shell/address.js';
import type { Store } from '../state/store.js';

/** How the time line shows processes. */
export interface ShownProcesses {
  /** By number: only their load is shown. */
  folded: ReadonlySet<number>;
  /** They come first. */
  pinned: ReadonlySet<number>;
  /** What their threads ran is shown. */
  samples: ReadonlySet<number>;
  /** Their services are off. */
  hidden: ReadonlySet<number>;
  /** Whether curves are shown of those that have spans. */
  curves: boolean;
}

/** Parameters of the view. */
const NAMES = {
  folded: 'time-line.folded',
  pinned: 'time-line.pinned',
  samples: 'time-line.samples',
} as const;
export type ProcessMark = keyof typeof NAMES;
const CURVES = 'time-line.curves';
/** An empty parameter is not in the URL. */
const NONE = 'none';
/** Of more processes with curves, each is a line of load at first. */
const FEW = 12;

type Parameters = Pick<ViewState, 'parameters'>;

function numbersIn({ parameters }: Parameters, name: string): Set<number> | undefined {
  const text = parameters[name];
  if (text === undefined) return undefined;
  return new Set(text.split(',').flatMap((each) => (/^\d+$/.test(each) ? [Number(each)] : [])));
}

/** Those that can be a line of load. */
function withCurves({ processes, counters }: RecordingAnswer): ProcessAnswer[] {
  const numbers = new Set(counters.map(({ process }) => process));
  return processes.filter(({ number }) => numbers.has(number));
}

export function shownProcesses(state: ViewState, recording: RecordingAnswer): ShownProcesses {
  const many = withCurves(recording);
  const off = hiddenServices(state);
  const hidden = recording.processes.filter(
    ({ service }) => service !== undefined && off.includes(service),
  );
  return {
    folded:
      numbersIn(state, NAMES.folded) ??
      new Set(many.length > FEW ? many.map(({ number }) => number) : []),
    pinned: numbersIn(state, NAMES.pinned) ?? new Set(),
    samples: numbersIn(state, NAMES.samples) ?? new Set(),
    hidden: new Set(hidden.map(({ number }) => number)),
    curves: state.parameters[CURVES] === 'yes',
  };
}

/** The view's parameters that decide it, as one text. */
export function shownKey(state: ViewState): string {
  const { parameters } = state;
  return [...Object.values(NAMES), CURVES]
    .map((name) => parameters[name])
    .concat(hiddenServices(state))
    .join('\n');
}

/** Folds or pins processes, or undoes it. */
export function markProcesses(
  view: Store<ViewState>,
  recording: RecordingAnswer,
  mark: ProcessMark,
  processes: readonly number[],
  on: boolean,
): void {
  const marked = new Set(shownProcesses(view.value, recording)[mark]);
  for (const process of processes) {
    if (on) marked.add(process);
    else marked.delete(process);
  }
  const text = marked.size === 0 ? NONE : [...marked].join(',');
  setParameters(view, { [NAMES[mark]]: text });
}

export function showCurves(view: Store<ViewState>, on: boolean): void {
  setParameters(view, { [CURVES]: on ? 'yes' : '' });
}
