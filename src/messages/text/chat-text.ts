const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]+/gu;
/** Where chats would see a mention, a link or markup. A zero-width space behind it prevents that. */
const NOTICED = /@(?=\S)|:(?=\/\/)|\](?=\()|[*_~`](?=\S)|\bwww(?=\.)/gi;

/**
 * Untrusted text in a message, on one line. Slack asks to replace exactly these three characters, without
 * which there is no link and no mention: https://docs.slack.dev/messaging/formatting-message-text#escaping.
 * Chats that are compatible with Slack also read `@channel` and Markdown.
 */
export function chatText(text: string, max: number): string {
  return lineOf(text, max)
    .replaceAll(NOTICED, '$&\u200B')
    .replaceAll(/[&<>]/g, (letter) => ENTITIES[letter] ?? '');
}

/** Untrusted text on one line, for programs: without markup of its own, and without what cannot be seen. */
export function lineOf(text: string, max: number): string {
  return cut(text.toWellFormed().replaceAll(/\s+/g, ' ').replaceAll(INVISIBLE, '').trim(), max);
}

/** At most so many characters. */
export function cut(text: string, max: number): string {
  const letters = [...text];
  return letters.length > max ? `${letters.slice(0, max - 1).join('')}…` : text;
}
