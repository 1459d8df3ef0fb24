import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openKernelEvents } from '../../../src/laplace/write/kernel-events.js';
import { readKernelEvents } from '../../../src/laplace/read/kernel-reader.js';
import { readReferences } from '../../../src/laplace/read/reference-reader.js';
import { openReferences } from '../../../src/laplace/write/references.js';
import { fileIn, temporaryDirectory } from '../temporary-directory.js';

const directory = temporaryDirectory();
const anything = (value: unknown): never => value as never;

describe.each(['binary', 'text'] as const)('a %s reference trace', (form) => {
  const path = fileIn(directory);
  const references = openReferences(path, { form });
  it.each([
    ['timestamp', [-1, 1, 1, 1]],
    ['timestamp', [0.5, 1, 1, 1]],
    ['timestamp', [NaN, 1, 1, 1]],
    ['timestamp', [2 ** 53, 1, 1, 1]],
    ['timestamp', [-1n, 1, 1, 1]],
    ['timestamp', [2n ** 64n, 1, 1, 1]],
    ['timestamp', ['1', 1, 1, 1]],
    ['timestamp', [null, 1, 1, 1]],
    ['length', [1, 256, 1, 1]],
    ['length', [1, -1, 1, 1]],
    ['length', [1, 1n, 1, 1]],
    ['length', [1, undefined, 1, 1]],
    ['space', [1, 1, 2 ** 32, 1]],
    ['space', [1, 1, 0.5, 1]],
    ['address', [1, 1, 1, 2 ** 32]],
    ['address', [1, 1, 1, -1]],
    ['address', [1, 1, 1, '4']],
    ['address', [1, 1, 1, 2n ** 40n]],
    ['address', [1, 1, 1]],
  ])('refuses a wrong %s: %o', (field, values) => {
    for (const method of ['load', 'store', 'fetch'] as const) {
      expect(() => {
        (references[method] as (...values: unknown[]) => void)(...values);
      }).toThrow(expect.objectContaining({ name: 'TracewrightError', field }));
    }
  });

  it.each(['', 'rw', ' ', '\n', '\u007f', 'ä', 7, undefined])('refuses the type %o', (type) => {
    expect(() => {
      references.reference(anything(type), 1, 1, 1, 1);
    }).toThrow(expect.objectContaining({ field: 'type' }));
  });

  it.each([
    ['references.length', Buffer.alloc(17)],
    ['references[18]', Buffer.concat([Buffer.alloc(18, 'r'), Buffer.alloc(18)])],
    ['address', [1, 2]],
    ['references', undefined],
    ['address', { type: 'r', length: 1, space: 1 }],
    ['type[1]', { type: Buffer.from('r\n'), length: 1, space: 1, address: new Uint32Array(2) }],
    ['type.length', { type: Buffer.from('r'), length: 1, space: 1, address: new Uint32Array(2) }],
    ['length', { type: 'r', length: 256, space: 1, address: new Uint32Array(1) }],
    ['length', { type: 'r', length: '1', space: 1, address: new Uint32Array(1) }],
    ['space', { type: 'r', length: 1, space: -1, address: new Uint32Array(1) }],
    [
      'space.length',
      { type: 'r', length: 1, space: new Uint32Array(3), address: new Uint32Array(1) },
    ],
    [
      'timestamp[1]',
      {
        type: 'r',
        timestamp: Float64Array.of(1, -1),
        length: 1,
        space: 1,
        address: new Uint32Array(2),
      },
    ],
    ['timestamp', { type: 'r', timestamp: [1], length: 1, space: 1, address: new Uint32Array(1) }],
    [
      'references option',
      {
        type: 'r',
        timestamps: Float64Array.of(1),
        length: 1,
        space: 1,
        address: new Uint32Array(1),
      },
    ],
  ])('refuses a batch with a wrong %s', (field, batch) => {
    expect(() => {
      references.batch(anything(batch));
    }).toThrow(
      expect.objectContaining({
        name: 'TracewrightError',
        field: expect.stringContaining(field.replace('[0]', '')) as string,
      }),
    );
  });

  it('believes no array what it says of itself', () => {
    const liar = new Uint32Array(1);
    Object.defineProperty(liar, 'length', { value: 1_000_000 });
    const detached = new Uint32Array(1);
    structuredClone(null, { transfer: [detached.buffer] });
    const disguised = Object.setPrototypeOf(new Uint16Array(1), Uint32Array.prototype) as never;
    const batch = { type: 'r', timestamp: Float64Array.of(1), length: 1, space: 1 };
    for (const [field, wrong] of [
      ['timestamp.length', { ...batch, address: new Uint32Array(1_000_000) }],
      ['space.length', { ...batch, space: detached, address: new Uint32Array(1) }],
      ['address', { ...batch, address: disguised }],
      ['address', { ...batch, address: Object.create(Uint32Array.prototype) as never }],
      ['timestamp.length', { ...batch, timestamp: new Float64Array(1_000_000), address: liar }],
    ] as const) {
      expect(() => {
        references.batch(wrong);
      }).toThrow(expect.objectContaining({ name: 'TracewrightError', field }));
    }
    const gone = new Uint8Array(18).fill(0x72);
    structuredClone(null, { transfer: [gone.buffer] });
    for (const [field, wrong] of [
      ['address', { ...batch, timestamp: new Float64Array(0), address: detached }],
      ['references', gone],
    ] as const) {
      expect(() => {
        references.batch(wrong);
      }).toThrow(expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE', field }));
    }
    references.batch({ ...batch, timestamp: new Float64Array(0), address: new Uint32Array(0) });
    const packed = Buffer.from('r');
    Object.defineProperty(packed, 'length', { value: 18 });
    expect(() => {
      references.batch(packed);
    }).toThrow(expect.objectContaining({ field: 'references.length' }));
  });

  it('holds nothing of what was refused, and nothing after its end', () => {
    references.load(1, 2, 3, 4);
    references.close();
    references.close();
    expect([...readReferences(path, { form })]).toHaveLength(1);
    const closed = expect.objectContaining({ code: 'ERR_CLOSED' }) as Error;
    expect(() => {
      references.load(1, 2, 3, 4);
    }).toThrow(closed);
    expect(() => {
      references.batch(new Uint8Array(0));
    }).toThrow(closed);
    expect(() => {
      references.flush();
    }).toThrow(closed);
  });
});

describe('opening', () => {
  it.each([
    ['path', '', {}],
    ['path', 7, {}],
    ['path', 'a\0b', {}],
    ['form', 'x', { form: 'xml' }],
    ['endian', 'x', { endian: 'middle' }],
    ['exists', 'x', { exists: true }],
    ['ringBytes', 'x', { ringBytes: 1 }],
    ['onFull', 'x', { onFull: 'wait' }],
    ['options', 'x', null],
    ['option', 'x', { edian: 'big' }],
    ['option', 'x', { exist: 'replace' }],
  ])('refuses a wrong %s', (field, path, options) => {
    expect(() => openReferences(anything(path), anything(options))).toThrow(
      expect.objectContaining({ name: 'TracewrightError', field }),
    );
  });
});

describe('a trace whose file is gone', () => {
  it.each(['references', 'kernel events'])('tells onFault: %s', async (kind) => {
    const path = fileIn(directory);
    const open = kind === 'references' ? openReferences : openKernelEvents;
    let tell: (fault: unknown) => void = () => undefined;
    const told = new Promise((resolve) => {
      tell = resolve;
    });
    const trace = open(path, {
      onFault: (fault) => {
        tell(fault);
      },
    });
    rmSync(path);
    if ('load' in trace) trace.load(1, 2, 3, 4);
    else trace.schedule(1, 2);
    expect(() => {
      trace.flush();
    }).toThrow(expect.objectContaining({ code: 'ERR_SYSTEM', value: path }));
    await expect(told).resolves.toMatchObject({ target: path, over: false, code: 'ENOENT' });
    trace.close();
  });
});

describe('a kernel trace', () => {
  it.each([
    '',
    'a\nb',
    '\n',
    'a\r',
    'a\rb',
    'a\0',
    'a\ud800',
    '\udc00b',
    `${'x'.repeat(9000)}\r`,
    'x'.repeat(16_385),
    'ä'.repeat(8193),
    7,
  ])('refuses the file name %o', (name) => {
    const kernel = openKernelEvents(fileIn(directory));
    expect(() => {
      kernel.openFile(1, 2, 3, 4, 5, anything(name));
    }).toThrow(expect.objectContaining({ field: 'fileName' }));
    kernel.close();
  });

  it('refuses wrong numbers by the name of their field', () => {
    const path = fileIn(directory);
    const kernel = openKernelEvents(path);
    const refused = (field: string, run: () => void): void => {
      expect(run).toThrow(expect.objectContaining({ field }));
    };
    refused('timestamp', () => {
      kernel.schedule(-1, 1);
    });
    refused('task', () => {
      kernel.schedule(1, 2 ** 32);
    });
    refused('newTask', () => {
      kernel.fork(1, 1, anything(undefined));
    });
    refused('fileOffset', () => {
      kernel.readFile(1, 1, 1, 1, 1, -1, 1);
    });
    kernel.openFile(1, 2, 3, 4, 5, 'x'.repeat(16_384));
    kernel.close();
    expect([...readKernelEvents(path)]).toHaveLength(2);
    expect(() => {
      kernel.schedule(1, 1);
    }).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }));
  });
});
