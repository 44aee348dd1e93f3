import type { ModelConfig } from './config/model.ts';
import { type AppConfig, gitHubPages } from './config.ts';
import type { Clock } from './core/clock.ts';
import type { GitHub } from './github/github.ts';
import { createModel } from './model/ask.ts';
import { createLedger, type Ledger } from './model/ledger.ts';
import type { Model } from './model/model.ts';
import { familyOf } from './model/name.ts';
import { builtInPolicy, type PolicyEngine } from './policy/engine.ts';
import { createRegistry, type Registry } from './session/registry.ts';
import type { StepHandler } from './session/step.ts';
import { shippedSkill } from './shipped.ts';
import { type Activation, createActivation } from './skill/activation/activation.ts';
import { autoSkill } from './skill/activation/auto.ts';
import { createSelect } from './skill/activation/select.ts';
import { agentSkill } from './skill/agent/agent-skill.ts';
import { analyzerSkill } from './skill/analyzer/analyzer-skill.ts';
import { codeSkill } from './skill/code/code-skill.ts';
import { moduleSkill } from './skill/module/module-skill.ts';
import { createSidecar, type Sidecar } from './skill/module/sidecar.ts';
import { promptSkill } from './skill/prompt/prompt-skill.ts';
import { type ActivationDeps, createRunPackage, packageSkill } from './skill/registry/activate.ts';
import { builtInSkills } from './skill/shipped.ts';
import { createCarryOut } from './skill/trace/carry-out.ts';
import { createRecorder } from './skill/trace/record.ts';
import { watchModel } from './skill/trace/watch-model.ts';
import type { Blobs } from './storage/blobs.ts';
import type { Storage } from './storage/storage.ts';

/** What tests put in the place of the real thing. */
export interface SkillOverrides {
  /** Beside the skills that ship. */
  skills?: readonly StepHandler[];
  policy?: PolicyEngine;
  /** What carries out the artifacts of skill packages. */
  artifactHandlers?: ActivationDeps['handlers'];
  /** The process of modules; whoever made it ends it. */
  sidecar?: Sidecar;
}

export interface Skills {
  /** What carries out steps: actions, built-in skills and packages, under the policy. */
  registry: Registry;
  /** For questions in comments, which no step asks. */
  activation: Activation;
  stop(): Promise<void>;
}

/** Builds all that steps can ask of skills: the model, what carries out each kind of artifact, the choice among packages. */
export async function createSkills(
  config: AppConfig,
  { storage, blobs, github, clock }: { storage: Storage; blobs: Blobs; github: GitHub; clock: Clock },
  overrides: SkillOverrides,
): Promise<Skills> {
  const { skills } = storage.read;
  const watch = watchModel(config.model && (await openModel(config.model, storage, clock)));
  const { model } = watch;
  const policy = overrides.policy ?? builtInPolicy;
  const modelFamily = config.model ? familyOf(config.model.name) : null;
  const sidecar = overrides.sidecar ?? createSidecar({ clock });
  const record = createRecorder({ storage, blobs });
  const carryOut = createCarryOut({ watch, record, clock });
  const prompt = promptSkill({ model });
  const handlers = overrides.artifactHandlers ?? [
    prompt,
    codeSkill({ model }),
    moduleSkill({ model, sidecar, skills, modelFamily, prompt, carryOut }),
    analyzerSkill,
    agentSkill({
      agents: config.agents ?? {},
      model: config.model && { ...config.model, ledger: ledgerOf(config.model, storage, clock) },
      async gitAccess({ installationId, repositoryId, repository }) {
        const token = await github.app.readToken(installationId, repositoryId);
        return { url: `${gitHubPages(config.githubApiUrl)}/${repository}.git`, token };
      },
    }),
  ];
  const runPackage = createRunPackage({ skills, handlers, modelFamily, carryOut });
  const select = createSelect({ skills, kinds: handlers.map(({ kind }) => kind), model });
  const activation = createActivation({ select, runPackage, policy });
  const [named, auto] = [packageSkill(runPackage), autoSkill({ storage, activation })];
  const registry = createRegistry(
    [
      ...builtInSkills({ model, traces: { record, skill: () => shippedSkill('pr-review') } }),
      ...(overrides.skills ?? []),
    ],
    policy,
    (step) => (step.uses.candidates ? auto(step) : named(step)),
  );
  return {
    registry,
    activation,
    async stop() {
      if (!overrides.sidecar) await sidecar.stop();
    },
  };
}

/** The packages of the providers are loaded only where there is a model: they take longer than all of the app's own. */
export async function openModel(config: ModelConfig, storage: Storage, clock: Clock): Promise<Model> {
  const { createAiProvider } = await import('./model/ai/provider.ts');
  return createModel({ provider: await createAiProvider(config), ledger: ledgerOf(config, storage, clock) });
}

function ledgerOf(config: ModelConfig, storage: Storage, clock: Clock): Ledger {
  return createLedger({ ...config, storage, clock, model: config.name });
}
