import { wrongSetting } from './errors.js';
import { NatsTarget } from './nats-target.js';
import { natsSettings } from './nats-settings.js';
import { OtlpHttpTarget } from './otlp-http.js';
import { otlpSettings } from './otlp-settings.js';
import type { OtlpOptions } from './otlp-settings.js';
import { parquetSettings } from './parquet-settings.js';
import { ParquetTarget } from './parquet-target.js';
import type { ShipTarget } from './target.js';

/** Options of a command line that concern one target. */
interface TargetOptions extends OtlpOptions {
  /** Limits of the NATS stream to create, as they were given. */
  createStream?: string | undefined;
  /** When a file of Parquet is complete, as it was given. */
  roll?: string | undefined;
  /** Takes messages for a person. */
  onNote: (text: string) => void;
}

/** URLs that a target can have, for messages. */
const SCHEMES = 'a URL with http:, https:, nats:, tls: or file:';

/**
 * The target that a URL names: one file for each kind.
 *
 * @throws TracewrightError for a URL or a setting that is wrong.
 */
export function openTarget(options: TargetOptions): ShipTarget {
  const { url } = options;
  const scheme =
    url === undefined ? 'http' : /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  switch (scheme) {
    case 'http':
    case 'https':
      return new OtlpHttpTarget(otlpSettings(options));
    case 'nats':
    case 'tls':
      return new NatsTarget(natsSettings(url!, options.createStream), options.onNote);
    case 'file':
      return new ParquetTarget(parquetSettings(url!, options.roll), options.onNote);
    default:
      throw wrongSetting('--to', scheme, SCHEMES);
  }
}
