import type { OwnThread } from '../../ports/github.ts';

/**
 * Whether a reply in a conversation below a finding is meant for this app. It is if it mentions the app or has `/countersign ask`. A sentence
 * that ends with a question mark is enough as long as the person is alone with the app: nobody else has written since the app's last
 * comment. What is quoted, and what is in code, is not what the person says. Rejected: any question mark, which people use most among
 * themselves.
 * @param id of the reply
 */
export function asksApp({ comments }: OwnThread, id: number): boolean {
  const at = comments.findIndex((comment) => comment.id === id);
  const [asked, app] = [comments[at], comments[0]?.login];
  if (!asked || app === undefined) return false;
  const said = spoken(asked.body);
  if (/^ {0,3}\/countersign[ \t]+ask(?!\S)/im.test(said) || mentions(said, app)) return true;
  const before = comments.slice(0, at);
  const since = before.slice(before.findLastIndex(({ login }) => login === app) + 1);
  return since.every(({ login }) => login === asked.login) && ASKS.test(said);
}

/** Not `a ? b : c`, and not what follows a question mark in an address. */
const ASKS = /[^\s?!]\?+["'’”)\]*_.,;]*(?!\S)/;

function mentions(text: string, app: string): boolean {
  const name = app.replace(/\[bot\]$/, '').toLowerCase();
  return [...text.matchAll(/(?<![\w/@-])@([\w-]+)/g)].some(([, login]) => login?.toLowerCase() === name);
}

/** Without quotations, code and addresses. */
function spoken(text: string): string {
  return text
    .replaceAll(/^ {0,3}>.*$/gm, '')
    .replaceAll(/(```|~~~).*?(?:\1|$(?![\s\S]))/gs, ' ')
    .replaceAll(/`[^`\n]*`/g, 'code')
    .replaceAll(/https?:\/\/[^\s)>\]]+/g, 'address');
}
