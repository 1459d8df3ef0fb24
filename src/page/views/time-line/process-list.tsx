import type { RecordingAnswer } from '../../../look/wire/answers.js';
import { serviceOf } from '../../data/recording-data.js';
import { useApp } from '../../state/app.js';
import { useStore } from '../../state/store.js';
import { fileName } from '../../time-line/axis-text.js';
import { markProcesses, showCurves, shownProcesses } from '../../time-line/shown-processes.js';

/** Which processes are shown in full, and which come first; and whether their curves are shown. */
export function ProcessList({ answer }: { answer: RecordingAnswer }) {
  const { view } = useApp();
  const state = useStore(view, (each) => each);
  const { folded, pinned, curves } = shownProcesses(state, answer);
  const { processes, sources, counters } = answer;
  const all = processes.map(({ number }) => number);
  return (
    <>
      {counters.length > 0 && (
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
      <details class="processes">
        <summary>Processes</summary>
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
                <th scope="col">folded</th>
                <th scope="col">pinned</th>
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
                    {(['folded', 'pinned'] as const).map((mark) => (
                      <td key={mark}>
                        <input
                          type="checkbox"
                          aria-label={`${name} ${mark}`}
                          checked={(mark === 'folded' ? folded : pinned).has(number)}
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
      </details>
    </>
  );
}
