import { gzipSync } from 'node:zlib';
import { BYTES, ProtobufBytes, tagOf, VARINT } from '../protobuf-bytes.js';
import type { StackFrame, ThreadStacks } from './sampled-stacks.js';

/** Fields of the messages of pprof's profile.proto. */
const PROFILE = {
  sampleType: 1,
  sample: 2,
  location: 4,
  function: 5,
  strings: 6,
  time: 9,
  length: 10,
  periodType: 11,
};
const VALUE_TYPE = { type: 1, unit: 2 };
const SAMPLE = { location: 1, value: 2, label: 3 };
const LABEL = { key: 1, text: 2 };
const LOCATION = { id: 1, line: 4 };
const LINE = { function: 1, line: 2 };
const FUNCTION = { id: 1, name: 2, systemName: 3, file: 4 };

/**
 * Stacks as gzipped protobuf for `go tool pprof`. The label `thread` says whose each is. Of allocations they have
 * values of their own, `inuse_objects` and `inuse_space`.
 */
export function pprofBytes(threads: readonly ThreadStacks[], epoch: bigint): Buffer {
  const profile = new ProtobufBytes();
  const strings = new Map<string, number>([['', 0]]);
  const functions = new Map<string, number>();
  const locations = new Map<string, number>();
  const message = (field: number, write: (to: ProtobufBytes) => void, to = profile): void => {
    const inner = new ProtobufBytes(64);
    write(inner);
    to.octets(tagOf(field, BYTES), inner.take());
  };
  const uint = (to: ProtobufBytes, field: number, value: number): void => {
    to.uint(tagOf(field, VARINT), value);
  };
  const stringOf = (text: string): number => {
    const known = strings.get(text) ?? strings.size;
    strings.set(text, known);
    return known;
  };
  const numberIn = (
    table: Map<string, number>,
    key: string,
    write: (id: number) => void,
  ): number => {
    const known = table.get(key);
    if (known !== undefined) return known;
    const id = table.size + 1;
    table.set(key, id);
    write(id);
    return id;
  };
  const functionOf = ({ name, file }: StackFrame): number =>
    numberIn(functions, `${name}\n${file}`, (id) => {
      message(PROFILE.function, (to) => {
        uint(to, FUNCTION.id, id);
        uint(to, FUNCTION.name, stringOf(name));
        uint(to, FUNCTION.systemName, stringOf(name));
        uint(to, FUNCTION.file, stringOf(file));
      });
    });
  const locationOf = (frame: StackFrame): number =>
    numberIn(locations, `${frame.name}\n${frame.file}\n${frame.line}`, (id) => {
      const own = functionOf(frame);
      message(PROFILE.location, (to) => {
        uint(to, LOCATION.id, id);
        message(
          LOCATION.line,
          (line) => {
            uint(line, LINE.function, own);
            uint(line, LINE.line, frame.line);
          },
          to,
        );
      });
    });
  const valueType = (field: number, type: string, unit: string): void => {
    message(field, (to) => {
      uint(to, VALUE_TYPE.type, stringOf(type));
      uint(to, VALUE_TYPE.unit, stringOf(unit));
    });
  };
  const hasBytes = threads.some(({ unit }) => unit === 'bytes');
  valueType(PROFILE.sampleType, 'samples', 'count');
  valueType(PROFILE.sampleType, 'wall', 'nanoseconds');
  if (hasBytes) {
    valueType(PROFILE.sampleType, 'inuse_objects', 'count');
    valueType(PROFILE.sampleType, 'inuse_space', 'bytes');
  }
  valueType(PROFILE.periodType, 'wall', 'nanoseconds');
  let [first, last] = [Infinity, -Infinity];
  for (const { thread, unit, stacks } of threads) {
    for (const { frames, time, weight, count } of stacks) {
      const own = [count, Math.round(weight)];
      let values = hasBytes ? [...own, 0, 0] : own;
      if (unit === 'bytes') values = [0, 0, ...own];
      else {
        first = Math.min(first, time);
        last = Math.max(last, time + weight);
      }
      const ids = frames.map(locationOf).reverse();
      message(PROFILE.sample, (to) => {
        for (const id of ids) uint(to, SAMPLE.location, id);
        for (const value of values) uint(to, SAMPLE.value, value);
        message(
          SAMPLE.label,
          (label) => {
            uint(label, LABEL.key, stringOf('thread'));
            uint(label, LABEL.text, stringOf(thread));
          },
          to,
        );
      });
    }
  }
  if (first < last) {
    profile.int(tagOf(PROFILE.time, VARINT), epoch + BigInt(Math.round(first)));
    profile.int(tagOf(PROFILE.length, VARINT), Math.round(last - first));
  }
  for (const text of strings.keys()) profile.text(tagOf(PROFILE.strings, BYTES), text);
  return gzipSync(profile.take());
}
