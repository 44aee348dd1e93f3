import type { Diagnostic } from '../../core/diagnostic.ts';
import { type Answers, MERGE_METHODS, type Who } from '../../domain/first-look/answers.ts';
import type { Seen } from '../../domain/first-look/seen.ts';
import { gateCheckName } from '../../domain/policy/gate-check.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { code } from '../text/markdown.ts';
import { listed, plural } from '../text/pretty.ts';
import { firstDiagnostics } from './diagnostics.ts';

/** Longer lists are cut: a screen shows no more. */
const MAX_SHOWN = 10;

export const NOT_A_CHECKOUT =
  'This folder is in no git checkout, so there is nowhere to write the files. Run countersign init in a checkout of the repository, or open a pull request with --pr --repo owner/name.';
export const NO_REPOSITORY =
  'A pull request needs a repository: name it with --repo owner/name, because no remote "origin" of this folder names one.';
export const NEEDS_ANSWERS =
  'There is no terminal to ask at: --yes takes the proposed answers, and --who, --count, --method and --check give others.';
export const NO_MORE_INPUT = 'The input ended before all questions were answered. Nothing was written.';
export const BAD_ANSWERS = 'That was no answer three times. Nothing was written.';
export const NO_TOKEN_TO_PROPOSE =
  'A pull request is opened with your token: set GITHUB_TOKEN to one with the permissions "Contents" and "Pull requests", both to read and write.';
export const NO_COMMITS = 'The repository has no commits yet, so a pull request has no branch to go into.';

/** The branch of the pull request. */
export const BRANCH = 'countersign-init';
export const PROPOSAL_TITLE = 'Configure Countersign';

/** What the pull request says. No name from the repository but the branch's is in it. */
export function proposalBody(base: string): string {
  const gate = code(gateCheckName(base));
  return `This adds the settings of Countersign and the chain that runs for each pull request. \`countersign init\` has written both
files; their comments explain them.

After the merge:

1. Install the App on this repository, if it is not installed yet.
2. Require the check ${gate} in the protection of ${code(base)}. Until then, GitHub's own merge button works without a countersign.
`;
}

export function branchExists(repository: string): string {
  return `${plainLine(repository)} has a branch ${BRANCH} already, so nothing was written: look for its pull request, or delete the branch and try again.`;
}

/** @param message what GitHub answered */
export function notAllowedToPropose(message: string): string {
  return `GitHub does not let this token open the pull request: it needs the permissions "Contents" and "Pull requests", both to read and write (${plainLine(message).replace(/\.$/, '')}).`;
}

export function refusedByGitHub(message: string): string {
  return `GitHub refuses: ${plainLine(message)}`;
}

/** @param host of the remote `origin` */
export function originElsewhere(host: string, github: string): string {
  return `The remote "origin" is on ${plainLine(host)}, but GITHUB_API_URL says ${github}. Name the repository with --repo owner/name, or for GitHub Enterprise Server set GITHUB_API_URL to https://HOST/api/v3.`;
}

export function configuredAlready(paths: readonly string[]): string {
  const shown = listed(paths.slice(0, MAX_SHOWN).map(plainLine), 'and');
  return `Countersign is configured here already, so nothing was written: there ${paths.length === 1 ? 'is' : 'are'} ${shown}. countersign chain lint checks ${paths.length === 1 ? 'it' : 'them'}.`;
}

export function notAFolder(path: string): string {
  return `${path} is no folder of this checkout, but a link or a file. Nothing was written.`;
}

export function cannotWrite(path: string, because: string): string {
  return `${plainLine(path)} cannot be written (${plainLine(because)}). Nothing was written.`;
}

/** The files would not be valid: something that was seen or answered does not fit. */
export function invalidFiles(diagnostics: readonly Diagnostic[]): string {
  return `With these answers the files would have errors, so nothing was written: ${firstDiagnostics(diagnostics, MAX_SHOWN)}`;
}

/** @param because a sentence */
export function withoutGitHub(because: string): string {
  return `${because} Only the files of this checkout count: checks, protection and merge methods are not known.`;
}

export const REPOSITORY_NOT_NAMED = 'No remote "origin" names a repository on GitHub, and no --repo does.';

export function hiddenRepository(repository: string, hasToken: boolean): string {
  return hasToken
    ? `GitHub shows no repository ${plainLine(repository)} for the token in GITHUB_TOKEN.`
    : `GitHub shows no repository ${plainLine(repository)} without a token: if it is private, set GITHUB_TOKEN.`;
}

/** What was seen, a line each. */
export function seenText({ repository, github, workflows, owners }: Seen): string {
  const names = workflows.map(({ file }) => file.slice(file.lastIndexOf('/') + 1));
  const rows: [string, string][] = [
    ['repository', repository ?? 'not known'],
    ['default branch', github?.defaultBranch ?? 'not known'],
    ['workflows', some(names)],
    ['checks', github?.checks ? some(github.checks) : 'not known'],
    ['required checks', github ? some(github.required) : 'not known'],
    ...(github?.hasMergeQueue ? [['merge queue', 'yes'] as [string, string]] : []),
    ['code owners', owners ? `${ownersText(owners)} (${owners.file})` : 'none'],
    ['merge methods', github?.mergeMethods ? some(github.mergeMethods) : 'not known'],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return ['Seen:', ...rows.map(([name, value]) => `  ${name.padEnd(width)}  ${plainLine(value)}`)].join('\n');
}

function ownersText({ teams, users }: { teams: readonly string[]; users: readonly string[] }): string {
  const all = [...teams, ...users];
  return all.length === 0 ? 'nobody for all files' : `${some(all)} for all files`;
}

function some(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : '';
  return `${names.slice(0, MAX_SHOWN).join(', ')}${more}`;
}

/** As it is typed: `maintainers`, or names. */
function whoText(who: Who): string {
  return who.kind === 'maintainers' ? 'maintainers' : [...who.teams, ...who.users].join(', ');
}

/** The four questions. An empty answer takes what is in brackets. */
export const QUESTIONS = {
  who: ({ who }: Answers) =>
    `Who may countersign? maintainers, a team such as octo/core, or people by their logins [${plainLine(whoText(who))}] `,
  count: ({ count }: Answers) => `How many of them must countersign, 1 to 10? [${count}] `,
  method: ({ method }: Answers, { github }: Seen) =>
    `How are pull requests merged: ${listed(github?.mergeMethods ?? MERGE_METHODS, 'or')}? [${method}] `,
  checks: ({ checks }: Answers, choosable: readonly string[]) => {
    const lines = choosable.map((name, index) => `  ${index + 1}  ${plainLine(name)}`);
    const numbers = choosable.flatMap((name, index) => (checks.includes(name) ? [index + 1] : []));
    const preset = numbers.length === 0 ? 'none' : numbers.join(' ');
    return choosable.length === 0
      ? 'Which checks must pass? None were seen; --check names one. [none] '
      : `Which checks must pass? Their numbers, or none.\n${lines.join('\n')}\n[${preset}] `;
  },
} as const;

/** Why an answer does not count. */
export const NO_ANSWER = {
  who: 'Not understood: maintainers, or teams as organisation/team-slug and logins, with commas between them.',
  count: 'Not understood: a whole number from 1 to 10.',
  countOfNamed: 'Not understood: a whole number from 1 to 10, and no more than the people who are named.',
  tooFewNamed: 'Fewer people are named than must countersign, so nothing could ever be merged.',
  method: (seen: Pick<Seen, 'github'>) =>
    `The method must be ${listed(seen.github?.mergeMethods ?? MERGE_METHODS, 'or')}${seen.github?.mergeMethods ? ', which this repository allows' : ''}.`,
  checks: 'Not understood: numbers from the list with spaces between them, or none.',
} as const;

interface Done {
  seen: Seen;
  answers: Answers;
  files: readonly string[];
  pullRequest: { number: number; url: string } | undefined;
}

/** What was written, and what to do next. */
export function doneText({ seen, answers, files, pullRequest }: Done): string {
  const [settings = '', chain = ''] = files;
  const branch = seen.github?.defaultBranch;
  const what = pullRequest ? `Opened pull request #${pullRequest.number} with:` : 'Wrote:';
  const lines = [
    what,
    `  ${settings}`,
    `    ${plainLine(decided(answers, seen.github?.hasMergeQueue ?? false))}`,
    `  ${chain}`,
    '    The shipped chain with comments, so that each step is in sight and yours to change. Without this file the shipped chain runs.',
    ...(pullRequest ? [`  ${pullRequest.url}`] : []),
    '',
    'Next:',
    `  1. ${pullRequest ? 'Review and merge the pull request' : 'Commit both files'}. Countersign reads them from ${inSentence(branch)}.`,
    '  2. Install the App on the repository, if it is not installed there (README.md, "Run it").',
    `  3. Require the check "${plainLine(gateCheckName(branch ?? '<branch>'))}" in the protection of ${inSentence(branch)}. Until then, GitHub's own merge button works without a countersign (docs/security.md, "Protect a branch").`,
    '  4. For all repositories of an organisation, let it observe first: it then writes nothing to GitHub (docs/rollout.md).',
  ];
  return lines.join('\n');
}

function inSentence(branch: string | undefined): string {
  return branch === undefined ? 'the default branch' : plainLine(branch);
}

function decided({ who, count, method, checks }: Answers, hasMergeQueue: boolean): string {
  const people = who.kind === 'maintainers' ? 'maintainers' : some([...who.teams, ...who.users]);
  return [
    `${plural(count, 'countersign')} of ${people}`,
    hasMergeQueue ? 'merged by the merge queue' : `merge method ${method}`,
    checks.length === 0
      ? 'no check is required'
      : `${plural(checks.length, 'required check')}: ${some(checks)}`,
  ].join('; ');
}

/** The JSON of `init`. Scripts rely on it. */
export function doneJson({ seen, answers, files, pullRequest }: Done) {
  const { who, count, method, checks } = answers;
  return {
    repository: seen.repository ?? null,
    seen: {
      default_branch: seen.github?.defaultBranch ?? null,
      workflows: seen.workflows.map(({ file }) => file),
      checks: seen.github?.checks ?? null,
      required_checks: seen.github?.required ?? null,
      merge_queue: seen.github?.hasMergeQueue ?? null,
      code_owners: seen.owners
        ? { file: seen.owners.file, teams: seen.owners.teams, users: seen.owners.users }
        : null,
      merge_methods: seen.github?.mergeMethods ?? null,
    },
    answers: {
      who: who.kind === 'maintainers' ? 'maintainers' : { teams: who.teams, users: who.users },
      count,
      method,
      checks,
    },
    files: [...files],
    pull_request: pullRequest ?? null,
  };
}
