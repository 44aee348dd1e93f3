import type { Json } from '../../core/canonical.ts';
import { visible } from '../../messages/text/markdown.ts';

export interface Fenced {
  /** The values with a placeholder for each text that strangers wrote. */
  context: { [name: string]: Json };
  /**
   * Puts the texts, each in a fence of its own, into what was rendered; `undefined` when that gets longer than so many bytes of
   * UTF-8. A template may name a long text thousands of times, so that is found out before it is done.
   */
  fill(rendered: string, maxBytes: number): string | undefined;
}

/**
 * Keeps strangers' texts away from the template engine: it sees short placeholders, and the texts take their places after it. So a
 * template cannot cut off a fence by shortening a text, and no text is ever read as a template. Fencing the values before they are
 * rendered was rejected for that reason. An empty text stays empty, so that templates can ask whether there is one.
 *
 * A text cannot end its own fence, since it would have to know the code; and what no reader sees in it is written out.
 * @param code Not to be guessed, and of letters and digits only.
 */
export function fenced(values: { [name: string]: Json }, code: string): Fenced {
  const texts: string[] = [];

  const hide = (text: string): string => {
    if (text.trim() === '') return '';
    texts.push(text);
    return `⟦${code}:${texts.length - 1}⟧`;
  };
  const inside = (value: Json): Json => {
    if (typeof value === 'string') return hide(value);
    if (Array.isArray(value)) return value.map(inside);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        /^\w{1,64}$/.test(key) ? key : hide(key),
        inside(member),
      ]),
    );
  };
  const context = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, inside(value)]));
  const placeholder = new RegExp(`⟦${code}:(\\d+)⟧`, 'g');
  const fences: (string | undefined)[] = [];
  const fenceAt = (index: number) => {
    fences[index] ??= fence(texts[index] ?? '', code);
    return fences[index];
  };

  return {
    context,
    fill(rendered, maxBytes) {
      let bytes = Buffer.byteLength(rendered);
      for (const [, index] of rendered.matchAll(placeholder)) {
        bytes += Buffer.byteLength(fenceAt(Number(index)));
        if (bytes > maxBytes) return undefined;
      }
      return rendered.replaceAll(placeholder, (_, index) => fenceAt(Number(index)));
    },
  };
}

function fence(text: string, code: string): string {
  const shown = visible(text.toWellFormed()).replaceAll(code, '…');
  return `\nBEGIN DATA ${code}\n${shown}\nEND DATA ${code}\n`;
}
