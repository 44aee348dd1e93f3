import { type AnalyzerPool, createAnalyzerPool } from '../analyzers/pool.ts';
import { gitHubPages } from '../config/addresses.ts';
import type { BaseConfig } from '../config/config.ts';
import type { ModelConfig } from '../config/model.ts';
import type { Clock } from '../core/clock.ts';
import { familyOf } from '../domain/model/name.ts';
import { builtInPolicy, type PolicyEngine } from '../domain/policy/engine.ts';
import { createModel } from '../engine/models/ask.ts';
import { createLedger, type Ledger } from '../engine/models/ledger.ts';
import { createRegistry, type Registry, type RegistryOverrides } from '../engine/sessions/registry.ts';
import type { StepHandler } from '../engine/steps/step.ts';
import { describeAgentFault } from '../messages/skills/agent.ts';
import type { Blobs } from '../ports/blobs.ts';
import type { GitHub } from '../ports/github.ts';
import type { Model } from '../ports/model.ts';
import type { Shell } from '../ports/shell.ts';
import type { Storage } from '../ports/storage.ts';
import { ciTexts } from '../skills/builtin/ci/artifacts.ts';
import type { CodexReview } from '../skills/builtin/review/codex-pr-review.ts';
import { builtInSkills, ci } from '../skills/builtin/shipped.ts';
import { type Activation, createActivation } from '../skills/catalogue/activation/activation.ts';
import { autoSkill } from '../skills/catalogue/activation/auto.ts';
import { createSelect } from '../skills/catalogue/activation/select.ts';
import { type AgentDeps, agentSkill, usableAgent } from '../skills/kinds/agent/agent-skill.ts';
import { analyzerSkill } from '../skills/kinds/analyzer/analyzer-skill.ts';
import { codeSkill } from '../skills/kinds/code/code-skill.ts';
import { moduleSkill } from '../skills/kinds/module/module-skill.ts';
import { createSidecar, type Sidecar } from '../skills/kinds/module/sidecar.ts';
import { promptSkill } from '../skills/kinds/prompt/prompt-skill.ts';
import { type ActivationDeps, createRunPackage, ownerOf, packageSkill } from '../skills/runtime/activate.ts';
import { createArtifactExecutor } from '../skills/runtime/trace/execute-artifact.ts';
import { createRecorder } from '../skills/runtime/trace/record.ts';
import { watchModel } from '../skills/runtime/trace/watch-model.ts';
import { createShell } from '../skills/shell/shell.ts';
import { shippedSkill } from './shipped.ts';

/** Replacements for tests. */
export interface SkillOverrides extends RegistryOverrides {
  /** Added to the shipped skills. */
  skills?: readonly StepHandler[];
  policy?: PolicyEngine;
  /** The handlers that execute artifacts of skill packages. */
  artifactHandlers?: ActivationDeps['handlers'];
  /** What agents are run with. */
  agents?: AgentDeps;
  /** What runs commands of chains. */
  shell?: Shell;
  /** The process for modules. Its creator stops it. */
  sidecar?: Sidecar;
  /** The processes for analyzers. Their creator stops them. */
  analyzers?: AnalyzerPool;
}

export interface Skills {
  /** Runs steps, under the policy: actions, built-in skills and packages. */
  registry: Registry;
  /** For commands of chains. */
  shell: Shell;
  /** For questions in comments, which no step asks. */
  activation: Activation;
  /** For replies in conversations, which no step answers; `undefined` if no model is configured. */
  model: Model | undefined;
  /** For the search for secrets before such a reply is sent to the model. */
  pool: AnalyzerPool;
  stop(): Promise<void>;
}

/**
 * Builds everything that steps need of skills: the model, the handler of each kind of artifact, and the
 * choice among packages.
 */
export async function createSkills(
  config: BaseConfig,
  { storage, blobs, github, clock }: { storage: Storage; blobs: Blobs; github: GitHub; clock: Clock },
  overrides: SkillOverrides,
): Promise<Skills> {
  const { skills } = storage.read;
  const watch = watchModel(config.model && (await openModel(config.model, storage, clock)));
  const { model } = watch;
  const policy = overrides.policy ?? builtInPolicy;
  const modelFamily = config.model ? familyOf(config.model.name) : null;
  const sidecar = overrides.sidecar ?? createSidecar({ clock });
  const pool = overrides.analyzers ?? createAnalyzerPool();
  const record = createRecorder({ storage, blobs });
  const executeArtifact = createArtifactExecutor({ watch, record, clock });
  const [prompt, code] = [promptSkill({ model }), codeSkill({ model, ciFiles: ciTexts })];
  const gitAccess: AgentDeps['gitAccess'] = async ({ installationId, repositoryId, repository }) => {
    const token = await github.app.readToken(installationId, repositoryId);
    return { url: `${gitHubPages(config.githubApiUrl)}/${repository}.git`, token };
  };
  const agents: AgentDeps = overrides.agents ?? {
    agents: config.agents ?? {},
    model: config.model && { ...config.model, ledger: ledgerOf(config.model, storage, clock) },
    gitAccess,
  };
  const handlers = overrides.artifactHandlers ?? [
    prompt,
    code,
    moduleSkill({ model, sidecar, skills, modelFamily, fallbacks: [prompt, code], executeArtifact }),
    analyzerSkill({ ci, pool }),
    agentSkill(agents),
  ];
  const runPackage = createRunPackage({ skills, handlers, modelFamily, executeArtifact });
  const codex: CodexReview = {
    policy,
    async unusable() {
      const usable = await usableAgent('codex', agents);
      return 'kind' in usable ? describeAgentFault(usable) : undefined;
    },
    run(step) {
      const skill = shippedSkill('codex-pr-review');
      const run = createRunPackage({
        skills: { get: async () => skill },
        handlers: [agentSkill(agents)],
        modelFamily,
        executeArtifact,
      });
      return run({ name: skill.name, id: skill.id, uses: undefined, owner: ownerOf(step) }, step);
    },
  };
  const select = createSelect({ skills, kinds: handlers.map(({ kind }) => kind), model });
  const activation = createActivation({ select, runPackage, policy });
  const [named, auto] = [packageSkill(runPackage), autoSkill({ storage, activation })];
  const registry = createRegistry(
    [
      ...builtInSkills({ model, pool, traces: { record, skill: () => shippedSkill('pr-review') }, codex }),
      ...(overrides.skills ?? []),
    ],
    policy,
    (step) => (step.uses.candidates ? auto(step) : named(step)),
    overrides,
  );
  const shell = overrides.shell ?? createShell({ allowed: config.shell === 'allow', gitAccess });
  return {
    registry,
    activation,
    model,
    pool,
    shell,
    async stop() {
      if (!overrides.sidecar) await sidecar.stop();
      if (!overrides.analyzers) await pool.stop();
    },
  };
}

/**
 * Loads the providers' packages only if a model is configured, because they take longer than all of the app's
 * own code.
 */
export async function openModel(config: ModelConfig, storage: Storage, clock: Clock): Promise<Model> {
  const { createAiProvider } = await import('../adapters/ai/provider.ts');
  return createModel({ provider: await createAiProvider(config), ledger: ledgerOf(config, storage, clock) });
}

function ledgerOf(config: ModelConfig, storage: Storage, clock: Clock): Ledger {
  return createLedger({ ...config, storage, clock, model: config.name });
}
