/** In characters; what a person writes about a change is shorter, and what is longer is no description. */
const MAX_TITLE = 500;
const MAX_BODY = 8_000;

/**
 * A description as its readers see it on GitHub: without comments, tags, and texts in the place of images. What only a program reads is
 * where orders to programs are put. In code such texts stay: there, people do read them.
 */
export function asReadersSee(markdown: string): string {
  return withoutUnseen(markdown.slice(0, MAX_BODY))
    .replaceAll(/<!--[\s\S]*?(?:-->|$)/g, '')
    .replaceAll(/<\/?[a-z!?][^>]{0,1000}>/gi, '')
    .replaceAll(/!\[[^\]]{0,1000}\]/g, '![]')
    .replaceAll(/^[ ]{0,3}\[[^\]]{0,200}\]:.*$/gm, '')
    .replaceAll(/\]\(([^()\s]{0,1000})\s[^()]{0,1000}\)/g, ']($1)')
    .trim();
}

export function titleAsReadersSee(title: string): string {
  return withoutUnseen(title.slice(0, MAX_TITLE)).trim();
}

/** Taken out, not written out as in code: nobody needs to know of them here. */
function withoutUnseen(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
}
