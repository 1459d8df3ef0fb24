import { errorTypeText, errorsTitle } from '../../../look/report/error-texts.js';
import type { FailedSpans } from '../../../look/report/report-shape.js';
import { countText } from '../../time-line/duration-text.js';
import { ColumnHeads } from '../column-heads.js';
import { ErrorsLink } from './errors-link.js';

/** More types nobody reads. */
const MOST_TYPES = 20;

/** Why spans failed, by `error.type` and name. */
export function ErrorTypes(errors: FailedSpans) {
  const { types } = errors;
  return (
    <table class="figures">
      <caption>{errorsTitle(errors)}</caption>
      <ColumnHeads words={['type', 'span', 'service']} numbers={['count']} />
      <tbody>
        {types.slice(0, MOST_TYPES).map((each) => (
          <tr key={JSON.stringify([each.type, each.name, each.service])}>
            <th scope="row">{errorTypeText(each)}</th>
            <td>{each.name}</td>
            <td>{each.service ?? '–'}</td>
            <td class="number">
              <ErrorsLink where={each.where} text={countText(each.count)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
