import { z } from 'zod';
import type { Json } from '../../../core/canonical.ts';
import { checkValue } from '../../../core/check-value.ts';
import { redact } from '../../../core/redact/redact.ts';
import { filesOf, type SkillPackage } from '../../../domain/skill/package.ts';
import { pathOf } from '../../../domain/skill/place.ts';
import { filesOfHead } from '../../../engine/steps/head-files.ts';
import type { StepContext } from '../../../engine/steps/step.ts';
import { type CodeFault, checkpointNote, codeFailure } from '../../../messages/skills/code.ts';
import { describeFailure, spentOnModel } from '../../../messages/skills/model.ts';
import { NOT_OF_A_PULL_REQUEST, TOO_MANY_FILES } from '../../../messages/skills/prompt.ts';
import type { GitHubError, PullRequestFile } from '../../../ports/github.ts';
import type { Limits, Model, Purpose } from '../../../ports/model.ts';
import { answerSchema, asOutcomeValue } from '../../runtime/answer.ts';
import type { ArtifactHandler, ArtifactOutput } from '../../runtime/handler.ts';
import { knownOf, pullRequestFields, remembered, shownOf } from '../../runtime/pull-request.ts';
import { purposeOf } from '../../runtime/purpose.ts';
import type { SkillContext } from '../../runtime/skill-context.ts';
import { codeTemplate } from './code-template.ts';
import { gitHubHost } from './github-host.ts';
import { type CodeHost, HostRefusal } from './host.ts';
import type { CodeLimits } from './limits.ts';

/** Shorter than the total time of `llm_query`, so that the model's own error is reported. */
const LIMITS: Limits = { maxOutputTokens: 4_000, timeoutMs: 45_000 };
const modelAnswerSchema = z.strictObject({ text: z.string().describe('The answer to the question.') });

export interface CodeDeps {
  /** `undefined` if no model is configured. */
  model: Model | undefined;
  limits?: Partial<CodeLimits>;
}

/**
 * Runs a package's program on the run's pull request. docs/code-templates.md lists its inputs and functions.
 */
export function codeSkill({ model, limits = {} }: CodeDeps): ArtifactHandler<SkillContext> {
  return {
    kind: codeTemplate.kind,

    /** @throws GitHubError if GitHub could not be read while it ran; the queue retries */
    async execute(artifact, { step, skill, outcome }) {
      const { repo, reader } = step;
      const { run } = step.state;
      if (run.pullRequest === null) return failed(NOT_OF_A_PULL_REQUEST);
      const { files, truncated } = await filesOfHead(step);
      if (truncated) return failed(TOO_MANY_FILES);

      const notes: string[] = [];
      const note = (line: string) => notes.push(`${redact(line)}\n`);
      const trouble = new AbortController();
      const onTrouble = (error: GitHubError) => trouble.abort(error);
      const purpose = purposeOf(step, { skill: skill.name, artifact: pathOf(artifact) });
      let checkpoints = 0;
      const host: CodeHost = {
        ...gitHubHost({ reader, repo, sha: run.headSha, files }, onTrouble),
        ask: model && askModel(model, purpose, note),
        async checkpoint(value) {
          checkpoints += 1;
          note(checkpointNote(checkpoints, JSON.stringify(value)));
        },
      };
      const output = await codeTemplate.execute(artifact, {
        input: await inputOf(step, skill, files),
        host,
        limits,
        signal: AbortSignal.any([step.signal, trouble.signal]),
      });
      const log = output.log + notes.join('');
      if (output.kind === 'failed') return { ...output, log };

      const answer = checkValue(answerSchema(outcome, skill.outcomeSchema), output.value);
      if (!answer.ok) {
        const fault: CodeFault = { kind: 'wrong_result', outcome, detail: answer.detail };
        return { ...failed(codeFailure(pathOf(artifact), fault)), log };
      }
      const shown = shownOf(files, `${skill.name}/${artifact.name}`);
      return { kind: 'done', value: asOutcomeValue(answer.value, outcome, shown), log };
    },
  };
}

/** Without patches: `get_diff` returns them, and counts. */
async function inputOf(
  step: StepContext,
  skill: SkillPackage,
  files: readonly PullRequestFile[],
): Promise<{ [name: string]: Json }> {
  return {
    ...(await knownOf(step)),
    pr: await pullRequestFields(step),
    files: files.map(({ path, previousPath = null, status, additions, deletions }) => ({
      path,
      previous_path: previousPath,
      status,
      additions,
      deletions,
    })),
    state: remembered(step),
    inputs: step.inputs,
    package: Object.fromEntries(filesOf(skill).map(({ path, text }) => [path, text])),
  };
}

function failed(because: string): Extract<ArtifactOutput, { kind: 'failed' }> {
  return { kind: 'failed', because, retryable: false, log: '' };
}

/**
 * A program's questions to the model, charged to the budgets of its run. The whole prompt is the program's
 * and can quote untrusted text, so the answer is untrusted too.
 * @param note receives the usage of each question
 */
function askModel(
  model: Model,
  purpose: Purpose,
  note: (line: string) => void,
): NonNullable<CodeHost['ask']> {
  return async (prompt, signal) => {
    const answer = await model.ask({ prompt, schema: modelAnswerSchema, limits: LIMITS, purpose, signal });
    note(spentOnModel(model.name, answer.spent));
    if (answer.kind === 'answered') return answer.value.text;
    throw new HostRefusal({ kind: 'by_model', detail: describeFailure(answer.failure) });
  };
}
