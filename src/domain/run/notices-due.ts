import type { Notify } from '../chain/settings.ts';

/** One thing to send. `name` identifies it among those of the question. */
export type Notice = { name: string; kind: 'request_review' } | { name: string; kind: 'mention' };

/**
 * What an open question should send now, and when to check again; `next` is `undefined` if nothing is left.
 * @param sent the names of what was sent before
 */
export function noticesDue(notify: Notify, sent: readonly string[]): { due: Notice[]; next?: Date } {
  const wanted: Notice[] = [
    ...(notify.request_review ? [{ name: 'request_review', kind: 'request_review' } as const] : []),
    ...(notify.mention === 'question' ? [{ name: 'mention', kind: 'mention' } as const] : []),
  ];
  return { due: wanted.filter(({ name }) => !sent.includes(name)) };
}
