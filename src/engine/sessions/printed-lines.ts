import { StringDecoder } from 'node:string_decoder';
import { endWithoutKey } from '../../core/redact/private-keys.ts';
import { redact } from '../../core/redact/redact.ts';
import { LINES_CUT } from '../../messages/run/running-log.ts';

/** In bytes as printed. The whole log is stored when the session has ended. */
export const MOST_PRINTED = 256_000;

/**
 * What a step prints, in pieces that can be shown before the rest is known: whole lines, without secrets. A secret never
 * crosses from one piece into the next, because only a private key has several lines.
 */
export class PrintedLines {
  /** For all sources together, as the whole log puts them together, too. */
  readonly #decoder = new StringDecoder('utf8');
  #room = MOST_PRINTED;
  #waiting = '';
  #cut: 'no' | 'untold' | 'told' = 'no';

  add(part: string | Uint8Array): void {
    if (this.#cut !== 'no') return;
    const bytes = Buffer.from(part);
    if (bytes.length > this.#room) this.#cut = 'untold';
    this.#waiting += this.#decoder.write(bytes.subarray(0, this.#room));
    this.#room -= bytes.length;
  }

  /** The next piece; empty if nothing can be shown yet. */
  take(): string {
    const end = this.#waiting.lastIndexOf('\n') + 1;
    const shown = endWithoutKey(this.#waiting.slice(0, end));
    const piece = this.#waiting.slice(0, shown);
    this.#waiting = this.#waiting.slice(shown);
    const note = this.#cut === 'untold' ? `${LINES_CUT}\n` : '';
    if (this.#cut !== 'no') this.#waiting = '';
    if (this.#cut === 'untold') this.#cut = 'told';
    // What begins a line is recognised after a line break.
    return redact(`\n${piece}`).slice(1) + note;
  }
}
