import type { SpanRecord } from '../../spans/span-record.js';
import { sameAttribute } from '../../spans/read/older-names.js';
import { systemOf } from '../../spans/read/system-of.js';
import type { Condition } from '../index/look-index.js';

/** A test for a text in which `*` is any text. Linear in the text, whatever the pattern is. */
export function textPattern(pattern: string): (text: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    if (!text.startsWith(first) || text.length < first.length + last.length) return false;
    let at = first.length;
    const end = text.length - last.length;
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return text.endsWith(last);
  };
}

/** The value of an attribute as conditions compare it. */
export function attributeText(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (!Array.isArray(value)) return String(value);
  return `[${value.map(attributeText).join(',')}]`;
}

/**
 * A test for spans as readers yield them.
 *
 * @param condition whose `missingParent` is not tested: one span does not say it.
 * @param epoch zero of the condition's times, in nanoseconds since 1970.
 */
export function spanCondition(condition: Condition, epoch: bigint): (span: SpanRecord) => boolean {
  const tests: ((span: SpanRecord) => boolean)[] = [];
  const { from, to, name, service, system, status, kind, unfinished, traceId } = condition;
  if (from !== undefined) {
    const least = epoch + BigInt(Math.ceil(from));
    tests.push(({ start, end }) => end > least || start >= least);
  }
  if (to !== undefined) {
    const limit = epoch + BigInt(Math.ceil(to));
    tests.push(({ start }) => start < limit);
  }
  if (name !== undefined) {
    const matches = textPattern(name);
    tests.push((span) => matches(span.name));
  }
  if (service !== undefined) {
    tests.push(({ resource }) => resource?.attributes['service.name'] === service);
  }
  if (system !== undefined) tests.push(({ attributes }) => systemOf(attributes) === system);
  if (status !== undefined) tests.push((span) => span.status.code === status);
  if (kind !== undefined) tests.push((span) => span.kind === kind);
  if (unfinished !== undefined) tests.push((span) => span.unfinished === unfinished);
  if (traceId !== undefined) tests.push((span) => span.traceId === traceId);
  const { minDuration, maxDuration } = condition;
  if (minDuration !== undefined) {
    tests.push(({ start, end }) => Number(end - start) >= minDuration);
  }
  if (maxDuration !== undefined) {
    tests.push(({ start, end }) => Number(end - start) <= maxDuration);
  }
  const hasAttributes = attributesCondition(condition);
  if (hasAttributes !== undefined) tests.push(({ attributes }) => hasAttributes(attributes));
  return (span) => tests.every((test) => test(span));
}

/** Whether a value, or an element of it, reads so. */
function isValue(value: unknown, wanted: string): boolean {
  // The text of -0 is that of 0.
  if (attributeText(value) === wanted && !Object.is(value, -0)) return true;
  if (Array.isArray(value)) return value.some((each) => isValue(each, wanted));
  return Number.isFinite(value) && wanted.trim() !== '' && Object.is(value, Number(wanted));
}

/** A test for the attributes that a condition asks for; undefined: it asks for none. */
export function attributesCondition({
  attributes: wanted = [],
}: Condition): ((attributes: Readonly<Record<string, unknown>>) => boolean) | undefined {
  if (wanted.length === 0) return undefined;
  const all = wanted.map(({ name, value }) => ({ names: sameAttribute(name), value }));
  return (attributes) =>
    all.every(({ names, value }) =>
      names.some((each) => Object.hasOwn(attributes, each) && isValue(attributes[each], value)),
    );
}

/**
 * A test for rows that are no spans: by their ns, their name, and their attributes if these decide. A condition that
 * only spans can meet is met by none.
 */
export type RowTest = (
  start: number,
  end: number,
  name: string,
  attributes: () => Readonly<Record<string, unknown>>,
) => boolean;

/** See `RowTest`; the condition's times are not tested. */
export function rowCondition(condition: Condition): RowTest {
  const { name, minDuration = -Infinity, maxDuration = Infinity, ...others } = condition;
  const {
    service,
    system,
    status,
    kind,
    unfinished = false,
    missingParent = false,
    traceId,
  } = others;
  const ofSpans = [service, system, status, kind, traceId].some((each) => each !== undefined);
  if (ofSpans || unfinished || missingParent) return () => false;
  const matches = name === undefined ? () => true : textPattern(name);
  const hasAttributes = attributesCondition(condition);
  return (start, end, own, attributes) =>
    end - start >= minDuration &&
    end - start <= maxDuration &&
    matches(own) &&
    (hasAttributes === undefined || hasAttributes(attributes()));
}
