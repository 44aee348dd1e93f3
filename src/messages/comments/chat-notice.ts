import { formatDuration } from '../../core/duration.ts';
import { chatText } from '../text/chat-text.ts';

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
