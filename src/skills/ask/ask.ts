import type { Clock } from '../../core/clock.ts';
import { unreachable } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Candidate } from '../../domain/chain/chain.ts';
import { repoOf } from '../../domain/run/run.ts';
import type { Decision } from '../../domain/skill/decision.ts';
import { referenceTo, usedBy } from '../../domain/skill/package.ts';
import type { SkillInForce } from '../../domain/skill/scope.ts';
import type { Configuration, ConfigurationLoader } from '../../engine/configuration/configuration.ts';
import type { Outbox } from '../../engine/effects/outbox.ts';
import type { StepContext } from '../../engine/steps/step.ts';
import {
  type AskReply,
  answerComment,
  CLOSED,
  directAnswer,
  GAVE_UP,
  HEAD_MOVED,
  NOT_CONFIGURED,
  notAnswered,
  outcomeAnswer,
} from '../../messages/comments/ask.ts';
import type { GitHub } from '../../ports/github.ts';
import type { JobPayload, JobResult, JobRunner } from '../../ports/jobs.ts';
import type { SkillCall } from '../../ports/skill-traces.ts';
import type { Storage } from '../../ports/storage.ts';
import type { Activation } from '../catalogue/activation/activation.ts';
import { contextOfCall } from './context.ts';

/** Answers the question of a call in one comment. If the job runs twice, it answers once. */
export function askJobs(deps: {
  storage: Storage;
  github: GitHub;
  configuration: ConfigurationLoader;
  keepSkill(skill: SkillInForce): Promise<void>;
  activation: Activation;
  outbox: Outbox;
  clock: Clock;
  ids: Ids;
  log: Log;
}): JobRunner<'ask'> {
  const { storage, github, outbox, clock, log } = deps;

  async function answer(job: JobPayload<'ask'>, signal: AbortSignal): Promise<JobResult> {
    const call = await storage.read.skillCalls.get(job.callId);
    if (call && call.finishedAt === null) await postAnswer(call, job, await answerTo(call, signal));
    return { kind: 'done' };
  }

  async function answerTo(call: SkillCall, signal: AbortSignal): Promise<AskReply> {
    const pullRequest = await github
      .reader(call.installationId, 'person')
      .pullRequest(repoOf(call), call.pullRequest);
    if (pullRequest.state === 'closed') return CLOSED;
    const repo = repoOf(call);
    const configuration = await deps.configuration.forPullRequest(call.installationId, repo, pullRequest);
    if (!configuration || configuration.broken.some(({ kind }) => kind === 'settings')) return NOT_CONFIGURED;
    const candidates = await candidatesIn(configuration);
    const context = contextOfCall(deps, call, { pullRequest, configuration, candidates, signal });
    const owner = { callId: call.id };
    let { decision } = call;
    if (decision === null) {
      const asked = { text: call.question, candidates, mayAnswer: true, owner };
      const selected = await deps.activation.choose(context, asked);
      if (selected.kind === 'failed') return notAnswered(selected.because);
      decision = selected.decision;
      await storage.transaction((tx) => tx.skillCalls.save({ id: call.id, decision, finishedAt: null }));
    }
    return answerByDecision(decision, context, candidates, owner);
  }

  async function answerByDecision(
    decision: Decision,
    context: StepContext,
    candidates: readonly Candidate[],
    owner: { callId: string },
  ): Promise<AskReply> {
    switch (decision.kind) {
      case 'answer':
        return directAnswer(decision.text);
      case 'question':
        return notAnswered(decision.text);
      case 'skill': {
        const result = await deps.activation.executeArtifact(context, {
          choice: decision,
          candidates,
          owner,
        });
        switch (result.kind) {
          case 'done':
            return outcomeAnswer(decision, result.outcome);
          case 'failed':
            return notAnswered(result.reason.summary);
          case 'superseded':
            return HEAD_MOVED;
          case 'waits':
          case 'withheld':
            return notAnswered(result.reason.summary);
          default:
            return unreachable(result);
        }
      }
      default:
        return unreachable(decision);
    }
  }

  /** The packages in force for the base branch. Built-in skills have commands of their own. */
  async function candidatesIn({ skills, names }: Configuration): Promise<Candidate[]> {
    const usable = skills.filter(
      ({ skill }) => skill.outcome !== null && !names.builtIn.includes(skill.name),
    );
    for (const found of usable) await deps.keepSkill(found);
    const packages = usable.map(({ skill }) => skill);
    return packages.map((skill) => ({ name: skill.name, ...referenceTo(skill, usedBy(skill, packages)) }));
  }

  async function postAnswer(call: SkillCall, { othersOk }: JobPayload<'ask'>, said: AskReply): Promise<void> {
    const { owner, name } = repoOf(call);
    const place = { installation_id: call.installationId, owner, repo: name };
    const { marker, body } = answerComment(call.commentId, said);
    const content = said.ok && othersOk ? 'hooray' : 'confused';
    const cause = { person: call.askedBy, pullRequest: `${call.repositoryId}#${call.pullRequest}` };
    const desired = { runId: null, at: clock.now(), cause };
    await storage.transaction(async (tx) => {
      const now = await tx.skillCalls.get(call.id);
      if (!now || now.finishedAt !== null) return;
      await tx.skillCalls.save({ id: call.id, decision: now.decision, finishedAt: clock.now() });
      const comment = { kind: 'comment', ...place, issue: call.pullRequest, marker, body } as const;
      await outbox.request(tx, `command:${call.commentId}:asked`, comment, desired);
      const reaction = { kind: 'reaction', ...place, comment_id: call.commentId, content } as const;
      await outbox.request(tx, `command:${call.commentId}:answer`, reaction, desired);
    });
  }

  return {
    run: answer,
    /** Reports that there is no answer. */
    async onRetriesExhausted(job, error) {
      log.error({ call: job.callId, err: error }, 'gave up on answering a question');
      const call = await storage.read.skillCalls.get(job.callId);
      if (call && call.finishedAt === null) await postAnswer(call, job, GAVE_UP);
    },
  };
}
