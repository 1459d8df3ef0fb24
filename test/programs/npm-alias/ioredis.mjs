// ioredis before its own channels, installed under another name.
import Redis from 'cache';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const alone = 'OpenTelemetry finds a module by its name: it has no command of this one.';
export const expected = `
own request
  client redis GET
`;

export async function run() {
  const redis = new Redis();
  await redis.ping();
  await own('request', () => redis.get(`programs:${process.pid}`));
  redis.disconnect();
}
