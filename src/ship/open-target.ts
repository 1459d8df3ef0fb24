import { TracewrightError } from '../core/errors.js';
import { OtlpHttpTarget } from './otlp-http.js';
import { otlpSettings } from './otlp-settings.js';
import type { OtlpOptions } from './otlp-settings.js';
import type { ShipTarget } from './target.js';

/**
 * The target that a URL names: one file for each kind.
 *
 * @throws TracewrightError for a URL or a setting that is wrong.
 */
export function openTarget(options: OtlpOptions): ShipTarget {
  const { url } = options;
  const scheme =
    url === undefined ? 'http' : /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  switch (scheme) {
    case 'http':
    case 'https':
      return new OtlpHttpTarget(otlpSettings(options));
    default:
      throw new TracewrightError('ERR_ARGUMENT_RANGE', '--to must be a URL with http: or https:', {
        field: '--to',
        value: scheme,
        limit: 'http: or https:',
      });
  }
}
