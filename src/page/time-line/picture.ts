interface FailedPixels {
  box: number;
  left: number;
  right: number;
}

type Column = Float64Array | Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;

/** A column of twice the length, which begins with this one. */
function wider(column: Column): Column {
  const larger = new (column.constructor as new (length: number) => Column)(2 * column.length);
  larger.set(column);
  return larger;
}

/**
 * The last frame, for hit tests and for tests of the page. Positions are in CSS pixels, as long as texts have their
 * usual size.
 */
export class Picture {
  /** Frames that were drawn since the page was opened. */
  frames = 0;
  /** Boxes with a text in them. */
  labelled = 0;
  size = 0;
  left = new Float32Array(4096);
  right = new Float32Array(4096);
  top = new Float32Array(4096);
  height = new Float32Array(4096);
  row = new Int32Array(4096);
  count = new Uint32Array(4096);
  name = new Uint32Array(4096);
  flags = new Uint8Array(4096);
  /** How many of the `count` rows failed. */
  failed = new Uint32Array(4096);
  /** CPU samples of a function; 0: the box is of rows. */
  samples = new Uint32Array(4096);
  /** Of samples: name and start of the span that they were of, whose row is `row` unless that is -1. */
  within = new Uint32Array(4096);
  withinStart = new Float64Array(4096);
  track = new Uint32Array(4096);
  lane = new Uint16Array(4096);
  start = new Float64Array(4096);
  end = new Float64Array(4096);
  /** 1: in a lane of several, where even one row has the times of pixels. */
  folded = new Uint8Array(4096);
  /** Pixels of merged boxes in which rows begin that failed. */
  readonly marks: FailedPixels[] = [];

  clear(): void {
    this.size = 0;
    this.labelled = 0;
    this.marks.length = 0;
  }

  /** @returns the number of a new box in the columns. */
  add(): number {
    if (this.size === this.row.length) this.#grow();
    return this.size++;
  }

  /** The box at a point, or nearly, the one that was drawn last: -1 if there is none. */
  at(x: number, y: number): number {
    let best = -1;
    let distance = 4;
    for (let box = this.size - 1; box >= 0; box--) {
      if (y < this.top[box]! || y >= this.top[box]! + this.height[box]!) continue;
      const off = Math.max(0, this.left[box]! - x, x - this.right[box]!);
      if (off < distance) [best, distance] = [box, off];
      if (off === 0) return box;
    }
    return best;
  }

  /** Whether a box is one row at its own times: of one that is narrow or merged, they are those of a pixel. */
  isExact(box: number): boolean {
    return (
      this.count[box] === 1 && this.folded[box] === 0 && this.right[box]! - this.left[box]! > 2
    );
  }

  #grow(): void {
    for (const [name, column] of Object.entries(this)) {
      if (ArrayBuffer.isView(column)) Object.assign(this, { [name]: wider(column as Column) });
    }
  }
}

/** The canvas of the time line. Tests read its picture. */
export interface TimeLineCanvas extends HTMLCanvasElement {
  picture?: Picture;
}
