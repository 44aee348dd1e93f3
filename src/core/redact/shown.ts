/** A text as its reader sees it, with the source position of each character. */
export interface Shown {
  text: string;
  /** One entry more than `text` has characters. The last is the end of the source. */
  at: number[];
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#36;': '$',
  '&#124;': '|',
  '&#8203;': '',
};

/** What our Markdown encoder writes, and zero-width characters, which anybody can write. */
const MARKDOWN = /\\[!-/:-@[-`{-~]|&(?:amp|lt|gt|quot|#36|#124|#8203);|[\u200b-\u200d\u2060\ufeff]/g;

/** Undoes the encoding of Markdown. `undefined` if the text has none. */
export function shownMarkdown(source: string): Shown | undefined {
  return decoded(source, MARKDOWN, (code) =>
    code.startsWith('\\') ? code.slice(1) : (ENTITIES[code] ?? ''),
  );
}

/** Undoes the encoding of URLs, for ASCII only: secrets contain no other characters. */
export function shownUrl(source: string): Shown | undefined {
  return decoded(source, /%[0-7][0-9A-Fa-f]/g, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
}

/** @param decode returns one character or none */
function decoded(source: string, encoded: RegExp, decode: (code: string) => string): Shown | undefined {
  let text = '';
  const at: number[] = [];
  let from = 0;
  const copy = (to: number) => {
    for (let index = from; index < to; index++) at.push(index);
    text += source.slice(from, to);
  };
  for (const match of source.matchAll(encoded)) {
    copy(match.index);
    const character = decode(match[0]);
    if (character !== '') at.push(match.index);
    text += character;
    from = match.index + match[0].length;
  }
  if (from === 0) return undefined;
  copy(source.length);
  at.push(source.length);
  return { text, at };
}
