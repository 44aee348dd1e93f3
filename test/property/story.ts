import fc from 'fast-check';
import { unreachable } from '../../src/core/errors.ts';
import { type Harness, REPO } from '../support/harness.ts';

const DEEDS = [
  'push',
  'push back',
  'ci pending',
  'ci red',
  'ci green',
  'check run',
  'comment',
  'review',
  'label',
  'retitle',
  'draft',
  'ready',
  'retarget',
  'close',
  'reopen',
  'merge',
] as const;
/** What happens to one pull request on GitHub, which one or several deliveries report. */
export type Act = (typeof DEEDS)[number];

const ENDINGS: Act[][] = [['reopen', 'ready', 'ci green'], ['reopen', 'ready', 'ci green'], ['merge'], []];

/** The story of a pull request after it was opened. Half of them end as they should: open, ready and green. */
export const anyStory: fc.Arbitrary<Act[]> = fc
  .tuple(
    fc.array(fc.constantFrom(...DEEDS.filter((act) => act !== 'merge')), { maxLength: 7, size: 'max' }),
    fc.constantFrom(...ENDINGS),
  )
  .map(([acts, ending]) => [...acts, ...ending]);

export interface Subject {
  number: number;
  /** The head that it was opened with. */
  firstHead: string;
  /** CI's last result for each head that it reported on. */
  ci: Map<string, 'pending' | 'success' | 'failure'>;
}

export async function open({ github }: Harness): Promise<Subject> {
  const { number, headSha } = await github.openPullRequest({
    repo: REPO,
    author: 'ada',
    branch: 'greet',
    title: 'Greet',
    files: { 'src/greet.ts': 'export const greeting = 0;\n' },
  });
  return { number, firstHead: headSha, ci: new Map() };
}

/** Does it on GitHub, if the pull request allows it now; the app hears of it whenever the deliveries arrive. */
export async function perform({ github }: Harness, subject: Subject, act: Act): Promise<void> {
  const { number, firstHead } = subject;
  const { state, merged, headSha, baseRef } = github.pullRequest(REPO, number);
  const push = (change: { forceTo?: string; files?: Record<string, string> }) =>
    github.push({ repo: REPO, branch: 'greet', author: 'ada', ...change });
  const ci = (says: 'pending' | 'success' | 'failure') => {
    subject.ci.set(headSha, says);
    return github.setStatus(REPO, headSha, { context: 'test', state: says });
  };
  if (merged) return;
  switch (act) {
    case 'push': {
      const before = github.fileAt(REPO, 'greet', 'src/greet.ts') ?? '';
      await push({ files: { 'src/greet.ts': `${before}greet();\n` } });
      return;
    }
    case 'push back':
      await push({ forceTo: firstHead });
      return;
    case 'ci pending':
      return ci('pending');
    case 'ci red':
      return ci('failure');
    case 'ci green':
      return ci('success');
    case 'check run':
      await github.reportCheck(REPO, headSha, { name: 'build', status: 'in_progress' });
      await github.reportCheck(REPO, headSha, { name: 'build', status: 'completed', conclusion: 'success' });
      return;
    case 'comment':
      await github.comment(REPO, number, 'otto', 'When will this be merged?');
      return;
    case 'review':
      await github.review(REPO, number, 'will', 'APPROVED');
      return;
    case 'label':
      return github.addLabel(REPO, number, 'ada', 'docs');
    case 'retitle':
      return github.editPullRequest(REPO, number, 'ada', { title: 'Greet everybody' });
    case 'draft':
      return github.convertToDraft(REPO, number, 'ada');
    case 'ready':
      return github.readyForReview(REPO, number, 'ada');
    case 'retarget':
      return github.editPullRequest(REPO, number, 'ada', { base: baseRef === 'main' ? 'release' : 'main' });
    case 'close':
      return github.closePullRequest(REPO, number, 'ada');
    case 'reopen':
      return github.reopenPullRequest(REPO, number, 'ada');
    case 'merge':
      if (state === 'closed') await github.reopenPullRequest(REPO, number, 'ada');
      await github.readyForReview(REPO, number, 'ada');
      await github.mergePullRequest(REPO, number, 'max');
      return;
    default:
      return unreachable(act);
  }
}
