import { isRunOver } from '../../src/domain/run/run.ts';
import { timeless } from '../crash/end-state.ts';
import { isGateCheck, type SeenPullRequest } from '../support/github/read.ts';
import { type Harness, REPO } from '../support/harness.ts';

/** What a person reads about a pull request when everything is done. */
export interface EndState {
  pullRequest: Pick<SeenPullRequest, 'state' | 'merged' | 'draft' | 'baseRef' | 'labels' | 'title'>;
  /** The newest. */
  run:
    | {
        status: string;
        reason: string | undefined;
        isOver: boolean;
        isAboutHead: boolean;
        isAboutBase: boolean;
      }
    | undefined;
  checkRun: { status: string; conclusion: string | null; words: string } | undefined;
  question: string | undefined;
  /**
   * Unfinished effects, runs that are not about the newest head and base, and comments that are not about the newest run; must be
   * empty.
   */
  leftOver: string[];
}

export async function readEndState({ github, app }: Harness, number: number): Promise<EndState> {
  const { headSha, ...pullRequest } = github.pullRequest(REPO, number);
  const runs = await app.storage.read.runs.list({ pullRequest: number, limit: 100 });
  const [newest, ...older] = runs;
  const checkRuns = [...new Set([headSha, ...runs.map((run) => run.headSha)])]
    .flatMap((sha) => github.checkRuns(REPO, sha))
    .filter((run) => run.app === github.app.slug && !isGateCheck(run));
  const shown = checkRuns.findLast(({ externalId }) => externalId === newest?.id);
  const comments = github.comments(REPO, number);
  const questions = comments.filter(({ body }) => body.includes('<!-- countersign:question'));
  const [current, ...more] = comments.filter(
    ({ body, isMinimized }) => /<!-- countersign:(status|question)/.test(body) && !isMinimized,
  );
  return {
    pullRequest,
    run: newest && {
      status: newest.status,
      reason: newest.reason?.code,
      isOver: isRunOver(newest.status),
      isAboutHead: newest.headSha === headSha,
      isAboutBase: newest.baseRef === pullRequest.baseRef,
    },
    checkRun: shown && {
      status: shown.status,
      conclusion: shown.conclusion,
      words: readable([shown.title, shown.summary, shown.text].join('\n')),
    },
    question: isAsked(questions.at(-1)?.body) ? readable(questions.at(-1)?.body ?? '') : undefined,
    leftOver: [
      ...older.filter((run) => !isRunOver(run.status)).map((run) => `${run.id} is ${run.status}`),
      ...checkRuns
        .filter((run) => run !== shown && run.status !== 'completed')
        .map((run) => `the check run of ${run.externalId} is ${run.status}`),
      ...questions
        .slice(0, -1)
        .filter(({ body }) => isAsked(body))
        .map(({ id }) => `the earlier question ${id} is open`),
      ...more.map(({ id }) => `there is a second current comment, ${id}`),
      // Whether it is a status comment or an earlier question depends on what the app saw of the story, so no more of it is compared.
      ...(current?.body.includes('<!-- countersign:status') && !current.body.includes(shown?.title ?? '')
        ? [`the comment ${current.id} does not say: ${shown?.title}`]
        : []),
    ],
  };
}

function isAsked(body: string | undefined): boolean {
  return body?.includes('Approve this merge?') ?? false;
}

/**
 * Ids are numbered in tests, and there are more runs the more of the story the app has seen. How many checks had reported when CI
 * was found green also depends on the moment: later ones are read at the merge. So does the finding of a poll: a later poll that
 * finds the same things missing writes nothing.
 */
function readable(text: string): string {
  return timeless(text)
    .replaceAll(/^ +- ✅ .*\n/gm, '')
    .replace(/(?<=What the last poll found<\/summary>\n)[^<]*/, (found) =>
      found.replaceAll(/^- ✅ .*\n/gm, ''),
    )
    .replaceAll(/\b(run|apr|inv|ses)_\d+/g, '$1_id')
    .replaceAll(/the only check passed|all \d+ checks passed/g, 'the checks passed')
    .replaceAll(/^\| ✅ \|.*\| success \|.*\|\n/gm, '');
}
