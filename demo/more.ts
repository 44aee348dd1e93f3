import type { Stage } from './cases.ts';
import { until, viewer } from './watch.ts';
import { PEOPLE, REPO, SORTED, WEIGHED } from './world.ts';

/** Chains of the repository beside the shipped one. */
export const CHAINS = {
  // It fails, because people and apps cannot start that workflow.
  '.github/countersign/chains/weekly-image.yaml': [
    'name: weekly-image',
    'description: Builds an image of the default branch.',
    'trigger:',
    '  - schedule: "30 2 * * 1"',
    '  - event: manual.fired',
    'steps:',
    '  - id: build',
    '    action: gh-dispatch',
    '    with: { workflow: ci.yml }',
    '',
  ].join('\n'),
  '.github/countersign/chains/docs.yaml': [
    'name: docs',
    'description: Reviews what changes in the documentation.',
    'trigger:',
    '  event: pr.opened',
    '  filter: { paths: "docs/**" }',
    'steps:',
    '  - id: review',
    '    skill: docs-review',
    '',
  ].join('\n'),
};

/** What `--keep` leaves behind for people who look around in Studio. */
export interface Left {
  /** The pull request with an open question. */
  asked: number;
  /** The one that waits for CI. */
  waiting: number;
}

/** More than the cases, so that each page of Studio has something to show: a question, a run in progress, a failed one. */
export async function playMore({ github, tell }: Stage): Promise<Left> {
  const view = viewer(github);
  await tell.title(5, 'Work is left, so that you can look around');
  await github.push({
    repo: REPO,
    branch: 'main',
    author: PEOPLE.maintainer,
    files: CHAINS,
  });
  await tell.person(5, `${PEOPLE.maintainer} adds two chains to the default branch`);

  const open = (author: string, branch: string, title: string, files: Record<string, string>) =>
    github.openPullRequest({ repo: REPO, author, branch, title, files });
  const asked = await open(PEOPLE.author, 'sort', 'Sort products by price', SORTED);
  for (const name of ['test', 'lint'])
    await github.reportCheck(REPO, asked.headSha, { name, status: 'completed', conclusion: 'success' });
  await view.asked(asked.number, asked.headSha);
  await tell.person(5, `${PEOPLE.author} opens #${asked.number}, which waits for a maintainer`);

  const waiting = await open(PEOPLE.writer, 'weight', 'Show what a parcel weighs', WEIGHED);
  await github.reportCheck(REPO, waiting.headSha, { name: 'test', status: 'in_progress' });
  await view.check(waiting.headSha, 'the run to wait for CI', ({ title }) => title?.includes('CI') === true);
  await tell.person(5, `${PEOPLE.writer} opens #${waiting.number}, which waits for CI`);

  const before = github.comments(REPO, waiting.number).length;
  await github.comment(REPO, waiting.number, PEOPLE.maintainer, '/countersign fire weekly-image');
  await until('an answer to the command', () =>
    github.comments(REPO, waiting.number).length > before + 1 ? true : undefined,
  );
  await tell.person(5, `${PEOPLE.maintainer} fires the weekly chain, which fails`);
  return { asked: asked.number, waiting: waiting.number };
}
