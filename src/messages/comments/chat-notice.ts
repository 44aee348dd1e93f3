import { formatDuration } from '../../core/duration.ts';

/** For a chat, in Slack's format. The title is the only text that untrusted people wrote. */
export function chatNotice(
  {
    repository,
    number,
    title,
    url,
  }: { repository: string; number: number; title: string; url: string | null },
  { isMerge, openForMs }: { isMerge: boolean; openForMs: number | undefined },
): string {
  const name = chatText(`${repository}#${number}`, 200);
  const subject = url === null ? name : `<${url.replaceAll('&', '&amp;')}|${name}>`;
  const what = isMerge ? 'a countersign' : 'an approval';
  const waits = openForMs === undefined ? 'needs' : `has waited ${formatDuration(openForMs)} for`;
  return `${subject} ${waits} ${what}: ${chatText(title, 150)}`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]+/gu;
/** Where chats would see a mention, a link or markup. A zero-width space behind it prevents that. */
const NOTICED = /@(?=\S)|:(?=\/\/)|\](?=\()|[*_~`](?=\S)|\bwww(?=\.)/gi;

/**
 * Untrusted text in a message, on one line. Slack asks to replace exactly these three characters, without
 * which there is no link and no mention: https://docs.slack.dev/messaging/formatting-message-text#escaping.
 * Chats that are compatible with Slack also read `@channel` and Markdown.
 */
function chatText(text: string, max: number): string {
  const letters = [...text.toWellFormed().replaceAll(/\s+/g, ' ').replaceAll(INVISIBLE, '').trim()];
  const kept = letters.length > max ? `${letters.slice(0, max - 1).join('')}…` : letters.join('');
  return kept.replaceAll(NOTICED, '$&\u200B').replaceAll(/[&<>]/g, (letter) => ENTITIES[letter] ?? '');
}
