import { MAX_U16 } from '../../heph/layout.js';

/** The most characters that the JSON of an object may take. */
const MOST = MAX_U16;

/**
 * The JSON of an object, or undefined where there is none or it takes more than 65,535 characters.
 *
 * @throws RangeError as soon as the object has more values than that: a proxy may state any length.
 */
export function jsonOf(value: object): string | undefined {
  let values = 0;
  const json = JSON.stringify(value, (_name, each: unknown) => {
    if (++values > MOST) throw new RangeError(`more than ${MOST} values`);
    return each;
  }) as string | undefined;
  return json === undefined || json.length > MOST ? undefined : json;
}
