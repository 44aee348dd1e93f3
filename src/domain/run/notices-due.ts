import type { Notify } from '../chain/settings.ts';
import { endOfQuiet } from './quiet-hours.ts';

/** When a notice is sent: with the question, or some time later if nobody has answered. */
type Stage = 'question' | 'reminder';

/** One thing to send. `name` identifies it among those of the question. */
export type Notice = { name: string; stage: Stage } & (
  | { kind: 'request_review' }
  | { kind: 'mention' }
  | { kind: 'webhook'; webhook: string }
);

/** What to send now, and when to check again. */
export interface NoticesDue {
  due: Notice[];
  /** Names of what another notice makes superfluous. */
  skipped: string[];
  /** `undefined` if nothing is left. */
  next: Date | undefined;
}

/**
 * What an open question should send now. Quiet hours delay reminders and webhooks; the question, its review
 * request and its mention do not wait, because people choose themselves when GitHub notifies them.
 * @param sent the names of what was sent before
 */
export function noticesDue(
  notify: Notify,
  { askedAt, now, sent }: { askedAt: Date; now: Date; sent: readonly string[] },
): NoticesDue {
  const remindAt = notify.remind === null ? undefined : new Date(askedAt.getTime() + notify.remind);
  const open = wanted(notify)
    .filter(({ name, stage }) => !sent.includes(name) && (stage === 'question' || remindAt !== undefined))
    .map((notice) => ({
      notice,
      at: timeOf(notify, notice, notice.stage === 'reminder' ? remindAt : askedAt, now),
    }));
  const dueNow = open.filter(({ at }) => at <= now).map(({ notice }) => notice);
  // After a weekend, one message to a chat is enough.
  const isReminded = ({ kind, stage, name }: Notice) =>
    kind === 'webhook' && stage === 'question' && dueNow.some((other) => other.name === reminderOf(name));
  const later = open.filter(({ at }) => at > now).map(({ at }) => at.getTime());
  return {
    due: dueNow.filter((notice) => !isReminded(notice)),
    skipped: dueNow.filter(isReminded).map(({ name }) => name),
    next: later.length === 0 ? undefined : new Date(Math.min(...later)),
  };
}

function wanted({ request_review, mention, webhooks }: Notify): Notice[] {
  return [
    ...(request_review
      ? [{ name: 'request_review', kind: 'request_review', stage: 'question' } as const]
      : []),
    ...(mention === 'never' ? [] : [{ name: 'mention', kind: 'mention', stage: mention } as const]),
    ...webhooks.flatMap((webhook): Notice[] => {
      const name = `webhook:${webhook}`;
      return [
        { name, kind: 'webhook', stage: 'question', webhook },
        { name: reminderOf(name), kind: 'webhook', stage: 'reminder', webhook },
      ];
    }),
  ];
}

function reminderOf(name: string): string {
  return `${name}:reminder`;
}

function timeOf({ quiet_hours }: Notify, { kind, stage }: Notice, from: Date | undefined, now: Date): Date {
  const at = from ?? now;
  const waits = kind === 'webhook' || stage === 'reminder';
  return waits ? endOfQuiet(quiet_hours, at > now ? at : now) : at;
}
