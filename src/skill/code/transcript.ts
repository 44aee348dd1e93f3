import { redact } from '../../core/redact.ts';

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

  /** Without secrets: whoever reads it was not necessarily allowed to read the files that it quotes. */
  text(): string {
    return redact(this.#texts.join(''));
  }
}
