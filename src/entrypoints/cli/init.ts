import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CountersignError } from '../../core/errors.ts';
import { PACKAGE_ROOT } from '../../core/package-root.ts';
import { CHAINS_FOLDER, SETTINGS_FILE } from '../../domain/chain/configuration-files.ts';
import type { Answers } from '../../domain/first-look/answers.ts';
import { type FileText, type Seen, seenOf } from '../../domain/first-look/seen.ts';
import {
  BRANCH,
  branchExists,
  configuredAlready,
  doneJson,
  doneText,
  invalidFiles,
  NEEDS_ANSWERS,
  notAllowedToPropose,
  PROPOSAL_TITLE,
  proposalBody,
  seenText,
} from '../../messages/cli/init.ts';
import { chainFile, settingsFile } from '../../messages/cli/init-files.ts';
import { GitHubError, type Repo } from '../../ports/github.ts';
import { checkWritten } from './check-written.ts';
import { writeAll } from './checkout.ts';
import { type Context, type Output, type Person, UsageError } from './context.ts';
import { look, targetOf, whyNoAnswer } from './init-look.ts';
import { answersTo, type GivenAnswers } from './init-questions.ts';

export interface InitOptions extends GivenAnswers {
  /** Takes the proposed answers. */
  yes?: boolean;
  /** `owner/name` */
  repo?: string;
  /** Opens a pull request instead of writing here. */
  pr?: boolean;
}

/**
 * Inspects a repository, asks four questions, and writes settings and a chain for it: into the checkout of the working
 * folder, or into a pull request.
 */
export async function init(context: Context, options: InitOptions): Promise<Output> {
  const person = options.yes ? undefined : await context.tools.person();
  if (!options.yes && !person) throw new UsageError(NEEDS_ANSWERS);
  try {
    return await initWith(context, options, person);
  } finally {
    person?.leave();
  }
}

async function initWith(context: Context, options: InitOptions, person: Person | undefined): Promise<Output> {
  const target = await targetOf(context, options);
  const { github, files: there } = await look(context, target);
  if (there.configured.length > 0)
    throw new CountersignError('cli.configured', configuredAlready(there.configured));
  const { repo } = target;
  const seen = seenOf(repo && `${repo.owner}/${repo.name}`, there, github);
  if (person) context.progress(`${seenText(seen)}\n`);
  const answers = await answersTo(seen, options, person);
  const files = filesFor(answers, seen);
  await checkWritten(context, files, invalidFiles);
  const done = { seen, answers, files: files.map(({ path }) => path) };
  if (target.kind === 'checkout') writeAll(target.checkout, files);
  const pullRequest =
    target.kind === 'pull request' && github
      ? await openPullRequest(context, target.repo, github.defaultBranch, files)
      : undefined;
  const text = doneText({ ...done, pullRequest });
  return {
    // A person who was asked has seen it already.
    text: person ? text : `${seenText(seen)}\n\n${text}`,
    json: doneJson({ ...done, pullRequest }),
  };
}

function filesFor(answers: Answers, { github }: Seen): FileText[] {
  const shipped = readFileSync(join(PACKAGE_ROOT, 'chains/pr-review.yaml'), 'utf8');
  return [
    { path: SETTINGS_FILE, text: settingsFile(answers, github?.hasMergeQueue ?? false) },
    { path: `${CHAINS_FOLDER}/pr-review.yaml`, text: chainFile(shipped) },
  ];
}

async function openPullRequest(
  { tools }: Context,
  repo: Repo,
  base: string,
  files: readonly FileText[],
): Promise<{ number: number; url: string }> {
  const proposal = { repo, base, branch: BRANCH, files, title: PROPOSAL_TITLE, body: proposalBody(base) };
  const proposed = await tools.propose(proposal).catch((error: unknown) => {
    if (!(error instanceof GitHubError)) throw error;
    const isRefused = error.kind === 'forbidden' || error.kind === 'not_found';
    const because = isRefused ? notAllowedToPropose(error.message) : whyNoAnswer(error, true);
    throw new CountersignError('cli.github', because);
  });
  if (proposed.kind === 'branch_exists')
    throw new CountersignError('cli.branch_exists', branchExists(`${repo.owner}/${repo.name}`));
  return { number: proposed.number, url: proposed.url };
}
