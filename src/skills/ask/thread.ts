import { z } from 'zod';
import type { AnalyzerPool } from '../../analyzers/pool.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Outbox } from '../../engine/effects/outbox.ts';
import { NOT_SEARCHED, noThreadReply, threadReply } from '../../messages/comments/thread-reply.ts';
import type { GitHub } from '../../ports/github.ts';
import type { JobPayload, JobResult, JobRunner } from '../../ports/jobs.ts';
import type { Model } from '../../ports/model.ts';
import type { ReadTx, Storage } from '../../ports/storage.ts';
import { promptPath, shippedPrompt } from '../builtin/review/model/prompt.ts';
import { asking, type QuestionTraces } from '../builtin/review/model/questions.ts';
import type { Recorder } from '../runtime/trace/record.ts';
import { type ThreadMaterial, threadMaterial } from './thread-material.ts';

const MAX_ANSWER = 3_000;

const answerSchema = z.strictObject({
  answer: z.string().trim().min(1).max(MAX_ANSWER).describe('The answer, as plain text.'),
});

type Job = JobPayload<'thread'>;

/** The most runs that are searched for the review. */
const RUNS = 20;

/** The newest review of the pull request, to whose session the answer's call and trace belong. */
async function reviewOf(
  { runs }: ReadTx,
  { repository, pull_request }: Job,
): Promise<{ runId: string; sessionId: string } | undefined> {
  const of = { repositoryId: repository.id, pullRequest: pull_request, limit: RUNS };
  for (const { id } of await runs.list(of)) {
    const state = await runs.load(id);
    const review = state?.invocations.find(({ outcome }) => outcome?.outcome_kind === 'review_verdict');
    if (review?.sessionId) return { runId: id, sessionId: review.sessionId };
  }
  return undefined;
}

/**
 * Answers a reply below a finding, in its conversation. The model is asked one question without tools. What it says is only shown: it
 * cannot become a finding, a verdict or a command. If the job runs twice, one answer is written.
 */
export function threadJobs(deps: {
  storage: Storage;
  github: GitHub;
  outbox: Outbox;
  model: Model | undefined;
  /** For the search for secrets. */
  pool: AnalyzerPool;
  /** Writes the trace of each answer, beside those of the review that it is about. */
  record: Recorder;
  /** The package of the review. Called only when a reply is answered, because reading all shipped skills takes long. */
  skill: () => QuestionTraces['skill'];
  clock: Clock;
  log: Log;
}): JobRunner<'thread'> {
  const { storage, github, outbox, pool, clock, log, model } = deps;

  async function run(job: Job, signal: AbortSignal): Promise<JobResult> {
    const key = `thread:${job.comment_id}:answer`;
    if (await storage.read.effects.get(key)) return { kind: 'done' };
    const { owner, name } = job.repository;
    const reader = github.reader(job.installation_id, 'person');
    const pullRequest = await reader.pullRequest({ owner, name }, job.pull_request);
    const thread = await reader.ownThread({ owner, name }, job.pull_request, job.thread);
    const asked = thread?.comments.find(({ id }) => id === job.comment_id);
    // It was deleted meanwhile, or nothing is left to discuss.
    if (!thread || !asked || pullRequest.state === 'closed') return { kind: 'done' };
    const { headSha, baseRef } = pullRequest;
    const about = { headSha, thread, asked };
    const material = await threadMaterial(reader, { owner, name }, about, { pool, signal });
    const { marker, body } = material
      ? await answerFrom(material, job, baseRef, signal)
      : noThreadReply(job.comment_id, NOT_SEARCHED);
    await storage.transaction(async (tx) => {
      if (await tx.effects.get(key)) return;
      await outbox.request(
        tx,
        key,
        {
          kind: 'thread_reply',
          installation_id: job.installation_id,
          owner,
          repo: name,
          pull_request: job.pull_request,
          thread: job.thread,
          marker,
          body,
        },
        {
          runId: null,
          at: clock.now(),
          cause: { person: job.asked_by, pullRequest: `${job.repository.id}#${job.pull_request}` },
        },
      );
    });
    return { kind: 'done' };
  }

  async function answerFrom(
    { values, mask }: ThreadMaterial,
    job: Job,
    baseRef: string,
    signal: AbortSignal,
  ) {
    const owner = await reviewOf(storage.read, job);
    const ask = asking({
      model,
      ...(owner && { traces: { record: deps.record, skill: deps.skill(), inputs: {}, owner, clock } }),
    });
    const output = await ask(shippedPrompt('thread.md'), {
      trusted: { repository: `${job.repository.owner}/${job.repository.name}`, base_branch: baseRef },
      untrusted: values,
      schema: answerSchema,
      purpose: {
        runId: owner?.runId ?? null,
        sessionId: owner?.sessionId ?? null,
        repositoryId: job.repository.id,
        pullRequest: job.pull_request,
        skill: 'pr-review',
        artifact: promptPath('thread.md'),
      },
      signal,
    });
    return output.kind === 'failed'
      ? noThreadReply(job.comment_id, mask(output.because))
      : threadReply(job.comment_id, mask(answerSchema.parse(output.value).answer));
  }

  return {
    run,
    /** Nobody waits for long in a conversation, so nothing is written later. */
    async onRetriesExhausted({ comment_id, pull_request }, error) {
      log.error({ comment: comment_id, pull_request, err: error }, 'gave up on answering a reply');
    },
  };
}
