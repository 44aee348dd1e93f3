import { html } from 'hono/html';
import type { Finding } from '../../domain/self-check/finding.ts';
import { type FindingStatus, wordsOf } from '../self-check/self-check.ts';
import type { Html } from '../studio/layout.ts';
import { dataTable } from '../studio/parts.ts';
import { said } from '../studio/untrusted.ts';
import { PERMISSION_WORDS } from './permissions.ts';

/** What somebody wrote into the form. */
export interface SetupFields {
  /** The address of GitHub's pages, such as `https://github.com`. */
  github: string;
  /** The login of the organisation; empty for the person's own account. */
  organisation: string;
  /** Of the App; unique on GitHub. */
  name: string;
  /** The address under which GitHub reaches this server. */
  address: string;
  /** What this server does at first. */
  rollout: SetupRollout;
}

export const SETUP_ROLLOUTS = ['enforce', 'observe'] as const;
type SetupRollout = (typeof SETUP_ROLLOUTS)[number];

const ROLLOUT_CHOICES: Readonly<Record<SetupRollout, string>> = {
  enforce: 'Everything: it comments, asks and merges',
  observe: 'Observe: nothing is written to GitHub, and Studio shows what it would do',
};

/** What is wrong with a field, as a sentence. */
export type SetupErrors = Partial<Record<TextField, string>>;
type TextField = Exclude<keyof SetupFields, 'rollout'>;

export const SETUP_ERRORS = {
  github: 'Write the address of GitHub’s pages, such as https://github.com or https://github.acme.com.',
  organisation: 'Write the login of the organisation, as in the address of its page, or leave this empty.',
  name: 'Write 1 to 34 letters, digits, spaces, dots and dashes.',
  address:
    'Write the address under which GitHub reaches this server, such as https://countersign.example.com.',
} as const satisfies Record<TextField, string>;

/** What is wrong with an address that leads to this machine only from itself. */
export const ADDRESS_IS_HERE =
  'GitHub cannot reach this machine by that address. Write one that leads here from the internet, such as that of a proxy or a tunnel.';

interface Step {
  title: string;
  main: Html;
}

/** The first page: where the App is to belong, and what it asks for. */
export function setupForm(
  fields: SetupFields,
  errors: SetupErrors,
  permissions: Readonly<Record<string, string>>,
): Step {
  const title = 'Register the GitHub App';
  return {
    title,
    main: html`<h1>${title}</h1>
<p>Countersign acts on GitHub as an App of your own. This registers it and keeps its credentials in the file <code>.env</code> on this machine. Nothing is installed yet, and nothing is written to any repository.</p>
<form method="post" action="/setup">
<fieldset class="fields"><legend>Where it belongs</legend>
${field('organisation', 'Organisation', fields, errors, 'An App can be installed only on the account that it belongs to. Leave this empty for your personal account.', 'acme')}
${field('name', 'Name of the App', fields, errors, 'Comments are signed with it. It must be unique on GitHub.', 'countersign-acme')}
${field('address', 'Address of this server', fields, errors, 'GitHub sends webhooks to it, and people open Studio there. A proxy with a certificate passes it on to this process.', 'https://countersign.example.com')}
${field('github', 'GitHub', fields, errors, 'Another address than https://github.com for GitHub Enterprise.', 'https://github.com')}
</fieldset>
<fieldset class="fields"><legend>What it does at first</legend>
${SETUP_ROLLOUTS.map((level) => html`<p><label><input type="radio" name="rollout" value="${level}"${level === fields.rollout ? html` checked` : ''}> ${ROLLOUT_CHOICES[level]}</label></p>\n`)}
<p class="quiet">Choose to observe if you install the App on all repositories of an organisation: otherwise it comments on every pull request from the first day. docs/rollout.md says how to go on, repository by repository.</p>
<p class="buttons"><button class="primary">Continue</button></p>
</fieldset>
</form>
<h2>What it asks for</h2>
<p>GitHub shows the same list before it registers the App.</p>
${dataTable(
  ['Permission', 'Access', 'What for'],
  Object.entries(permissions).map(([name, level]) => [
    name.replaceAll('_', ' '),
    level,
    PERMISSION_WORDS[name] ?? '',
  ]),
)}
<p class="quiet">It does not ask for <em>administration</em> and <em>workflows</em>: it changes no rules, and GitHub then refuses that it merges changes to workflows.</p>`,
  };
}

/** The second page, whose form sends the manifest to GitHub. It needs no script. */
export function registerPage({
  action,
  manifest,
  fields,
}: {
  action: string;
  manifest: string;
  fields: SetupFields;
}): Step {
  const title = 'Continue on GitHub';
  const where =
    fields.organisation === '' ? 'your personal account' : `the organisation ${fields.organisation}`;
  return {
    title,
    main: html`<h1>${title}</h1>
<p>GitHub asks you to confirm the App “${said(fields.name)}” for ${said(where)}. You must be ${fields.organisation === '' ? 'signed in' : 'an owner of it'}. Then it sends you back here.</p>
<form method="post" action="${action}">
<input type="hidden" name="manifest" value="${manifest}">
<p class="buttons"><button class="primary">Register it on ${said(new URL(action).host)}</button> <a class="button" href="/setup">Back</a></p>
</form>`,
  };
}

const MARKS: Readonly<Record<FindingStatus, readonly [mark: string, look: string, name: string]>> = {
  ok: ['✓', 'completed', 'in order'],
  warning: ['!', 'waiting_ci', 'warning'],
  error: ['✗', 'failed', 'wrong'],
  unknown: ['?', '', 'not known'],
};

/** The last page: what to do now, and whether everything is as it should be. */
export function registeredPage({
  app,
  file,
  findings,
}: {
  app: { name: string; url: string };
  /** Where the credentials are. */
  file: string;
  findings: readonly Finding[];
}): Step {
  const title = 'The App is registered';
  return {
    title,
    main: html`<h1>${title}</h1>
<p>The credentials of “${said(app.name)}” are in <code>${said(file)}</code>, readable by you alone.</p>
<ol>
<li><a class="button primary" href="${`${app.url}/installations/new`}">Install it</a> on the repositories that it is to serve. For an organisation, select its repository <code>.github</code>, too.</li>
<li>Stop this process with Ctrl-C, and start it again with <code>npm start</code>. Until then nothing answers webhooks; what GitHub sends meanwhile is asked for again.</li>
<li>Require the check <code>countersign: main</code> on the branch <code>main</code>, with this App as its source.</li>
</ol>
<h2>Check of the set-up</h2>
<ul class="plain">${findings.map((finding) => {
      const { status, summary, todo } = wordsOf(finding);
      const [mark, look, name] = MARKS[status];
      return html`<li><span class="state ${look}" role="img" aria-label="${name}">${mark}</span> <strong>${finding.check}</strong> ${said(summary)}${todo === undefined ? '' : html`<br><small>${said(todo)}</small>`}</li>\n`;
    })}</ul>
<p><a class="button" href="/setup">Check again</a></p>
<p class="quiet"><code>countersign doctor</code> checks the same at any time, and the app when it starts.</p>`,
  };
}

/** A page of the setup. */
export function setupPage({ title, main }: Step, style: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Countersign</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
</head>
<body>
<header class="top"><span class="brand">Countersign</span></header>
<main id="main">
${main}
</main>
</body>
</html>`;
}

function field(
  name: TextField,
  label: string,
  fields: SetupFields,
  errors: SetupErrors,
  hint: string,
  placeholder: string,
): Html {
  const wrong = errors[name];
  const described = wrong === undefined ? `${name}-hint` : `${name}-hint ${name}-wrong`;
  const state = html`aria-describedby="${described}"${wrong === undefined ? '' : html` aria-invalid="true"`}`;
  return html`<div class="field"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" value="${fields[name]}" placeholder="${placeholder}" ${state} autocomplete="off" spellcheck="false" maxlength="200">
<p class="quiet" id="${name}-hint">${hint}</p>${wrong === undefined ? '' : html`<p class="wrong" id="${name}-wrong" role="alert">${wrong}</p>`}</div>
`;
}
