import { useApp } from '../../state/app.js';
import type { Run } from '../../../look/report/recording-sides.js';

interface SideChoiceProps {
  title: string;
  runs: readonly Run[];
  chosen: readonly string[];
  onChoice: (names: string[]) => void;
}

/** The recordings of one side of a comparison: one or several. */
export function SideChoice({ title, runs, chosen, onChoice }: SideChoiceProps) {
  const { recording } = useApp();
  const epoch = Number(BigInt(recording.answer?.epoch ?? '0') / 1_000_000n);
  return (
    <fieldset class="side">
      <legend>{title}</legend>
      {runs.map(({ name, service, begin }) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ currentTarget }) => {
              const others = chosen.filter((each) => each !== name);
              onChoice(currentTarget.checked ? [...others, name] : others);
            }}
          />
          {name}
          <span class="quiet">
            {service !== undefined && !name.includes(service) && ` ${service}`}{' '}
            {new Date(epoch + begin / 1e6).toISOString().slice(11, 19)} UTC
          </span>
        </label>
      ))}
    </fieldset>
  );
}
