import type { SpanRecord } from '../../spans/span-record.js';
import { sameAttribute } from '../../spans/read/older-names.js';
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
  const { from, to, name, service, status, kind, unfinished, traceId } = condition;
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
  for (const wanted of condition.attributes ?? []) {
    const names = sameAttribute(wanted.name);
    tests.push(({ attributes }) =>
      names.some(
        (each) =>
          Object.hasOwn(attributes, each) && attributeText(attributes[each]) === wanted.value,
      ),
    );
  }
  return (span) => tests.every((test) => test(span));
}
