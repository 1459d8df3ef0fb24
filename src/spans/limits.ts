import { integerIn, ownOptions } from '../core/options/argument.js';

/** How much of a span is recorded. What is beyond is counted in the span's `dropped`. */
export interface SpanLimits {
  /** Attributes of a span, 0 to 65,535. Default 128, or `OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT`. */
  attributes?: number;
  /**
   * Characters of a text, 1 to 2^31 - 1; longer ones are cut. Default none, or
   * `OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT`.
   */
  valueLength?: number;
  /** Events of a span. Default 128, or `OTEL_SPAN_EVENT_COUNT_LIMIT`. */
  events?: number;
  /** Links of a span. Default 128, or `OTEL_SPAN_LINK_COUNT_LIMIT`. */
  links?: number;
  /** Attributes of an event. Default 128, or `OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT`. */
  eventAttributes?: number;
  /** Attributes of a link. Default 128, or `OTEL_LINK_ATTRIBUTE_COUNT_LIMIT`. */
  linkAttributes?: number;
}

export type CheckedLimits = Required<SpanLimits>;

const MOST = 0xffff;
const MOST_LENGTH = 0x7fff_ffff;
const DEFAULT = 128;

/** The value of a variable of limits; undefined: it is no whole number from 0 on. */
export function limitOf(text: string): number | undefined {
  const value = text.trim() === '' ? NaN : Number(text);
  return Number.isInteger(value) && value >= 0 ? value : undefined;
}

/** A limit by a variable of OpenTelemetry; one that is no number counts as not set. */
function variable(otherwise: number, most: number, ...names: string[]): number {
  for (const name of names) {
    const value = limitOf(process.env[name] ?? '');
    if (value !== undefined) return Math.min(value, most);
  }
  return otherwise;
}

/**
 * Fills in variables and defaults.
 *
 * @throws TracewrightError that names the option and its range.
 */
export function checkLimits(given: SpanLimits = {}): CheckedLimits {
  const options = ownOptions(
    given,
    ['attributes', 'valueLength', 'events', 'links', 'eventAttributes', 'linkAttributes'],
    'limits',
  );
  const count = (name: keyof SpanLimits, ...variables: string[]): number => {
    const option = options[name];
    return option === undefined
      ? variable(DEFAULT, MOST, ...variables)
      : integerIn(`limits.${name}`, option, 0, MOST);
  };
  return {
    attributes: count(
      'attributes',
      'OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT',
      'OTEL_ATTRIBUTE_COUNT_LIMIT',
    ),
    valueLength:
      options.valueLength === undefined
        ? Math.max(
            1,
            variable(
              MOST_LENGTH,
              MOST_LENGTH,
              'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT',
              'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT',
            ),
          )
        : integerIn('limits.valueLength', options.valueLength, 1, MOST_LENGTH),
    events: count('events', 'OTEL_SPAN_EVENT_COUNT_LIMIT'),
    links: count('links', 'OTEL_SPAN_LINK_COUNT_LIMIT'),
    eventAttributes: count('eventAttributes', 'OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT'),
    linkAttributes: count('linkAttributes', 'OTEL_LINK_ATTRIBUTE_COUNT_LIMIT'),
  };
}
