import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment } from './config/fields.ts';
import type { ModelConfig } from './config/model.ts';
import { type Clock, systemClock } from './core/clock.ts';
import { CountersignError, messageOf } from './core/errors.ts';
import { PACKAGE_ROOT } from './core/package-root.ts';
import { neverShow, neverShowSecretsOf } from './core/redact/redact.ts';
import { type SkillRunner, type Tools, UsageError } from './entrypoints/cli/context.ts';
import type { Model } from './ports/model.ts';
import type { Skills } from './ports/storage.ts';
import type { CiFiles } from './skills/kinds/code/code-skill.ts';
import type { ModuleDeps } from './skills/kinds/module/module-skill.ts';

/**
 * The composition root of the command line. Each part is loaded on demand, by the commands that use it:
 * test/budgets/command-line.test.ts fails if a command loads more.
 * @param calledIn the caller's folder, if it differs from the process's folder. Paths of arguments are
 * relative to it; paths of settings are relative to the process's folder, where the settings are.
 * @param clock learns the time from a database of PostgreSQL that is opened, if it is one that does
 */
export function createTools(env: Environment, calledIn?: string, clock: Clock = systemClock): Tools {
  neverShowSecretsOf(env);
  /** @throws UsageError for an invalid argument, CountersignError for an invalid `DATABASE_URL` */
  const urlOf = async (given: string | undefined, argument = '--database') => {
    const { readStorageConfig } = await import('./config/addresses.ts');
    const read = readStorageConfig(given === undefined ? env : { DATABASE_URL: seenFrom(calledIn, given) });
    if (read.ok) return read.config.databaseUrl;
    const { badDatabase } = await import('./messages/cli/cli.ts');
    const message = badDatabase(read.diagnostics, given === undefined ? undefined : argument);
    throw given === undefined ? new CountersignError('config.invalid', message) : new UsageError(message);
  };
  const token = env.GITHUB_TOKEN || env.GH_TOKEN || undefined;
  /** The person's token, and the server that it is for. @throws CountersignError for invalid settings */
  const gitHubAccess = async () => {
    const [{ readBaseConfig }, { badSettingsHere }] = await Promise.all([
      import('./config/config.ts'),
      import('./messages/cli/policy.ts'),
    ]);
    if (token) neverShow('GitHub token', token);
    const read = readBaseConfig(env);
    if (!read.ok) throw new CountersignError('config.invalid', badSettingsHere(read.diagnostics));
    return { token, apiUrl: read.config.githubApiUrl };
  };
  /** Only the named file: a command that runs in a repository must not take settings from a file that it finds there. */
  const given = async (settings: string | undefined): Promise<Environment> =>
    settings === undefined ? {} : settingsIn(resolve(calledIn ?? '', settings));

  return {
    async withDatabase(url, purpose, work) {
      return (await import('./composition/cli-database.ts')).withDatabase(
        await urlOf(url),
        purpose,
        work,
        clock,
      );
    },
    async hasDatabase() {
      const url = await urlOf(undefined);
      return !url.startsWith('sqlite:') || existsSync(url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, ''));
    },
    async migrate(url, onBlocked) {
      return (await import('./composition/cli-database.ts')).migrate(await urlOf(url), onBlocked);
    },
    async backup(url, file, onProgress) {
      return (await import('./composition/cli-database.ts')).backup(await urlOf(url), file, onProgress);
    },
    async copyDatabase(from, to, reports) {
      const urls = [await urlOf(from, '<from>'), await urlOf(to, '<to>')] as const;
      return (await import('./composition/cli-copy.ts')).copyDatabase(...urls, reports);
    },
    async vacuum(url) {
      return (await import('./composition/cli-database.ts')).vacuum(await urlOf(url));
    },
    async blobs() {
      const [{ readArtifactsConfig }, { badArtifacts, noArtifacts }] = await Promise.all([
        import('./config/config.ts'),
        import('./messages/cli/cli.ts'),
      ]);
      const read = readArtifactsConfig(env);
      if (!read.ok) throw new CountersignError('config.invalid', badArtifacts(read.diagnostics));
      const { artifactsUrl, s3 } = read.config;
      const { artifactsFolder, openBlobs } = await import('./composition/blobs.ts');
      const folder = artifactsFolder(artifactsUrl);
      if (folder !== undefined && !existsSync(folder)) {
        throw new CountersignError('cli.no_artifacts', noArtifacts(folder));
      }
      return openBlobs(artifactsUrl, s3);
    },
    async pages() {
      return (await import('./config/addresses.ts')).readPages(env);
    },
    async enqueuer(storage) {
      const [{ createEmbeddedQueue }, { silentLog }] = await Promise.all([
        import('./adapters/embedded-queue/embedded.ts'),
        import('./core/log.ts'),
      ]);
      return createEmbeddedQueue({ storage, clock, log: silentLog });
    },
    async eventsOf(delivery, own) {
      const { readDelivery } = await import('./entrypoints/webhook/delivery/process.ts');
      return (await readDelivery(delivery, own)).read;
    },
    async deliveryJobs() {
      return (await import('./entrypoints/webhook/delivery/new-jobs.ts')).jobOfDelivery;
    },
    async chains() {
      const [{ foldContracts }, { createRegistry }, { SHIPPED_SKILLS }, { shippedChains }, { contractOf }] =
        await Promise.all([
          import('./domain/artifact/contract.ts'),
          import('./engine/sessions/registry.ts'),
          import('./skills/builtin/shipped.ts'),
          import('./composition/shipped.ts'),
          import('./domain/skill/package.ts'),
        ]);
      const { skills, actions, outcomes, inputOf, artifactDefaultsOf } = createRegistry(SHIPPED_SKILLS);
      const known = { skills, actions, outcomes, inputOf };
      let shipped: ReturnType<typeof shippedChains> | undefined;
      return {
        known,
        get shipped() {
          shipped ??= shippedChains(known);
          return shipped;
        },
        foldContracts: (chain, packages) =>
          foldContracts(chain, (step) => {
            const isPackage = step.uses.kind === 'skill' && !skills.includes(step.uses.name);
            const found = isPackage ? packages.find(({ name }) => name === step.uses.name) : undefined;
            return found ? contractOf(found) : artifactDefaultsOf(step);
          }),
      };
    },
    async policy(read) {
      const [{ readConfig }, { badSettingsHere, NO_APP }] = await Promise.all([
        import('./config/config.ts'),
        import('./messages/cli/policy.ts'),
      ]);
      const settings = readConfig(env);
      if (!settings.ok) throw new CountersignError('config.invalid', badSettingsHere(settings.diagnostics));
      if (settings.config.kind === 'setup') throw new CountersignError('config.invalid', NO_APP);
      const { appId, privateKey, githubApiUrl: apiUrl } = settings.config;
      const [
        { createOctokitGitHub },
        { octokitsWithKey },
        { createConfigurationLoader },
        { onlyRecalled },
        { createStoredChains },
        { builtInPolicy },
        { createRegistry },
        { SHIPPED_SKILLS },
        { shippedChains, shippedSkills },
        { packageSkill },
        { autoSkill },
        { silentLog },
      ] = await Promise.all([
        import('./adapters/octokit/octokit-github.ts'),
        import('./adapters/octokit/sign-in.ts'),
        import('./engine/configuration/configuration.ts'),
        import('./engine/configuration/organisation-memory.ts'),
        import('./engine/configuration/stored-chains.ts'),
        import('./domain/policy/engine.ts'),
        import('./engine/sessions/registry.ts'),
        import('./skills/builtin/shipped.ts'),
        import('./composition/shipped.ts'),
        import('./skills/runtime/activate.ts'),
        import('./skills/catalogue/activation/auto.ts'),
        import('./core/log.ts'),
      ]);
      const source = octokitsWithKey({ appId, privateKey, apiUrl });
      const github = createOctokitGitHub({ source, log: silentLog, clock });
      // The registry only answers what a step needs. No step is executed.
      const refuse = () => Promise.reject(new Error('the command line carries out no step'));
      const packageStep = packageSkill(refuse);
      const activation = { choose: refuse, executeArtifact: refuse };
      const autoStep = autoSkill({ storage: { transaction: refuse }, activation });
      const names = createRegistry(SHIPPED_SKILLS, builtInPolicy, (step) =>
        step.uses.candidates ? autoStep(step) : packageStep(step),
      );
      return {
        github,
        configuration: createConfigurationLoader({
          github,
          clock,
          names,
          shipped: shippedChains(names),
          shippedSkills: shippedSkills(),
          ...(read && { storedChains: createStoredChains({ read }).of, memory: onlyRecalled(read) }),
          keepSkill: async () => {},
        }),
        useOf: names.useOf,
        policy: builtInPolicy,
      };
    },
    hasToken: () => token !== undefined,
    async dryRun(request) {
      const [{ readBaseConfig }, { badSettingsHere }, { dryRun }] = await Promise.all([
        import('./config/config.ts'),
        import('./messages/cli/policy.ts'),
        import('./composition/dry-run.ts'),
      ]);
      if (token) neverShow('GitHub token', token);
      const read = readBaseConfig(env);
      if (!read.ok) throw new CountersignError('config.invalid', badSettingsHere(read.diagnostics));
      return dryRun(read.config, token, request);
    },
    async lookAt(repo, withFiles) {
      const { lookAt } = await import('./composition/first-look.ts');
      return lookAt(await gitHubAccess(), repo, withFiles);
    },
    async propose(proposal) {
      const [{ propose }, { octokitsWithToken }] = await Promise.all([
        import('./adapters/octokit/propose.ts'),
        import('./adapters/octokit/sign-in.ts'),
      ]);
      return propose({ source: octokitsWithToken(await gitHubAccess()), clock: systemClock }, proposal);
    },
    async person() {
      if (!process.stdin.isTTY) return undefined;
      const { createInterface } = await import('node:readline/promises');
      // Standard output is for the result.
      const lines = createInterface({ input: process.stdin, output: process.stderr });
      const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
      return {
        ask: (question) => Promise.race([lines.question(question), ended]),
        leave: () => lines.close(),
      };
    },
    async chainCase(chain, of, files) {
      const [{ readBaseConfig }, { playChainCase }] = await Promise.all([
        import('./config/config.ts'),
        import('./composition/chain-cases.ts'),
      ]);
      // The same on every machine: no setting counts.
      const read = readBaseConfig({});
      if (!read.ok) throw new Error(read.diagnostics.join(' '));
      return playChainCase(read.config, chain, of, files);
    },
    pause: (ms, until) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, until?.aborted ? 0 : ms);
        until?.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve();
        });
      }),
    stopRequested() {
      const stop = new AbortController();
      // `on`, not `once`: a supervisor or terminal often sends a second signal, which must not interrupt the end.
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
      return stop.signal;
    },
    async skills() {
      const [{ SHIPPED_SKILLS }, { shippedSkills }] = await Promise.all([
        import('./skills/builtin/shipped.ts'),
        import('./composition/shipped.ts'),
      ]);
      return { builtIn: SHIPPED_SKILLS.map(({ name }) => name), shipped: shippedSkills() };
    },
    async caseTools({ answers, ci_artifacts: left = {} }) {
      const [{ builtInSkills }, { executeInCase, filesOfCase }, { recordedModel }] = await Promise.all([
        import('./skills/builtin/shipped.ts'),
        import('./skills/testing/run-case.ts'),
        import('./skills/testing/recorded-model.ts'),
      ]);
      const model = answers && recordedModel(answers);
      const { handlers, stop } = await packageHandlers({
        model,
        skills: NOT_STORED,
        modelFamily: null,
        executeArtifact: executeInCase,
        ciFiles: async (_, name) => ({ files: filesOfCase(left, name) }),
      });
      return { handlers, builtIn: builtInSkills({ model }), answersLeft: () => model?.left() ?? 0, stop };
    },
    async model(storage) {
      const model = await modelConfig(env);
      if (!model) {
        throw new CountersignError('cli.no_model', (await import('./messages/skills/model.ts')).NO_MODEL);
      }
      return (await import('./composition/skills.ts')).openModel(model, storage, systemClock);
    },
    async withSkillRunner(url, work) {
      const config = await modelConfig(env);
      const [{ builtInSkills }, { createArtifactExecutor }, { watchModel }, { familyOf }] = await Promise.all(
        [
          import('./skills/builtin/shipped.ts'),
          import('./skills/runtime/trace/execute-artifact.ts'),
          import('./skills/runtime/trace/watch-model.ts'),
          import('./domain/model/name.ts'),
        ],
      );
      const withRunner = async (model: Model | undefined, skills: Pick<Skills, 'get'>) => {
        const modelFamily = model ? familyOf(model.name) : null;
        // Not recorded as a trace: a manual trial must not become an example.
        const executeArtifact = createArtifactExecutor({
          watch: watchModel(model),
          record: async () => {},
          clock: systemClock,
        });
        const { ciTexts } = await import('./skills/builtin/ci/artifacts.ts');
        const { handlers, stop } = await packageHandlers({
          model,
          skills,
          modelFamily,
          executeArtifact,
          ciFiles: ciTexts,
        });
        const builtIn = builtInSkills({ model });
        return work({ handlers, builtIn, modelFamily, executeArtifact }).finally(stop);
      };
      if (!config) return withRunner(undefined, NOT_STORED);
      const [{ openModel }, { outsideOfRuns }, { withDatabase }] = await Promise.all([
        import('./composition/skills.ts'),
        import('./skills/adhoc/run-once.ts'),
        import('./composition/cli-database.ts'),
      ]);
      return withDatabase(await urlOf(url), 'write', async (storage) =>
        withRunner(outsideOfRuns(await openModel(config, storage, systemClock)), storage.read.skills),
      );
    },
    async selfCheck({ settings, repo }) {
      const { readConfig } = await import('./config/config.ts');
      const read = readConfig({ ...(await given(settings)), ...env });
      if (!read.ok) return [{ check: 'settings', kind: 'invalid', diagnostics: read.diagnostics }];
      const { config } = read;
      if (config.kind === 'setup') return [{ check: 'settings', kind: 'no_app' }];
      neverShow('private key', config.privateKey);
      neverShow('webhook secret', config.webhookSecret);
      const { checkInstallation } = await import('./composition/self-check.ts');
      const [owner = '', name = ''] = repo?.split('/') ?? [];
      const found = await checkInstallation(config, repo === undefined ? undefined : [{ owner, name }]);
      return [{ check: 'settings', kind: 'valid' }, ...found];
    },
    async serve({ database, settings }) {
      const { serve } = await import('./serve.ts');
      const environment = {
        ...(await given(settings)),
        ...env,
        ...(database === undefined ? {} : { DATABASE_URL: await urlOf(database) }),
      };
      return serve(environment);
    },
    async studio({ database, port }) {
      const [{ openStudio }, { withDatabase }, { readBaseConfig }, { badSettings }, { studioAt }] =
        await Promise.all([
          import('./composition/studio/run.ts'),
          import('./composition/cli-database.ts'),
          import('./config/config.ts'),
          import('./messages/cli/process.ts'),
          import('./messages/studio/words.ts'),
        ]);
      const databaseUrl = await urlOf(database);
      // Says clearly that there is no database, or an older one.
      await withDatabase(databaseUrl, 'read', async () => undefined);
      const read = readBaseConfig({ ...env, DATABASE_URL: databaseUrl });
      if (!read.ok) throw new CountersignError('config.invalid', badSettings(read.diagnostics).trimEnd());
      const { url, stop } = await openStudio(read.config, port);
      process.stderr.write(studioAt(url));
      const end = () => void stop().finally(() => process.exit());
      process.once('SIGTERM', end);
      process.once('SIGINT', end);
    },
    ownCommand() {
      // A checkout has its own, which finds the settings there.
      const launcher = join(PACKAGE_ROOT, 'scripts/countersign');
      return existsSync(launcher) ? [launcher] : [process.execPath, process.argv[1] ?? ''];
    },
    demoFile() {
      // Beside src/ in a checkout, beside dist/ in a build. The package does not contain it.
      const file = join(PACKAGE_ROOT, 'demo/main.ts');
      return existsSync(file) ? file : undefined;
    },
  };
}

/** The packages of the command line are files; none has the state of a module. */
const NOT_STORED: Pick<Skills, 'get'> = { get: async () => undefined };

/** The handlers of all kinds but agents, which need the head of a pull request that runs a chain. */
async function packageHandlers({
  ciFiles,
  ...deps
}: Omit<ModuleDeps, 'sidecar' | 'fallbacks'> & { ciFiles: CiFiles }): Promise<{
  handlers: SkillRunner['handlers'];
  stop(): Promise<void>;
}> {
  const [{ ci }, { analyzerSkill }, { promptSkill }, { codeSkill }, { moduleSkill }, { createSidecar }] =
    await Promise.all([
      import('./skills/builtin/shipped.ts'),
      import('./skills/kinds/analyzer/analyzer-skill.ts'),
      import('./skills/kinds/prompt/prompt-skill.ts'),
      import('./skills/kinds/code/code-skill.ts'),
      import('./skills/kinds/module/module-skill.ts'),
      import('./skills/kinds/module/sidecar.ts'),
    ]);
  const { model } = deps;
  // Its process starts with the first module.
  const sidecar = createSidecar({ clock: systemClock });
  const [prompt, code] = [promptSkill({ model }), codeSkill({ model, ciFiles })];
  const modules = moduleSkill({ ...deps, sidecar, fallbacks: [prompt, code] });
  return { handlers: [prompt, code, modules, analyzerSkill({ ci })], stop: () => sidecar.stop() };
}

/**
 * The model that the settings name, if they name one.
 * @throws CountersignError for invalid settings
 */
async function modelConfig(env: Environment): Promise<ModelConfig | undefined> {
  const read = (await import('./config/config.ts')).readModelConfig(env);
  if (!read.ok) {
    const { badSettingsHere } = await import('./messages/cli/policy.ts');
    throw new CountersignError('config.invalid', badSettingsHere(read.diagnostics));
  }
  const { model } = read.config;
  if (model?.apiKey) neverShow('model key', model.apiKey);
  return model;
}

/** @throws UsageError if the file does not exist or cannot be read */
async function settingsIn(file: string): Promise<Environment> {
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    const { unreadableSettings } = await import('./messages/cli/cli.ts');
    throw new UsageError(unreadableSettings(file, messageOf(error)));
  }
}

/** A database URL with its path resolved from the folder. `sqlite::memory:` has no path. */
function seenFrom(folder: string | undefined, url: string): string {
  if (folder === undefined) return url;
  return url.replace(/^sqlite:([^:].*)$/s, (_, path: string) => `sqlite:${resolve(folder, path)}`);
}
