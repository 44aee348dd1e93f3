const SMALLEST_BLOCK = 1_024;
const LARGEST_BLOCK = 64 * 1_024;

/**
 * Received bytes. The first chunks are kept as they are, as long as each is large and alone in its memory: copying the
 * one or two of an ordinary delivery tripled the memory that the garbage collector had to return. Everything after
 * them is copied into blocks of our own, because each chunk costs an object: 6 MB, received in chunks of one byte,
 * took 500 MB. A new block is as large as what is held already, within bounds, so the blocks hold at most twice what
 * arrived, plus 1 KB.
 */
export class Gathered {
  #blocks: Buffer[] = [];
  /** Of the last block. */
  #used = 0;
  #copies = false;
  /** Received bytes. */
  length = 0;

  /** The additional bytes that adding the chunk would allocate. */
  cost(chunk: Buffer): number {
    if (this.#keeps(chunk)) return chunk.length;
    const missing = chunk.length - this.#free();
    return missing <= 0 ? 0 : Math.max(missing, this.#nextBlock());
  }

  add(chunk: Buffer): void {
    if (this.#keeps(chunk)) {
      this.#blocks.push(chunk);
      this.#used = chunk.length;
      this.length += chunk.length;
      return;
    }
    this.#copies = true;
    const cost = this.cost(chunk);
    const fitting = Math.min(chunk.length, this.#free());
    const last = this.#blocks.at(-1);
    if (last) chunk.copy(last, this.#used, 0, fitting);
    this.#used += fitting;
    if (cost > 0) {
      const block = Buffer.allocUnsafeSlow(cost);
      chunk.copy(block, 0, fitting);
      this.#blocks.push(block);
      this.#used = chunk.length - fitting;
    }
    this.length += chunk.length;
  }

  /** Returns all bytes as one buffer and empties this object. */
  take(): Buffer {
    const [first, ...others] = this.#blocks;
    const isWhole = first?.length === this.length && others.length === 0;
    const whole = isWhole ? first : Buffer.concat(this.#blocks, this.length);
    this.drop();
    return whole;
  }

  drop(): void {
    this.#blocks = [];
    this.#used = 0;
    this.#copies = false;
    this.length = 0;
  }

  #keeps(chunk: Buffer): boolean {
    return !this.#copies && chunk.length >= SMALLEST_BLOCK && chunk.length === chunk.buffer.byteLength;
  }

  #free(): number {
    return (this.#blocks.at(-1)?.length ?? 0) - this.#used;
  }

  #nextBlock(): number {
    return Math.min(Math.max(this.length, SMALLEST_BLOCK), LARGEST_BLOCK);
  }
}
