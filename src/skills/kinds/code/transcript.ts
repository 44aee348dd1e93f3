import { redact } from '../../../core/redact/redact.ts';

/** The output of a program, up to a limit. */
export class Transcript {
  readonly #maxBytes: number;
  #bytes = 0;
  #texts: string[] = [];

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns whether it still fits; otherwise it is not stored */
  add(text: string): boolean {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#maxBytes) return false;
    this.#texts.push(text);
    return true;
  }

  /** Adds the part that fits, for texts that are useful even if cut. */
  addAll(text: string): void {
    const left = this.#maxBytes - this.#bytes;
    this.add(
      Buffer.from(text)
        .subarray(0, Math.max(0, left))
        .toString()
        .replace(/\uFFFD$/, ''),
    );
  }

  /** Redacted, because its readers may lack access to the files that it quotes. */
  text(): string {
    return redact(this.#texts.join(''));
  }
}
