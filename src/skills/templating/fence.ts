import type { Json } from '../../core/canonical.ts';
import { visible } from '../../messages/text/markdown.ts';

export interface Fenced {
  /** The values with a placeholder for each untrusted text. */
  context: { [name: string]: Json };
  /**
   * Replaces the placeholders in the rendered text by fenced texts. `undefined` if the result would exceed
   * the limit in bytes of UTF-8. Computed beforehand, because a template can use a long text thousands of
   * times.
   */
  fill(rendered: string, maxBytes: number): string | undefined;
}

/**
 * Keeps untrusted texts away from the template engine: it sees short placeholders, which are replaced after
 * rendering. So a template cannot cut off a fence by shortening a text, and no text is parsed as a template.
 * Rejected for that reason: fencing the values before rendering. An empty text stays empty, so that templates
 * can test for it.
 *
 * A text cannot end its own fence, because it would have to know the code. Invisible characters in it are
 * made visible.
 * @param code unguessable, of letters and digits only
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
