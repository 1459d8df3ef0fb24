import { describe, expect, it } from 'vitest';
import { SETTINGS } from '../../../src/core/settings/table.js';
import { propagationPolicy } from '../../../src/node/requests/propagation-policy.js';

const parsePropagation = SETTINGS.PROPAGATE.kind.parse;
const parseTrust = SETTINGS.TRUST.kind.parse;

describe('propagation', () => {
  it.each([
    ['auto', 'any.example', true, false],
    ['off', 'any.example', false, false],
    ['api.example', 'api.example', true, true],
    ['api.example', 'API.example', true, true],
    ['api.example', 'evil-api.example', false, false],
    ['*.corp.example', 'a.b.corp.example', true, true],
    ['*.corp.example', 'evilcorp.example', false, false],
    ['auto, api.example', 'other.example', true, false],
    ['auto,api.example', 'api.example', true, true],
  ])('%s, to %s', (text, host, trace, baggage) => {
    const propagation = parsePropagation(text)!;
    const policy = propagationPolicy(propagation, []);
    expect(policy.sendsTrace(host)).toBe(trace);
    expect(policy.sendsBaggage(host)).toBe(baggage);
  });

  it.each(['', ',', 'off,api.example', 'https://api.example', 'a b'])('is not %j', (text) => {
    expect(parsePropagation(text)).toBeUndefined();
  });
});

describe('trust', () => {
  it.each([
    ['loopback', '127.0.0.1', true],
    ['loopback', '::ffff:127.0.0.9', true],
    ['loopback', '::1', true],
    ['loopback', undefined, true],
    ['loopback', '10.0.0.1', false],
    ['none', '127.0.0.1', false],
    ['all', '203.0.113.9', true],
    ['loopback,10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '::1', false],
  ])('%s, in %s', (text, address, trusted) => {
    const trust = parseTrust(text)!;
    const propagation = { everywhere: true, hosts: [] };
    expect(propagationPolicy(propagation, trust).trusts(address)).toBe(trusted);
  });

  it.each(['', 'all,none', 'api.example'])('is not in %j', (text) => {
    expect(parseTrust(text)).toBeUndefined();
  });
});
