import { waitName } from '../../../look/report/print/report-texts.js';
import { countText, durationText, shareText } from '../../../look/report/measures/units.js';
import type { Group } from '../../../look/report/shape/report-shape.js';
import type { WaitedFor } from '../../../look/report/shape/trace-shape.js';
import { useApp } from '../../state/app.js';
import { cssColour, OTHER_COLOUR } from '../../theme/palette.js';

/** What the time of one request went to, as the report says it. */
export function RequestParts({ group }: { group: Group }) {
  const { recording } = useApp();
  const { waitedFor, sampled, recorded, total, count, service } = group;
  const mean = total / Math.max(1, count);
  if (waitedFor.length === 0) {
    return <p class="quiet">What its time went to is not known: none was looked at.</p>;
  }
  const rest = 1 - waitedFor.reduce((sum, { share }) => sum + share, 0);
  const colourOf = ({ kind, name, isItself }: WaitedFor): string => {
    if (kind === 'span') return isItself ? 'var(--accent)' : recording.nameColours.of(name);
    return cssColour(kind === 'collection' ? 'collection' : 'stall');
  };
  const parts = [
    ...waitedFor.map((each) => ({
      name: waitName(each, service),
      share: each.share,
      colour: colourOf(each),
    })),
    ...(rest > 0.0005 ? [{ name: 'other', share: rest, colour: OTHER_COLOUR }] : []),
  ];
  return (
    <table class="figures parts">
      <caption>One request, {durationText(mean)} on average</caption>
      <tbody>
        {parts.map(({ name, share, colour }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="number">{durationText(share * mean)}</td>
            <td class="number">{shareText(share)}</td>
            <td class="part-bar" aria-hidden="true">
              <div style={{ width: `${(share * 100).toFixed(2)}%`, backgroundColor: colour }} />
            </td>
          </tr>
        ))}
      </tbody>
      {sampled < recorded && (
        <tfoot>
          <tr>
            <td colSpan={4} class="quiet">
              Estimated from {countText(sampled)} of {countText(recorded)}: those that met a blocked
              loop, and others evenly by number and time.
            </td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}
