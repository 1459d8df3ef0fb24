import { useState } from 'preact/hooks';
import type { RecordingAnswer } from '../../../look/wire/answers.js';
import { serviceOf } from '../../data/recording-data.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { fileName } from '../../time-line/axis-text.js';
import {
  markProcesses,
  type ProcessMark,
  showCurves,
  shownKey,
  shownProcesses,
} from '../../time-line/shown-processes.js';

/** Which processes are shown in full, and which come first; and whether their curves are shown. */
export function ProcessList({ answer }: { answer: RecordingAnswer }) {
  const { view } = useApp();
  useStore(view, shownKey);
  const [isOpen, open] = useState(false);
  const { samples, curves } = shownProcesses(view.value, answer);
  const sampled = sampledProcesses(answer);
  return (
    <>
      {answer.counters.length > 0 && (
        <button
          type="button"
          aria-pressed={curves}
          onClick={() => {
            showCurves(view, !curves);
          }}
        >
          Curves
        </button>
      )}
      {sampled.length > 0 && (
        <button
          type="button"
          aria-pressed={samples.size > 0}
          title="What threads ran, by their CPU samples"
          onClick={() => {
            markProcesses(view, answer, 'samples', sampled, samples.size === 0);
          }}
        >
          Samples
        </button>
      )}
      <details
        class="processes"
        onToggle={({ currentTarget }) => {
          open(currentTarget.open);
        }}
      >
        <summary>Processes</summary>
        {isOpen && <Processes answer={answer} sampled={sampled} />}
      </details>
    </>
  );
}

function sampledProcesses({ processes, sources }: RecordingAnswer): number[] {
  return processes
    .filter((process) => process.sources.some((number) => sources[number]!.profiled.length > 0))
    .map(({ number }) => number);
}

interface ProcessesProps {
  answer: RecordingAnswer;
  sampled: readonly number[];
}

/** A line for each process. */
function Processes({ answer, sampled }: ProcessesProps) {
  const { view } = useApp();
  const shown = shownProcesses(view.value, answer);
  const { folded } = shown;
  const { processes, sources } = answer;
  const all = processes.map(({ number }) => number);
  const marks: readonly ProcessMark[] =
    sampled.length > 0 ? ['folded', 'pinned', 'samples'] : ['folded', 'pinned'];
  return (
    <div>
      <button
        type="button"
        onClick={() => {
          markProcesses(view, answer, 'folded', all, folded.size < all.length);
        }}
      >
        {folded.size < all.length ? 'Fold all' : 'Unfold all'}
      </button>
      <table>
        <thead>
          <tr>
            <th scope="col">process</th>
            {marks.map((mark) => (
              <th key={mark} scope="col">
                {mark}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {processes.map((process) => {
            const { number, pid } = process;
            const service = fileName(serviceOf(sources[process.sources[0]!]!));
            const name = pid === undefined ? service : `${service} ${pid}`;
            return (
              <tr key={number}>
                <th scope="row">{name}</th>
                {marks.map((mark) => (
                  <td key={mark}>
                    <input
                      type="checkbox"
                      aria-label={`${name} ${mark}`}
                      disabled={mark === 'samples' && !sampled.includes(number)}
                      checked={shown[mark].has(number)}
                      onChange={({ currentTarget: { checked } }) => {
                        markProcesses(view, answer, mark, [number], checked);
                      }}
                    />
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
