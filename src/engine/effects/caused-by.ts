import { z } from 'zod';
import type { Effect, EffectRow } from '../../domain/effect/effect.ts';
import type { Event } from '../../domain/event/event.ts';
import { rootOf } from '../../domain/run/child.ts';
import type { Run } from '../../domain/run/run.ts';
import type { ReadTx, Tx } from '../../ports/storage.ts';

/** How many runs have started one another until an event, and the last of them; zero for what others did. */
export interface CausedBy {
  depth: number;
  runId?: string;
  /** The first of them. */
  root?: string;
}

const BY_OTHERS: CausedBy = { depth: 0 };

/** What an event says of a branch, if the branch is one of this repository. */
type BranchOf = { repositoryId: number; branch: string };

/**
 * The run whose write GitHub reports by the event, found exactly: by the tag of a release, the branch of a backport, the merge
 * call, a status of the run, a workflow that it started. A chain that such events fire could otherwise start itself without end.
 * A merge or a push has no other limit, so a chain that deploys after each merge goes on.
 *
 * No link is missing of those that could close a circle. Labels, reviews, comments, issues and check runs of the app are no
 * events. A run about a push, a release or a check is about no pull request, so it can neither merge nor backport. What a
 * workflow writes is not the app's.
 * @param head the head of the pull request that the event is about
 */
export async function causedBy(read: ReadTx, event: Event, head?: BranchOf): Promise<CausedBy> {
  switch (event.kind) {
    case 'invocation.completed':
      return { depth: event.depth, runId: event.run_id, root: event.root ?? event.run_id };
    case 'release.published':
      return byRelease(read, event.repository.id, event.tag);
    case 'pr.opened':
    case 'pr.updated':
      return head ? byBackport(read, head) : BY_OTHERS;
    case 'pr.merged':
    case 'pr.closed': {
      const merges = await read.effects.mergesSent(event.repository.id, event.pull_request);
      const found = await Promise.all(merges.map((row) => byRunOf(read, row)));
      return deepest([...found, head ? await byBackport(read, head) : BY_OTHERS]);
    }
    case 'file.changed':
      return byBackport(read, { repositoryId: event.repository.id, branch: event.branch });
    case 'ci.changed':
      return event.ended ? byCheck(read, event.repository.id, event.head_sha, event.ended) : BY_OTHERS;
    default:
      return BY_OTHERS;
  }
}

function deepest(all: readonly CausedBy[]): CausedBy {
  return all.reduce((most, one) => (one.depth > most.depth ? one : most), BY_OTHERS);
}

function byRun({ id, facts }: Pick<Run, 'id' | 'facts'>): CausedBy {
  return { depth: (facts.depth ?? 0) + 1, runId: id, root: rootOf({ id, facts }) };
}

async function byRunOf(read: ReadTx, { runId }: EffectRow): Promise<CausedBy> {
  const run = runId === null ? undefined : await read.runs.get(runId);
  return run ? byRun(run) : BY_OTHERS;
}

/** How many requests of a tag are remembered: a release can be deleted and made again. */
const MAX_REQUESTS = 10;
/** Of so many tags of a repository, the newest are remembered. GitHub reports a release within seconds, and at most three days late. */
const MAX_TAGS = 100;
const requestsSchema = z.array(z.tuple([z.string(), z.array(z.string())]));

function releasesName(repositoryId: number): string {
  return `releases:${repositoryId}`;
}

/** Remembers who publishes a tag, before GitHub can report the release. */
export async function noteRelease(
  tx: Tx,
  key: string,
  effect: Effect,
  { runId, at }: { runId: string | null; at: Date },
): Promise<void> {
  if (effect.kind !== 'release' || effect.draft || runId === null) return;
  const run = await tx.runs.get(runId);
  if (!run) return;
  const known = await requestsOf(tx, run.repositoryId);
  const keys = known.get(effect.tag) ?? [];
  if (keys.includes(key)) return;
  known.delete(effect.tag);
  known.set(effect.tag, [key, ...keys].slice(0, MAX_REQUESTS));
  await tx.cursors.set(releasesName(run.repositoryId), [...known].slice(-MAX_TAGS), at);
}

/** By tag, the one that was requested last at the end. */
async function requestsOf(read: ReadTx, repositoryId: number): Promise<Map<string, string[]>> {
  return new Map(requestsSchema.safeParse(await read.cursors.get(releasesName(repositoryId))).data);
}

/** A request that found the release is not its cause. One without an answer may be. */
async function byRelease(read: ReadTx, repositoryId: number, tag: string): Promise<CausedBy> {
  const found: CausedBy[] = [];
  for (const key of (await requestsOf(read, repositoryId)).get(tag) ?? []) {
    const row = await read.effects.get(key);
    if (row && row.progress.result !== 'found') found.push(await byRunOf(read, row));
  }
  return deepest(found);
}

/** The branch names the pull request that is copied, whose runs have the effect. */
async function byBackport(read: ReadTx, { repositoryId, branch }: BranchOf): Promise<CausedBy> {
  const number = /^backport\/(\d+)-to-/.exec(branch)?.[1];
  if (number === undefined) return BY_OTHERS;
  const runs = await read.runs.list({ repositoryId, pullRequest: Number(number) });
  return byEffect(
    read,
    runs,
    'gh-backport',
    ({ effect }) => effect.kind === 'backport' && effect.branch === branch,
  );
}

/**
 * A status is one of a run at its commit. A check of a workflow links to the workflow's run:
 * https://github.com/cli/cli/issues/6663.
 */
async function byCheck(
  read: ReadTx,
  repositoryId: number,
  headSha: string,
  { name, workflow_run: workflowRun }: { name: string; workflow_run?: number | undefined },
): Promise<CausedBy> {
  const runs = await read.runs.list({ repositoryId, headSha });
  const ofStatus = await byEffect(
    read,
    runs,
    'gh-status',
    ({ effect }) => effect.kind === 'status' && effect.context.toLowerCase() === name.toLowerCase(),
  );
  if (workflowRun === undefined) return ofStatus;
  const ofWorkflow = await byEffect(
    read,
    runs,
    'gh-dispatch',
    ({ effect, githubId }) => effect.kind === 'dispatch' && githubId === workflowRun,
  );
  return deepest([ofStatus, ofWorkflow]);
}

async function byEffect(
  read: ReadTx,
  runs: readonly Run[],
  action: string,
  is: (row: EffectRow) => boolean,
): Promise<CausedBy> {
  const found: CausedBy[] = [];
  for (const run of runs) {
    if (!run.definition.steps.some(({ uses }) => uses.kind === 'action' && uses.name === action)) continue;
    if ((await read.effects.ofRun(run.id)).some(is)) found.push(byRun(run));
  }
  return deepest(found);
}
