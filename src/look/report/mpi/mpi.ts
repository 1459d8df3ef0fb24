import { existingRankFiles, isMetafile } from '../../../dumpi/read/run.js';
import { dumpiFormat } from '../../../dumpi/read/format.js';
import { TraceViews } from '../../../traces/trace-views.js';
import type { LookIndex, Source } from '../../index/look-index.js';
import { Distribution } from '../measures/distribution.js';
import { messagesOfRun } from './mpi-messages.js';
import type { CallWindow, RankFile } from './mpi-messages.js';
import type { MpiCall, MpiRun } from '../shape/report-shape.js';
import { CHOSEN } from '../measures/selection.js';
import { endOf } from '../measures/selection.js';
import type { RowSelection } from '../measures/selection.js';

/** The files of a run end with their rank. */
const RANK_IN_NAME = /-(\d{4,10})\.bin$/;
/** Larger ranks are no ranks: a name can say anything. */
const MAX_RANK = 1 << 20;

/** The sources of one run. */
interface Run {
  path: string;
  files: RankFile[];
  sources: Set<Source>;
}

function rankOfFile(path: string): number {
  const rank = Number(RANK_IN_NAME.exec(path)?.[1] ?? 0);
  return rank < MAX_RANK ? rank : 0;
}

function runsOf({ sources }: LookIndex): Run[] {
  const runs = new Map<string, Run>();
  for (const source of sources) {
    if (source.content !== 'MPI calls') continue;
    const { path } = source;
    const key = path.replace(RANK_IN_NAME, '');
    const files = isMetafile(path) ? existingRankFiles(path) : [path];
    const run = runs.get(key) ?? { path: key, files: [], sources: new Set() };
    runs.set(key, run);
    run.sources.add(source);
    for (const file of files) run.files.push({ path: file, rank: rankOfFile(file) });
  }
  return [...runs.values()];
}

/** Calls by name, of the rows of a run's ranks. */
function callTallies(selection: RowSelection, run: Run, exact: boolean): Map<string, Distribution> {
  const calls = new Map<string, Distribution>();
  for (const part of selection.index.parts) {
    if (!run.sources.has(part.source)) continue;
    const byNumber: (Distribution | undefined)[] = [];
    const marks = selection.marksOf(part);
    if (marks.length === 0) continue;
    const { name, names, duration } = part;
    for (let at = 0; at < marks.length; at++) {
      if ((marks[at]! & CHOSEN) === 0) continue;
      let tally = byNumber[name[at]!];
      if (tally === undefined) {
        const text = names.text(name[at]!);
        tally = calls.get(text) ?? new Distribution(exact);
        calls.set(text, tally);
        byNumber[name[at]!] = tally;
      }
      tally.add(duration[at]!);
    }
  }
  return calls;
}

function ranksOf({ index }: RowSelection, run: Run): number {
  const numbers = new Set([...run.sources].map(({ number }) => number));
  const tracks = index.tracks.filter(({ source, kind }) => kind === 'rank' && numbers.has(source));
  return Math.max(run.files.length, new Set(tracks.map(({ thread }) => thread)).size);
}

/** Reads a run as the rings of its ranks complete it. */
function withRings<T>({ ringDirs }: LookIndex, { sources }: Run, read: () => T): T {
  const views = new TraceViews(ringDirs);
  try {
    for (const { path, state } of sources) {
      if (state !== 'ended') views.show({ format: dumpiFormat, path });
    }
    return read();
  } finally {
    views.close();
  }
}

/** Calls and traffic of MPI's ranks within the window, run by run. */
export function mpiRuns(selection: RowSelection, exact: boolean): MpiRun[] {
  const { index, window } = selection;
  return runsOf(index).map((run) => {
    const calls = callTallies(selection, run, exact);
    const whole = window.from <= 0 && window.to > endOf(index);
    const offset = [...run.sources][0]!.clockOffset;
    const clock: CallWindow | undefined = whole
      ? undefined
      : {
          from: index.epoch + BigInt(Math.ceil(window.from)) - offset,
          to: index.epoch + BigInt(Math.ceil(window.to)) - offset,
        };
    const wanted = (name: string): boolean => !selection.conditional || calls.has(name);
    const { bytes, traffic } = withRings(index, run, () => messagesOfRun(run.files, clock, wanted));
    const figures = [...calls].map(([name, tally]): MpiCall => {
      const amount = bytes.get(name);
      return {
        name,
        count: tally.count,
        bytes: amount === undefined || Number.isNaN(amount) ? null : amount,
        p50: tally.percentile(50),
        p95: tally.percentile(95),
        p99: tally.percentile(99),
        max: tally.max,
        total: tally.total,
      };
    });
    figures.sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
    return { path: run.path, ranks: ranksOf(selection, run), calls: figures, traffic };
  });
}
