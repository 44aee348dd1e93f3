import { LeftFiles } from '../../../domain/artifact/left-files.ts';
import { type Module, parseModule } from '../../../domain/skill/module.ts';
import { pathOf, placeOf } from '../../../domain/skill/place.ts';
import { producesOf } from '../../../domain/skill/produces.ts';
import type { SkillArtifact } from '../../../domain/skill/skill.ts';
import { filesOfHead } from '../../../engine/steps/head-files.ts';
import { fileRefused } from '../../../messages/skills/left-files.ts';
import { NO_MODEL } from '../../../messages/skills/model.ts';
import {
  type Cause,
  describeModuleFault,
  fellBack,
  type ModuleFault,
} from '../../../messages/skills/module.ts';
import { NOT_OF_A_PULL_REQUEST, TOO_MANY_FILES } from '../../../messages/skills/prompt.ts';
import type { GitHubError } from '../../../ports/github.ts';
import type { Model } from '../../../ports/model.ts';
import type { Skills } from '../../../ports/storage.ts';
import { asOutcomeValue } from '../../runtime/answer.ts';
import type { AnyHandler, ArtifactHandler, ArtifactOutput } from '../../runtime/handler.ts';
import { shownOf } from '../../runtime/pull-request.ts';
import { purposeOf } from '../../runtime/purpose.ts';
import type { SkillContext } from '../../runtime/skill-context.ts';
import type { ExecuteArtifact } from '../../runtime/trace/execute-artifact.ts';
import { variantFor } from '../../runtime/variant.ts';
import { gitHubHost } from '../code/github-host.ts';
import { inputsOf } from './facts.ts';
import { runModule } from './run-module.ts';
import { outcomeValue } from './shape.ts';
import type { Sidecar } from './sidecar.ts';
import { readState } from './state.ts';

export interface ModuleDeps {
  /** `undefined` if no model is configured. */
  model: Model | undefined;
  sidecar: Sidecar;
  skills: Pick<Skills, 'get'>;
  /** The family of the configured model; `null` if there is none. */
  modelFamily: string | null;
  /** The handlers of the files that a module can fall back to: prompts and programs. */
  fallbacks: readonly ArtifactHandler<SkillContext>[];
  /** Executes the fallback as an execution of its own, with its assertions. */
  executeArtifact: ExecuteArtifact;
  /** Creates the code of a fence. */
  newCode?: () => string;
}

/** Runs a package's module on the run's pull request. docs/modules.md lists its inputs. */
export function moduleSkill(deps: ModuleDeps): AnyHandler<SkillContext> {
  const { model, sidecar, skills, newCode } = deps;

  async function fallBack(artifact: SkillArtifact, module: Module, cause: Cause, context: SkillContext) {
    const { fallback_artifact: path } = module;
    const place = placeOf(path);
    const fallback = place && variantFor(context.skill.artifacts, place.name, deps.modelFamily);
    const handler = deps.fallbacks.find(({ kind }) => kind === fallback?.kind);
    if (!fallback || !handler) return faulty(artifact, { kind: 'no_fallback', path });
    const output = await deps.executeArtifact(handler, fallback, context);
    if (output.kind === 'waits') return output;
    return { ...output, log: `${fellBack(pathOf(artifact), path, cause)}\n${output.log}` };
  }

  return {
    kind: 'dspy_module',

    /** @throws GitHubError if GitHub could not be read while it ran; the queue retries */
    async execute(artifact, context) {
      const { step, skill, outcome } = context;
      const { run } = step.state;
      if (run.pullRequest === null) return failed(NOT_OF_A_PULL_REQUEST);
      const module = parseModule(artifact.content);
      if (!model) {
        // A prompt would need the same model.
        const needsModel = placeOf(module.fallback_artifact)?.kind !== 'code_template';
        return needsModel ? failed(NO_MODEL) : fallBack(artifact, module, { kind: 'no_model' }, context);
      }
      const { files, truncated } = await filesOfHead(step);
      if (truncated) return failed(TOO_MANY_FILES);
      const found = await inputsOf(module, step, files, context.previous);
      if ('fault' in found) return faulty(artifact, found.fault);
      const { inputs } = found;

      const path = pathOf(artifact);
      const stored = (await skills.get(skill.id))?.artifacts.find((one) => pathOf(one) === path);
      const trouble = new AbortController();
      const onTrouble = (error: GitHubError) => trouble.abort(error);
      const { repo, reader } = step;
      const end = await runModule({
        sidecar,
        model,
        module,
        outcome,
        state: readState(stored?.state ?? null, module, outcome),
        inputs,
        tools: gitHubHost({ reader, repo, sha: run.headSha, files }, onTrouble),
        purpose: purposeOf(step, { skill: skill.name, artifact: path }),
        signal: AbortSignal.any([step.signal, trouble.signal]),
        newCode,
      });
      switch (end.kind) {
        case 'unavailable':
          return { ...(await fallBack(artifact, module, end.died, context)), inputs };
        case 'failed': {
          const { because, retryable, log } = end;
          return { kind: 'failed', because: `${path}: ${because}`, retryable, log, inputs };
        }
        case 'answered': {
          const shown = shownOf(files, `${skill.name}/${artifact.name}`);
          const value = asOutcomeValue(outcomeValue(end.outputs, outcome), outcome, shown);
          const left = new LeftFiles();
          const produces = producesOf(artifact, skill);
          const text = produces?.output === undefined ? undefined : end.outputs[produces.output];
          if (produces && typeof text === 'string') {
            const refused = left.add(produces.path, Buffer.from(text));
            if (refused !== undefined)
              return { ...failed(fileRefused(produces.path, refused)), log: end.log, inputs };
          }
          return { kind: 'done', value, log: end.log, inputs, files: left.all() };
        }
      }
    },
  };
}

function faulty(artifact: SkillArtifact, fault: ModuleFault) {
  return failed(`${pathOf(artifact)}: ${describeModuleFault(fault)}`);
}

function failed(because: string): Extract<ArtifactOutput, { kind: 'failed' }> {
  return { kind: 'failed', because, retryable: false, log: '' };
}
