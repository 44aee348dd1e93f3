import type { Run } from '../../src/domain/run/run.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { isGateCheck, type SeenCheckRun } from '../support/github/read.ts';
import type { GitHubStandIn } from '../support/github/stand-in.ts';
import { type Actors, approvalCommentsOf } from './actors.ts';
import { expectedEnd } from './oracle.ts';

/** Everything about a pull request that is not as it must be, as sentences. */
export async function problemsOf(
  { github, app }: { github: GitHubStandIn; app: { storage: Storage } },
  actors: Actors,
): Promise<string[]> {
  const right = expectedEnd(actors.story);
  const { repo, number, heads } = actors;
  const pull = github.pullRequest(repo, number);
  const merges = github.merges.filter((merge) => merge.repo === repo && merge.number === number);
  const found: string[] = [];
  const check = (holds: boolean, sentence: string) => {
    if (!holds) found.push(`${repo}#${number}: ${sentence}`);
  };

  const waited = actors.waitsFor();
  check(waited === undefined, `people still wait to ${waited?.do}`);
  check(pull.state === right.state, `it is ${pull.state}, not ${right.state}`);
  const by = !pull.merged ? 'no' : pull.mergedBy === github.app.botLogin ? 'by the app' : 'by hand';
  check(by === right.merged, `merged: ${by}, not ${right.merged}`);
  check(merges.length === (right.merged === 'no' ? 0 : 1), `it was merged ${merges.length} times`);
  check(pull.headSha === heads.at(-1), 'its head is not the one pushed last');

  const questions = approvalCommentsOf(github, repo, number);
  heads.forEach((head, index) => {
    const { fewest, most } = right.questions[index] ?? { fewest: 0, most: 0 };
    const count = questions.filter(({ firstBody }) => firstBody.includes(`head=${head} `)).length;
    check(count >= fewest && count <= most, `head ${index + 1} was put to the maintainers ${count} times`);
  });

  const runs = await app.storage.read.runs.list({ limit: 1_000, pullRequest: number });
  const own = runs.filter(({ repository }) => repository === repo);
  const [newest] = own;
  const unseen = right.mayGoUnseen && own.length === 0;
  check(
    unseen || (newest?.status === right.run && newest.headSha === heads.at(-1)),
    `its newest run is ${newest?.status} (${newest?.reason?.code}), not ${right.run}`,
  );
  for (const { id, headSha } of own) {
    const checks = ownChecks(github, repo, headSha).filter(({ externalId }) => externalId === id);
    check(
      checks.length >= 1 && checks.length <= right.mostCheckRuns,
      `run ${id} has ${checks.length} check runs: ${checks.map(shortly).join(', ')}; asked for: ${asked(github, actors, checks)}`,
    );
    const isOver = !own.some((run) => run.id === id && run.status.startsWith('waiting'));
    check(
      (checks.at(-1)?.status === 'completed') === isOver,
      `the check run of ${id} says ${checks.at(-1)?.status}`,
    );
  }
  const said = ownChecks(github, repo, heads.at(-1) ?? '').at(-1)?.conclusion;
  check((said === 'success') === (right.merged === 'by the app'), `its last check run says ${said}`);
  for (const head of heads) {
    const strays = ownChecks(github, repo, head).filter(
      ({ externalId }) => !own.some((run) => run.id === externalId),
    );
    check(strays.length === 0, `${strays.length} check runs belong to no run`);
  }

  const comments = github
    .comments(repo, number)
    .filter(({ author }) => author === github.app.botLogin)
    .map(({ firstBody }) => /<!-- countersign:(\w+)/.exec(firstBody)?.[1] ?? firstBody);
  // What the chain does after its merge: a comment and a label.
  const afterwards = right.merged === 'by the app' ? 1 : 0;
  const others = comments.filter((kind) => kind !== 'approval').toSorted();
  // The status comment comes only if the approval comment does not say everything soon enough.
  const mayHave = unseen ? [''] : afterwards ? ['comment', 'comment,status'] : ['', 'status'];
  check(mayHave.includes(others.join()), `beside questions, its comments are: ${others.join(', ')}`);
  check(pull.labels.length === afterwards, `its labels are: ${pull.labels.join(', ')}`);
  if (found.length > 0)
    found.push(`${repo}#${number} was: ${told(actors)}; its runs: ${own.map(inBrief).join(', ')}`);
  return found;
}

/** Its story in a line, to help find the cause. */
function told({ story }: Actors): string {
  return story.map((act) => [...Object.values(act)].join(' ')).join(', ');
}

function inBrief({ id, headSha, status, reason, createdAt, updatedAt }: Run): string {
  const times = [createdAt, updatedAt].map((at) => at.toISOString().slice(11, 19)).join(' to ');
  return `${id} for ${headSha.slice(0, 7)} ${status} (${reason?.summary}) ${times}`;
}

function shortly({ id, status, conclusion, title }: SeenCheckRun): string {
  return `${id} ${conclusion ?? status} (${title})`;
}

/** The app's writes of these check runs, and its reads of their commits, in the order of the clock. */
function asked(github: GitHubStandIn, { repo, heads }: Actors, checks: readonly SeenCheckRun[]): string {
  const about = [
    ...checks.map(({ id }) => `/check-runs/${id}`),
    ...heads.map((head) => `${head}/check-runs`),
  ];
  return github.requests
    .filter(
      ({ method, path }) =>
        path.startsWith(`/repos/${repo}/`) &&
        (method === 'POST' ? path.endsWith('/check-runs') : about.some((part) => path.includes(part))),
    )
    .map(
      ({ method, path, status, at }) =>
        `${new Date(at).toISOString().slice(11, 23)} ${method} ${path.slice(repo.length + 8)} ${status}`,
    )
    .join(', ');
}

function ownChecks(github: GitHubStandIn, repo: string, sha: string) {
  return github.checkRuns(repo, sha).filter((run) => run.app === github.app.slug && !isGateCheck(run));
}
