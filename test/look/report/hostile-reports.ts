import { startSpan } from '../../../src/spans/start-span.js';
import { recording, reportOn } from './recorded-service.js';

/** What programs may call their spans. */
export const NAMES = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onload='alert(1)",
  '</title></style><iframe src="https://example.com">',
  '<!-- ${alert(1)} `alert(1)` -->',
  '\u001b]0;title\u0007\u001b[31mred\u001b[2J',
  '\u202egnp.exe\u2066',
  'line\nbreak\r\ttab\0null',
  '\ud800 alone',
  '__proto__',
  'constructor',
  '漢字'.repeat(3000),
  'x'.repeat(60_000),
  '',
];

const SECOND = 1_000_000_000n;
/** The last time that a span can have: 228 years from now. */
const LAST = 9_000_000_000n * SECOND;

function hostileSpans(): void {
  const now = BigInt(Date.now()) * 1_000_000n;
  for (const [at, name] of NAMES.entries()) {
    const attributes = { 'http.route': name, [name === '' ? 'empty' : name]: name };
    const start = now + BigInt(at) * SECOND;
    const options = { kind: 'server', parent: null, startTime: start } as const;
    const request = startSpan(name, attributes, options);
    const inner = startSpan(name, {}, { parent: request, startTime: start });
    for (let depth = 0; depth < 3; depth++) {
      startSpan(name, {}, { parent: inner, startTime: start }).end(start + 5n);
    }
    inner.end(start + 1000n);
    request.fail(new Error(name));
    // One that lasts for centuries, one that ends before it begins.
    request.end(at === 0 ? LAST : at === 1 ? start - SECOND : start + SECOND);
  }
}

export async function hostileReports(): Promise<Awaited<ReturnType<typeof reportOn>>[]> {
  const { path } = await recording(hostileSpans, { service: NAMES[1]! });
  return Promise.all(
    (['route', 'name', 'service'] as const).map((by) => reportOn([path], { by, slowest: 20 })),
  );
}
