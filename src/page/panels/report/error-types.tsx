import type { ErrorsAnswer } from '../../../look/wire/panel-answers.js';
import { choiceFields, choiceOf } from '../../data/choice.js';
import { useApp } from '../../state/app.js';
import { countText } from '../../time-line/duration-text.js';
import { ColumnHeads } from '../column-heads.js';
import { useAnswer } from '../use-answer.js';
import { ErrorsLink } from './errors-link.js';

/** More types nobody reads. */
const MOST_TYPES = 20;

/** Why spans failed, by `error.type` and name. @param choice what the panel is about, as text. */
export function ErrorTypes({ choice }: { choice: string }) {
  const app = useApp();
  const { answer } = useAnswer<ErrorsAnswer>(choice, (signal) =>
    app.server.json<ErrorsAnswer>('/data/errors', choiceFields(choiceOf(app.view.value)), signal),
  );
  if (answer === undefined || answer.errors === 0) return null;
  const { errors, read, types } = answer;
  const part = read < errors ? `: ${countText(read)} of ${countText(errors)}, taken evenly` : '';
  return (
    <table class="figures">
      <caption>Errors by type, the most first{part}</caption>
      <ColumnHeads words={['type', 'span', 'service']} numbers={['count']} />
      <tbody>
        {types.slice(0, MOST_TYPES).map(({ type, name, service, count, where }) => (
          <tr key={JSON.stringify([type, name, service])}>
            <th scope="row">{type ?? 'no error.type'}</th>
            <td>{name}</td>
            <td>{service ?? '–'}</td>
            <td class="number">
              <ErrorsLink where={where} text={countText(count)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
