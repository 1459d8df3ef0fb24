import type { RecordingAnswer } from '../../look/wire/answers.js';
import { useApp } from '../state/app.js';

/** Says what the recording lacks, in a word; more when it opens. */
export function LacksChip({ answer }: { answer: RecordingAnswer }) {
  const { navigate } = useApp();
  const lacks = lacksOf(answer);
  if (lacks.length === 0) return <span class="chip">complete</span>;
  return (
    <details class="chip">
      <summary>{lacks.map(([word]) => word).join(', ')}</summary>
      <ul>
        {lacks.map(([word, reason]) => (
          <li key={word}>{reason}</li>
        ))}
        <li>
          <button
            type="button"
            onClick={() => {
              navigate('overview', { parameters: { at: 'recordings' } });
            }}
          >
            Show the recordings
          </button>
        </li>
      </ul>
    </details>
  );
}

/** Each thing that is missing: a word, and a sentence. */
function lacksOf({ live, sources, problems, isSelected }: RecordingAnswer): [string, string][] {
  const lacks: [string, string][] = [];
  if (!live && sources.some(({ until }) => until !== undefined)) {
    const how = 'What it records from now on is shown with --live.';
    lacks.push(['still running', `A process was running when its recording was read. ${how}`]);
  }
  const unreadable = problems.length > 0 || sources.some(({ losses }) => losses.some(isUnreadable));
  if (unreadable) lacks.push(['parts unreadable', 'A part of the recording cannot be read.']);
  const lost = sources.flatMap(({ losses }) => losses.filter((loss) => !isUnreadable(loss)));
  if (lost.length > 0) lacks.push(['lost events', lost.map(({ reason }) => reason).join('; ')]);
  if (sources.some(({ sampled }) => sampled < 1)) {
    lacks.push(['sampled', 'A service records a share of its traces; counts are estimates.']);
  }
  if (isSelected) {
    lacks.push(['kept traces only', 'A service keeps slow and failed traces; others are counted.']);
  }
  if (sources.some(({ deleted }) => deleted !== undefined)) {
    lacks.push(['earlier pieces deleted', 'The budget of a recording deleted earlier pieces.']);
  }
  return lacks;
}

function isUnreadable({ isUnreadable: is }: { isUnreadable?: boolean | undefined }): boolean {
  return is === true;
}
