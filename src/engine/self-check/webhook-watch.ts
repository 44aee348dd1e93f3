import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Finding } from '../../domain/self-check/finding.ts';
import { type Attempt, judgeAttempt } from '../../domain/self-check/judge.ts';
import { wordsOf } from '../../messages/self-check/self-check.ts';

/** GitHub's webhooks are not accepted. */
export interface WebhookOutage {
  finding: Finding;
  /** When GitHub made the first attempt in a row that showed it. */
  since: Date;
}

/**
 * Whether webhooks arrive, by what GitHub says of its newest attempt to deliver one. A request with a wrong signature
 * would not do: anybody can send one.
 */
export interface WebhookWatch {
  saw(newest: Attempt | undefined): void;
  outage(): WebhookOutage | undefined;
}

/** Attempts from before its creation do not count: they may have failed because no app ran. */
export function createWebhookWatch({ clock, log }: { clock: Clock; log: Log }): WebhookWatch {
  const start = clock.now();
  let outage: WebhookOutage | undefined;
  return {
    saw(newest) {
      if (newest === undefined || newest.deliveredAt < start) return;
      const finding = judgeAttempt(newest, undefined);
      const { status, summary, todo } = wordsOf(finding);
      const before = outage;
      outage = status === 'error' ? { finding, since: before?.since ?? newest.deliveredAt } : undefined;
      if (outage && before?.finding.kind !== finding.kind)
        log.error({ check: 'webhook', found: finding.kind, todo }, summary);
      if (before && !outage) log.info({ check: 'webhook' }, summary);
    },
    outage: () => outage,
  };
}
