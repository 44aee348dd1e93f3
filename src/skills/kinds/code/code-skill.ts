import { z } from 'zod';
import type { Json } from '../../../core/canonical.ts';
import { checkValue } from '../../../core/check-value.ts';
import { redact } from '../../../core/redact/redact.ts';
import { LeftFiles } from '../../../domain/artifact/left-files.ts';
import { familyOf } from '../../../domain/model/name.ts';
import { filesOf, type SkillPackage } from '../../../domain/skill/package.ts';
import { pathOf, placeOf } from '../../../domain/skill/place.ts';
import { filesOfHead } from '../../../engine/steps/head-files.ts';
import type { StepContext } from '../../../engine/steps/step.ts';
import { type CodeFault, checkpointNote, codeFailure, noPrompt } from '../../../messages/skills/code.ts';
import { fileRefused } from '../../../messages/skills/left-files.ts';
import { describeFailure, spentOnModel } from '../../../messages/skills/model.ts';
import { NOT_OF_A_PULL_REQUEST, TOO_MANY_FILES } from '../../../messages/skills/prompt.ts';
import { isNoSkill } from '../../../messages/skills/run-skill.ts';
import { GitHubError, type PullRequestFile } from '../../../ports/github.ts';
import type { Limits, Model, Purpose } from '../../../ports/model.ts';
import { answerSchema, asOutcomeValue } from '../../runtime/answer.ts';
import { filledPrompt } from '../../runtime/fill.ts';
import type { ArtifactHandler, ArtifactOutput } from '../../runtime/handler.ts';
import { knownOf, pullRequestFields, remembered, shownOf } from '../../runtime/pull-request.ts';
import { purposeOf } from '../../runtime/purpose.ts';
import type { SkillContext } from '../../runtime/skill-context.ts';
import { promptValues } from '../../runtime/values.ts';
import { variantFor } from '../../runtime/variant.ts';
import { Ledger } from './budget.ts';
import { codeTemplate } from './code-template.ts';
import { gitHubHost } from './github-host.ts';
import { type CodeHost, HostRefusal } from './host.ts';
import { type CodeLimits, DEFAULT_LIMITS } from './limits.ts';

/** Shorter than the total time of `llm_query`, so that the model's own error is reported. */
const LIMITS: Limits = { maxOutputTokens: 4_000, timeoutMs: 45_000 };
const modelAnswerSchema = z.strictObject({ text: z.string().describe('The answer to the question.') });

export interface CodeDeps {
  /** `undefined` if no model is configured. */
  model: Model | undefined;
  limits?: Partial<CodeLimits>;
  /** Reads a workflow artifact of the run's head; without it, programs read none. */
  ciFiles?: CiFiles | undefined;
}

/** The text files of a workflow artifact, `null` if CI left none, or why it cannot be read. */
export type CiFiles = (
  step: StepContext,
  name: string,
) => Promise<{ files: { path: string; content: string }[] | null } | { because: string }>;

/**
 * Runs a package's program on the run's pull request. docs/code-templates.md lists its inputs and functions.
 */
export function codeSkill({ model, limits = {}, ciFiles }: CodeDeps): ArtifactHandler<SkillContext> {
  // Programs that run each other share the budgets of the outermost.
  const ledgers = new WeakMap<object, Ledger>();
  const ledgerOf = ({ calls }: SkillContext): Ledger => {
    const known = calls && ledgers.get(calls.root);
    if (known) return known;
    const ledger = new Ledger({ ...DEFAULT_LIMITS, ...limits }.budgets);
    if (calls) ledgers.set(calls.root, ledger);
    return ledger;
  };

  return {
    kind: codeTemplate.kind,

    /** @throws GitHubError if GitHub could not be read while it ran; the queue retries */
    async execute(artifact, context) {
      const { step, skill, outcome, calls, isIntermediate = false, previous = null } = context;
      const { repo, reader } = step;
      const { run } = step.state;
      if (run.pullRequest === null) return failed(NOT_OF_A_PULL_REQUEST);
      const { files, truncated } = await filesOfHead(step);
      if (truncated) return failed(TOO_MANY_FILES);

      const notes: string[] = [];
      const note = (line: string) => {
        notes.push(`${redact(line)}\n`);
        step.print(`${line}\n`);
      };
      const trouble = new AbortController();
      const onTrouble = (error: GitHubError) => trouble.abort(error);
      const purpose = purposeOf(step, { skill: skill.name, artifact: pathOf(artifact) });
      let checkpoints = 0;
      const running: Promise<unknown>[] = [];
      const left = new LeftFiles();
      const host: CodeHost = {
        ...gitHubHost({ reader, repo, sha: run.headSha, files }, onTrouble),
        ask: model && askModel(model, purpose, note),
        async checkpoint(value) {
          checkpoints += 1;
          note(checkpointNote(checkpoints, JSON.stringify(value)));
        },
        ...(ciFiles && {
          async ciFiles(name: string) {
            const read = await ciFiles(step, name).catch((error) => {
              if (error instanceof GitHubError) onTrouble(error);
              throw error;
            });
            if ('because' in read) throw new HostRefusal({ kind: 'by_github', detail: read.because });
            return read.files;
          },
        }),
        async renderPrompt(path, values, signal) {
          const place = placeOf(path);
          const family = model ? familyOf(model.name) : null;
          const template =
            place?.kind === 'prompt_template' ? variantFor(skill.artifacts, place.name, family) : undefined;
          if (!template) throw new HostRefusal({ kind: 'by_skill', detail: noPrompt(path) });
          const { trusted, untrusted } = await promptValues(step, files, previous);
          const filled = await filledPrompt(
            template,
            { trusted, untrusted: { ...untrusted, ...values } },
            { signal },
          );
          if ('because' in filled) throw new HostRefusal({ kind: 'by_skill', detail: filled.because });
          return filled.text;
        },
        async runSkill(target, inputs, signal) {
          if (!calls) throw new HostRefusal({ kind: 'by_skill', detail: isNoSkill(target) });
          const ran = calls.run(target, inputs, signal);
          running.push(ran);
          const ended = await ran.catch((error) => {
            if (error instanceof GitHubError) onTrouble(error);
            throw error;
          });
          if ('because' in ended) throw new HostRefusal({ kind: 'by_skill', detail: ended.because });
          return ended.outcome;
        },
        async leave(path, text) {
          const refused = left.add(path, Buffer.from(text));
          if (refused !== undefined)
            throw new HostRefusal({ kind: 'not_kept', detail: fileRefused(path, refused) });
        },
      };
      const execution = codeTemplate.execute(artifact, {
        input: { ...(await inputOf(step, skill, files)), previous },
        host,
        limits,
        ledger: ledgerOf(context),
        onLog: step.print,
        signal: AbortSignal.any([step.signal, trouble.signal]),
      });
      // What it ran must not outlive it: its questions to the model would belong to no execution.
      const output = await execution.finally(() => Promise.allSettled(running));
      const log = output.log + notes.join('');
      const kept = { log, files: left.all() };
      if (output.kind === 'failed') return { ...output, ...kept };

      if (isIntermediate) return { kind: 'done', value: output.value, ...kept };
      const answer = checkValue(answerSchema(outcome, skill.outcomeSchema), output.value);
      if (!answer.ok) {
        const fault: CodeFault = { kind: 'wrong_result', outcome, detail: answer.detail };
        return { ...failed(codeFailure(pathOf(artifact), fault)), ...kept };
      }
      const shown = shownOf(files, `${skill.name}/${artifact.name}`);
      return { kind: 'done', value: asOutcomeValue(answer.value, outcome, shown), ...kept };
    },
  };
}

/** Without patches: `get_diff` returns them, and counts. Without prompts: `render_prompt` fills them. */
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
    package: Object.fromEntries(
      filesOf(skill)
        .filter(({ path }) => placeOf(path)?.kind !== 'prompt_template')
        .map(({ path, text }) => [path, text]),
    ),
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
