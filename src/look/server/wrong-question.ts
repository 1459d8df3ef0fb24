/** The page asked for something that cannot be: status 400, or the given one. */
export class WrongQuestion extends Error {
  override readonly name = 'WrongQuestion';
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}
