import { redact } from '../../../core/redact/redact.ts';

/** What a template printed, up to a limit. */
export class Transcript {
  readonly #maxBytes: number;
  #bytes = 0;
  #texts: string[] = [];

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns whether it still fits; what does not fit is not kept. */
  add(text: string): boolean {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#maxBytes) return false;
    this.#texts.push(text);
    return true;
  }

  /** Adds what still fits, of a text that is better read in part than not at all. */
  addAll(text: string): void {
    const left = this.#maxBytes - this.#bytes;
    this.add(
      Buffer.from(text)
        .subarray(0, Math.max(0, left))
        .toString()
        .replace(/\uFFFD$/, ''),
    );
  }

  /** Without secrets: whoever reads it was not necessarily allowed to read the files that it quotes. */
  text(): string {
    return redact(this.#texts.join(''));
  }
}
