import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** The secret of one run of the server. Only the address that the command prints contains it. */
export class Token {
  /** 43 characters that a URL's fragment holds as they are. */
  readonly text = randomBytes(32).toString('base64url');
  readonly #digest = digestOf(this.text);

  /** Takes the same time for every wrong text. */
  matches(given: string | undefined): boolean {
    return given !== undefined && timingSafeEqual(digestOf(given), this.#digest);
  }
}

/** Of one length, whatever the text is: a comparison in constant time needs that. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
