import { formatDuration } from '../../core/duration.ts';
import { unreachable } from '../../core/errors.ts';
import { gateCheckName } from '../../domain/policy/gate-check.ts';
import type { Finding, Lacking } from '../../domain/self-check/finding.ts';
import { settingInWords } from '../run/rollout.ts';
import { plural } from '../text/pretty.ts';

/** `unknown`: it could not be checked, or there is nothing to check yet. */
export const FINDING_STATUSES = ['ok', 'warning', 'error', 'unknown'] as const;
export type FindingStatus = (typeof FINDING_STATUSES)[number];

export interface FindingWords {
  status: FindingStatus;
  /** One sentence. */
  summary: string;
  /** One sentence with what to do, for everything that is not as it should be. */
  todo?: string;
}

const SECRET_TODO =
  'Set WEBHOOK_SECRET to the webhook secret in the App’s settings on GitHub, or enter a new secret in both places.';

/** The words for a finding. All of them are for the operator: they may name owners and repositories. */
export function wordsOf(finding: Finding): FindingWords {
  switch (finding.check) {
    case 'settings':
      return settingsWords(finding);
    case 'app':
      return appWords(finding);
    case 'clock':
      return clockWords(finding);
    case 'permissions':
      return permissionsWords(finding);
    case 'webhook':
      return webhookWords(finding);
    case 'installations':
      return installationsWords(finding);
    case 'protection':
      return protectionWords(finding);
    case 'rollout':
      return rolloutWords(finding);
    case 'database':
      return databaseWords(finding);
    case 'disk':
      return diskWords(finding);
    case 'server':
      return serverWords(finding);
    default:
      return unreachable(finding);
  }
}

type Of<Check extends Finding['check']> = Extract<Finding, { check: Check }>;

const ok = (summary: string): FindingWords => ({ status: 'ok', summary });
const warning = (summary: string, todo: string): FindingWords => ({ status: 'warning', summary, todo });
const wrong = (summary: string, todo: string): FindingWords => ({ status: 'error', summary, todo });
const notKnown = ({ because }: { because: string }): FindingWords => ({
  status: 'unknown',
  summary: `Not checked: ${ended(because)}`,
});

function settingsWords(finding: Of<'settings'>): FindingWords {
  switch (finding.kind) {
    case 'valid':
      return ok('All settings are valid.');
    case 'invalid':
      return wrong(
        `These settings are wrong: ${finding.diagnostics.join('; ')}.`,
        'Correct them in the environment or in .env; docs/settings.md lists all settings.',
      );
    case 'no_app':
      return wrong(
        'No GitHub App is registered: APP_ID, PRIVATE_KEY and WEBHOOK_SECRET are not set.',
        'Run npm start and open the page it prints, or set them for an App that exists.',
      );
    case 'not_known':
      return notKnown(finding);
    default:
      return unreachable(finding);
  }
}

function appWords(finding: Of<'app'>): FindingWords {
  switch (finding.kind) {
    case 'signed_in':
      return ok(`The private key works: this is the App “${finding.name}” of ${finding.owner}.`);
    case 'key_refused':
      return wrong(
        `GitHub refuses the private key for the App ${finding.appId}: ${ended(finding.because)}`,
        'Check that APP_ID and PRIVATE_KEY belong to the same App, that the key was not deleted, and that the clock is right.',
      );
    case 'unreachable':
      return wrong(
        `GitHub’s API at ${finding.apiUrl} does not answer as it should: ${ended(finding.because)}`,
        'Check GITHUB_API_URL and that this machine may open connections to it.',
      );
    case 'not_known':
      return notKnown(finding);
    default:
      return unreachable(finding);
  }
}

function clockWords(finding: Of<'clock'>): FindingWords {
  if (finding.kind === 'not_known') return notKnown(finding);
  const { kind, aheadMs } = finding;
  const by = formatDuration(Math.abs(aheadMs));
  return kind === 'right'
    ? ok('The clock agrees with GitHub’s.')
    : wrong(
        `The clock of this machine is ${by} ${aheadMs > 0 ? 'ahead of' : 'behind'} GitHub’s.`,
        'Let the machine set its clock by NTP: GitHub refuses tokens that seem too old or too new.',
      );
}

function permissionsWords(finding: Of<'permissions'>): FindingWords {
  switch (finding.kind) {
    case 'as_asked':
      return ok('The App has every permission and event that app.yml names.');
    case 'lacking':
      return wrong(
        `The App lacks ${lackingWords(finding.lacking)}.`,
        `Add them in the App’s settings under “Permissions & events” (${finding.url}); then each owner must accept them.`,
      );
    case 'not_known':
      return notKnown(finding);
    default:
      return unreachable(finding);
  }
}

function webhookWords(finding: Of<'webhook'>): FindingWords {
  switch (finding.kind) {
    case 'no_address':
      return wrong(
        'The App has no webhook address, so GitHub sends nothing.',
        'In the App’s settings, enter PUBLIC_URL followed by /api/github/webhooks as the webhook URL, and tick “Active”.',
      );
    case 'no_secret':
      return wrong('The App has no webhook secret, so this app refuses what GitHub sends.', SECRET_TODO);
    case 'not_json':
      return wrong(
        'GitHub sends webhooks as a form, which this app refuses.',
        'Set the content type of the webhook to application/json in the App’s settings.',
      );
    case 'other_address':
      return wrong(
        `GitHub sends webhooks to ${finding.url}, but by PUBLIC_URL this app is at ${finding.expected}.`,
        'Correct the webhook URL in the App’s settings, or PUBLIC_URL.',
      );
    case 'tls_unchecked':
      return warning(
        `GitHub does not check the certificate of ${finding.url}.`,
        'Enable SSL verification for the webhook in the App’s settings.',
      );
    case 'never_sent':
      return {
        status: 'unknown',
        summary: 'GitHub has sent no webhook in the last days, so the webhook secret is not proven.',
        todo: 'Install the App or open a pull request, then check again.',
      };
    case 'answered':
      return ok(`GitHub’s last webhook, of ${moment(finding.at)}, was accepted.`);
    case 'secret_differs':
      return wrong(
        `GitHub’s last webhook, of ${moment(finding.at)}, was answered with 401: it is not signed with this WEBHOOK_SECRET.`,
        SECRET_TODO,
      );
    case 'unreached':
      return wrong(
        `GitHub got no answer to its last webhook, of ${moment(finding.at)}${finding.url === undefined ? '' : `, from ${finding.url}`}.`,
        'Check that the address is reachable from GitHub, and that the app runs.',
      );
    case 'refused':
      return wrong(
        `GitHub’s last webhook, of ${moment(finding.at)}, was answered with ${finding.status}.`,
        finding.status === 404
          ? 'Check that the webhook URL ends with /api/github/webhooks and that a proxy passes it on.'
          : 'Read the answer under “Recent deliveries” in the App’s settings, and this app’s log.',
      );
    case 'not_known':
      return notKnown(finding);
    default:
      return unreachable(finding);
  }
}

function installationsWords(finding: Of<'installations'>): FindingWords {
  switch (finding.kind) {
    case 'none':
      return wrong('The App is installed nowhere.', `Install it: ${finding.url}/installations/new`);
    case 'some':
      return ok(`Installed for ${named(finding.owners)}.`);
    case 'suspended':
      return warning(
        `The App is suspended for ${named(finding.owners)}.`,
        'An owner can unsuspend it in their settings under “Applications”.',
      );
    case 'lacking':
      return wrong(
        `Not accepted by ${named(finding.owners)}: ${lackingWords(finding.lacking)}.`,
        'An owner must accept the new permissions in their settings under “Applications”.',
      );
    case 'not_known':
      return notKnown(finding);
    default:
      return unreachable(finding);
  }
}

function protectionWords(finding: Of<'protection'>): FindingWords {
  switch (finding.kind) {
    case 'enforced':
      return ok(`${finding.repository}: ${finding.branch} requires the gate check from this App.`);
    case 'any_app':
      return wrong(
        `${finding.repository}: ${finding.branch} requires the check “${gateCheckName(finding.branch)}” from any source, so others can set it.`,
        'Choose this App as the source of the check in the rule of the branch.',
      );
    case 'open':
      return warning(
        `${finding.repository}: ${finding.branch} does not require the gate check, so GitHub’s merge button works without a countersign.`,
        `Require the check “${gateCheckName(finding.branch)}” with this App as its source (docs/security.md, “Protect a branch”).`,
      );
    case 'unreadable':
      return { status: 'unknown', summary: `${finding.repository}: not checked: ${ended(finding.because)}` };
    case 'others':
      return { status: 'unknown', summary: `Not checked: ${othersWords(finding)}; --repo checks one.` };
    case 'not_known':
      return notKnown(finding);
    default:
      return unreachable(finding);
  }
}

function othersWords({
  repositories,
  installations,
}: Extract<Finding, { check: 'protection'; kind: 'others' }>): string {
  const parts = [
    ...(repositories === 0 ? [] : [plural(repositories, 'other repository', 'other repositories')]),
    ...(installations === 0 ? [] : [`those of ${plural(installations, 'other installation')}`]),
  ];
  return parts.join(' and ');
}

function rolloutWords(finding: Of<'rollout'>): FindingWords {
  switch (finding.kind) {
    case 'set': {
      const { owner, setting, most } = finding;
      const levels = settingInWords(setting);
      const limit = most === 'enforce' ? '' : ` This server rolls out ${most} at most (COUNTERSIGN_ROLLOUT).`;
      return ok(`Rollout in the repositories of ${owner}: ${levels}.${limit}`);
    }
    case 'unreadable':
      return wrong(
        `The settings of ${finding.owner} set the rollout, and cannot be read: nothing is written or merged there.`,
        `Correct "rollout" in .github/countersign.yml of ${finding.owner}/.github (docs/rollout.md).`,
      );
    case 'not_known':
      return notKnown(finding);
    default:
      return unreachable(finding);
  }
}

function databaseWords(finding: Of<'database'>): FindingWords {
  switch (finding.kind) {
    case 'works':
      return ok('The database answers.');
    case 'none':
      return { status: 'unknown', summary: 'There is no database yet: the app makes it when it starts.' };
    case 'older':
      return { status: 'unknown', summary: finding.because };
    case 'broken':
      return wrong(
        `The database does not work: ${ended(finding.because)}`,
        'Check DATABASE_URL; docs/storage.md says how to restore a backup.',
      );
    case 'not_known':
      return notKnown(finding);
    default:
      return unreachable(finding);
  }
}

function diskWords(finding: Of<'disk'>): FindingWords {
  if (finding.kind === 'not_known') return notKnown(finding);
  const free = `${(finding.freeBytes / 1024 ** 3).toFixed(1)} GB`;
  return finding.kind === 'enough'
    ? ok(`${free} are free in ${finding.folder}.`)
    : warning(`Only ${free} are free in ${finding.folder}.`, 'Free space: a full disk stops all work.');
}

function serverWords(finding: Of<'server'>): FindingWords {
  switch (finding.kind) {
    case 'ready':
      return finding.warnings.length === 0
        ? ok(`The app runs at ${finding.url} and is ready.`)
        : warning(
            `The app runs at ${finding.url}, but warns: ${finding.warnings.join(' ')}`,
            'Read its log.',
          );
    case 'not_ready':
      return wrong(`The app at ${finding.url} is not ready: ${ended(finding.because)}`, 'Read its log.');
    case 'strange':
      return wrong(
        `Something at ${finding.url} does not answer like this app: ${ended(finding.because)}`,
        'Give the app a PORT of its own; if this is the app, read its log and start it again.',
      );
    case 'not_running':
      return {
        status: 'unknown',
        summary: `No app runs at ${finding.url}.`,
        todo: 'Start it with npm start, or run this command where it runs.',
      };
    case 'not_known':
      return notKnown(finding);
    default:
      return unreachable(finding);
  }
}

/** Reasons come from GitHub, the system and this app, with a full stop or without one. */
function ended(because: string): string {
  return because.endsWith('.') ? because : `${because}.`;
}

const SHOWN = 10;

function named(names: readonly string[]): string {
  const more = names.length - SHOWN;
  return more > 0 ? `${names.slice(0, SHOWN).join(', ')} and ${more} more` : names.join(', ');
}

function lackingWords({ permissions, events }: Lacking): string {
  return [
    ...(permissions.length === 0
      ? []
      : [`the ${permissions.length === 1 ? 'permission' : 'permissions'} ${permissions.join(', ')}`]),
    ...(events.length === 0 ? [] : [`the ${events.length === 1 ? 'event' : 'events'} ${events.join(', ')}`]),
  ].join(' and ');
}

/** In UTC, to the second. */
function moment(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}
