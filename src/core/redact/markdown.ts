/** A text as its reader sees it, with the place in the source of each of its characters. */
export interface Shown {
  text: string;
  /** One more than there are characters: the last is the source's end. */
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

/** What our encoder for Markdown writes, and zero-width characters, which anybody may. */
const ENCODED = /\\[!-/:-@[-`{-~]|&(?:amp|lt|gt|quot|#36|#124|#8203);|[\u200b-\u200d\u2060\ufeff]/g;

/** Undoes the encoding of Markdown, or `undefined` when there is none: then the text is its own reading. */
export function shownMarkdown(source: string): Shown | undefined {
  let text = '';
  const at: number[] = [];
  let from = 0;
  const copy = (to: number) => {
    for (let index = from; index < to; index++) at.push(index);
    text += source.slice(from, to);
  };
  for (const match of source.matchAll(ENCODED)) {
    copy(match.index);
    const character = match[0].startsWith('\\') ? match[0].slice(1) : (ENTITIES[match[0]] ?? '');
    if (character !== '') at.push(match.index);
    text += character;
    from = match.index + match[0].length;
  }
  if (from === 0) return undefined;
  copy(source.length);
  at.push(source.length);
  return { text, at };
}
