import { z } from 'zod';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { redact } from '../../core/redact/redact.ts';
import type { Outbox } from '../../engine/effects/outbox.ts';
import { noThreadReply, threadReply } from '../../messages/comments/thread-reply.ts';
import type { GitHub, GitHubReader, OwnThread, PullRequest, Repo } from '../../ports/github.ts';
import type { JobPayload, JobResult, JobRunner } from '../../ports/jobs.ts';
import type { Model } from '../../ports/model.ts';
import type { Storage } from '../../ports/storage.ts';
import { promptPath, shippedPrompt } from '../builtin/review/model/prompt.ts';
import { promptHandler } from '../kinds/prompt/handler.ts';

/** What one question holds, in characters of each part. */
const MAX_REPLY = 2_000;
const MAX_HUNK = 6_000;
const MAX_CODE = 12_000;
const MAX_FINDING = 4_000;
/** The newest ones before the reply that is answered. */
const MAX_REPLIES = 20;
const LINES_AROUND = 60;
const MAX_FILE_BYTES = 1_000_000;
const MAX_ANSWER = 3_000;

const answerSchema = z.strictObject({
  answer: z.string().trim().min(1).max(MAX_ANSWER).describe('The answer, as plain text.'),
});

type Job = JobPayload<'thread'>;

/**
 * Answers a reply below a finding, in its conversation. The model is asked one question without tools. What it says is only shown: it
 * cannot become a finding, a verdict or a command. If the job runs twice, one answer is written.
 */
export function threadJobs(deps: {
  storage: Storage;
  github: GitHub;
  outbox: Outbox;
  model: Model | undefined;
  clock: Clock;
  log: Log;
}): JobRunner<'thread'> {
  const { storage, github, outbox, clock, log } = deps;
  const handler = promptHandler({ model: deps.model });

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
    const output = await handler.execute(shippedPrompt('thread.md'), {
      trusted: { repository: `${owner}/${name}`, base_branch: pullRequest.baseRef },
      untrusted: await materialOf(reader, { owner, name }, { pullRequest, thread, asked }),
      schema: answerSchema,
      purpose: {
        runId: null,
        sessionId: null,
        repositoryId: job.repository.id,
        pullRequest: job.pull_request,
        skill: 'pr-review',
        artifact: promptPath('thread.md'),
      },
      signal,
    });
    const { marker, body } =
      output.kind === 'failed'
        ? noThreadReply(job.comment_id, output.because)
        : threadReply(job.comment_id, answerSchema.parse(output.value).answer);
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

  return {
    run,
    /** Nobody waits for long in a conversation, so nothing is written later. */
    async onRetriesExhausted({ comment_id, pull_request }, error) {
      log.error({ comment: comment_id, pull_request, err: error }, 'gave up on answering a reply');
    },
  };
}

/** Everything is from the pull request or about it, so all of it is fenced, and what looks like a secret is masked. */
async function materialOf(
  reader: GitHubReader,
  repo: Repo,
  {
    pullRequest,
    thread,
    asked,
  }: { pullRequest: PullRequest; thread: OwnThread; asked: OwnThread['comments'][number] },
) {
  const [finding, ...replies] = thread.comments;
  const before = replies.filter(({ id }) => id < asked.id).slice(-MAX_REPLIES);
  const said = ({ login, body }: OwnThread['comments'][number]) => `${login}: ${plain(body, MAX_REPLY)}`;
  return {
    finding: plain(finding?.body ?? '', MAX_FINDING),
    hunk: redact(thread.hunk.slice(-MAX_HUNK)),
    code: redact(await codeAround(reader, repo, pullRequest.headSha, thread)).slice(0, MAX_CODE),
    conversation: before.map(said),
    question: said(asked),
  };
}

/** Without markers and other comments in HTML, which no reader sees. */
function plain(text: string, max: number): string {
  return redact(text.replaceAll(/<!--.*?-->/gs, '').trim()).slice(0, max);
}

async function codeAround(
  reader: GitHubReader,
  repo: Repo,
  headSha: string,
  { path, line }: Pick<OwnThread, 'path' | 'line'>,
): Promise<string> {
  const entry = await reader.file(repo, path, headSha);
  const bytes = entry && (await reader.blob(repo, entry.sha, MAX_FILE_BYTES));
  if (!bytes || line === null) return path;
  const lines = Buffer.from(bytes).toString('utf8').split('\n');
  const from = Math.max(0, line - 1 - LINES_AROUND);
  const shown = lines.slice(from, line + LINES_AROUND).map((text, at) => `${from + at + 1}: ${text}`);
  return [path, ...shown].join('\n');
}
