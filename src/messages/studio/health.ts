import { html } from 'hono/html';
import { formatDuration } from '../../core/duration.ts';
import type { AppHealth, EngineHealth } from '../../ports/app-health.ts';
import type { BudgetFigures, RateLimitStatus } from '../../ports/github.ts';
import { capital, plural } from '../text/pretty.ts';
import type { Html } from './layout.ts';
import { dataTable, exactTime, time } from './parts.ts';
import { said } from './untrusted.ts';

/** How the app is, as far as Studio could learn. */
export type ShownHealth =
  | { kind: 'known'; health: AppHealth }
  /** It did not say so in time. */
  | { kind: 'no_answer' }
  /** Studio is a process of its own. */
  | { kind: 'not_connected' };

/** An engine that is silent for so long is busy rather than between two heartbeats, of which there is one a second. */
const BUSY_MS = 3_000;

/** Whether the app accepts webhooks and works on them. */
export function healthPart(shown: ShownHealth, fault: string | undefined): Html {
  return html`<h2>Health</h2>
<ul>
<li>${fault === undefined ? 'The database answers.' : html`<span class="state failed">The database does not answer:</span> ${said(fault)}`}</li>
${appLines(shown).map((line) => html`<li>${line}</li>\n`)}</ul>`;
}

function appLines(shown: ShownHealth): (Html | string)[] {
  switch (shown.kind) {
    case 'not_connected':
      return [
        'This Studio is a process of its own. It is not connected to the running app, so it does not know how the app is. The app’s own address /readyz says so.',
      ];
    case 'no_answer':
      return [html`<span class="state failed">The app’s engine does not answer.</span>`];
    case 'known': {
      const { failures, warnings, silentMs, engine } = shown.health;
      const { reviews, others } = engine.slots;
      return [
        failures.length === 0
          ? 'Webhooks are accepted: all checks of /readyz pass.'
          : html`<span class="state failed">Webhooks are refused.</span> These checks of /readyz fail: ${said(failures.join(', '))}.`,
        ...warnings.map((warning) => html`<span class="state undone">Warning:</span> ${said(warning)}`),
        silentMs < BUSY_MS
          ? 'The engine responds.'
          : html`<span class="state undone">The engine has been busy for ${formatDuration(silentMs)}.</span>`,
        `At work: ${reviews.busy} of ${plural(reviews.slots, 'review')}, ${others.busy} of ${plural(others.slots, 'other job')} that can run at once.`,
      ];
    }
  }
}

/** What GitHub lets each installation ask in this hour, and what waits for it. */
export function budgetPart(shown: ShownHealth, owners: ReadonlyMap<number, string>): Html {
  return html`<h2>GitHub’s budget</h2>
${shown.kind === 'known' ? budgets(shown.health.engine, owners) : html`<p>It is in the memory of the app, and this page has no answer of the app.</p>`}`;
}

function budgets(
  { at, rateLimits, signedOut, waiting }: EngineHealth,
  owners: ReadonlyMap<number, string>,
): Html {
  const nameOf = (id: number | undefined) =>
    id === undefined ? 'The App itself' : `${said(owners.get(id) ?? 'Installation', 60)} (${id})`;
  return html`${
    rateLimits.length === 0
      ? html`<p>GitHub has not been asked since the start.</p>`
      : dataTable(
          ['Installation', 'REST requests left', 'GraphQL points left', 'Held until', 'Requests that wait'],
          rateLimits.map((status) => [
            nameOf(status.installationId),
            figures(status.hour),
            figures(status.graphql),
            status.heldUntil ? time(status.heldUntil) : '',
            waitingRequests(status),
          ]),
        )
  }
${signedOut.map(({ installationId, since, status }) => html`<p><span class="state failed">GitHub refuses the sign-in</span> of ${nameOf(installationId)} with ${status} since ${time(since)}. Its work waits.</p>\n`)}${
  waiting.length === 0
    ? html`<p>No job waits for a limit of GitHub.</p>`
    : html`<p>These jobs wait until a limit of GitHub ends: ${waiting.map(([kind, count]) => `${capital(kind)} ${count}`).join(', ')}.</p>`
}
<p class="quiet">As of ${exactTime(at)}. Of each installation that was used since the start; an hour that is over is not known.</p>`;
}

function figures(hour: BudgetFigures | undefined): Html | string {
  return hour === undefined
    ? 'Not known'
    : html`${hour.remaining} of ${hour.limit}, until ${time(hour.resetAt)}`;
}

function waitingRequests({ waiting }: RateLimitStatus): string {
  const counts = Object.entries(waiting).filter(([, count]) => count > 0);
  return counts.length === 0 ? '0' : counts.map(([urgency, count]) => `${urgency} ${count}`).join(', ');
}
