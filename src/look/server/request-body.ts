import type { IncomingMessage } from 'node:http';
import { WrongQuestion } from './wrong-question.js';

/** No question of the page is longer, in bytes. */
const MOST = 1 << 20;

/** @throws WrongQuestion if the body is too long or no JSON. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MOST) throw new WrongQuestion(`a body has at most ${MOST} bytes`, 413);
    pieces.push(piece);
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8')) as unknown;
  } catch {
    throw new WrongQuestion('the body must be JSON');
  }
}
