/** A row of a tree, in the order of the tree. */
interface Row {
  depth: number;
  /** Siblings that it is for; their own rows are below it. */
  repeated: number;
}

/** Which rows of a tree are shown: all but those below one that is closed. Rows are given by their numbers. */
export class TreeRows {
  readonly #rows: readonly Row[];
  readonly #above: Int32Array;
  /** Where what is below a row ends. */
  readonly #end: Int32Array;

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
    const path: number[] = [];
    this.#end = new Int32Array(rows.length).fill(rows.length);
    this.#above = Int32Array.from(rows, ({ depth }, at) => {
      // Rows that were left out may have been between.
      while (path.length > 0 && rows[path.at(-1)!]!.depth >= depth) this.#end[path.pop()!] = at;
      const above = path.at(-1) ?? -1;
      path.push(at);
      return above;
    });
  }

  /** Siblings that are equal are one row at first. */
  closedAtFirst(): Set<number> {
    return this.#where((at) => this.#rows[at]!.repeated > 1);
  }

  /** The rows that have others below them. */
  parents(): Set<number> {
    return this.#where((at) => this.hasChildren(at));
  }

  #where(is: (at: number) => boolean): Set<number> {
    return new Set(this.#rows.map((_, at) => at).filter(is));
  }

  hasChildren(at: number): boolean {
    return this.#end[at]! > at + 1;
  }

  /** The row above one; -1: none is. */
  above(at: number): number {
    return this.#above[at] ?? -1;
  }

  /** The rows right below one. */
  *children(at: number): Generator<number, void> {
    for (let next = at + 1; next < this.#end[at]!; next = this.#end[next]!) yield next;
  }

  shown(closed: ReadonlySet<number>): number[] {
    const shown: number[] = [];
    for (let at = 0; at < this.#rows.length; at = closed.has(at) ? this.#end[at]! : at + 1) {
      shown.push(at);
    }
    return shown;
  }

  /** Without those that are above a row: it is shown then. */
  opened(closed: ReadonlySet<number>, at: number): Set<number> {
    const open = new Set(closed);
    for (let above = this.above(at); above >= 0; above = this.above(above)) open.delete(above);
    return open;
  }
}
