import { isDeepStrictEqual } from 'node:util';
import { canonicalJson } from '../../core/canonical.ts';
import { type Diagnostic, formatDiagnostic } from '../../core/diagnostic.ts';
import type { Chain, Step } from '../../domain/chain/chain.ts';
import { dependenciesOf } from '../../domain/chain/graph.ts';
import { nameOf, SCOPES } from '../../domain/chain/scope.ts';
import { defaultSettings, type Settings } from '../../domain/chain/settings.ts';
import type { ConfigurationStatus } from '../../domain/policy/merge-gate.ts';
import { rolloutInWords } from '../../domain/policy/rollout.ts';
import { fires, isAboutTheHead, type PullRequestNow } from '../../domain/run/plan.ts';
import { governingBranch, type Run, type RunFacts } from '../../domain/run/run.ts';
import type { Configuration } from '../configuration/configuration.ts';

/**
 * Compares the current configuration with the one that the run stored, as far as one step depends on it: the
 * settings that matter for decisions, the step itself, and the steps that it depends on. Other edits (a
 * comment, another step, a time limit) void nothing: approvals that become void without a reason teach people
 * to answer without reading.
 * @param chain its chain as a run would start with it now; `undefined` if no chain of its name is in force
 */
export function configurationStatus(
  run: Run,
  stepId: string,
  now: { configuration: Configuration | undefined; chain: Chain | undefined; pullRequest: PullRequestNow },
): ConfigurationStatus {
  const { configuration, chain } = now;
  if (!configuration) return { kind: 'unreadable', because: `there is no branch ${run.baseRef}` };
  const { branch, insteadOf, rollout } = configuration;
  // Its chain is not in force then.
  if (rollout.level === 'off') return { kind: 'changed', what: 'rollout', because: rolloutInWords(rollout) };
  const before = governingBranch(run);
  if (branch !== before) {
    const because = insteadOf
      ? `the branch ${run.baseRef} is not protected any more, so ${branch} governs: ${insteadOf.because}`
      : `the branch ${branch} governs now, and ${before} did when this was asked`;
    return { kind: 'changed', what: 'chain', because };
  }
  const unreadable = unreadableBecause(run.chain, configuration);
  if (unreadable) return { kind: 'unreadable', because: unreadable };
  const settings = changedSettings(run.settings, configuration.settings);
  if (settings.length > 0) {
    const because = `the settings on ${branch} changed since this was asked: ${settings.join(', ')}`;
    return { kind: 'changed', what: 'settings', because };
  }
  if (!chain) {
    const because = `the chain ${run.chain} is not in force on ${branch} any more`;
    return { kind: 'changed', what: 'chain', because };
  }
  if (!isStillFor(run, chain, now.pullRequest)) {
    if (plain(run.definition.trigger, chain) !== plain(chain.trigger, chain)) {
      const because = `${subject(run.chain, configuration)}: its trigger, which leaves this pull request out`;
      return { kind: 'changed', what: 'chain', because };
    }
    const because = `the chain ${run.chain} is not for this pull request any more`;
    return { kind: 'changed', what: 'trigger', because };
  }
  const steps = changedSteps(run.definition, chain, stepId);
  if (steps.length === 0) return { kind: 'as_asked' };
  return {
    kind: 'changed',
    what: 'chain',
    because: `${subject(run.chain, configuration)}: ${steps.join(', ')}`,
  };
}

/**
 * Why the chain's current content is unknown; `undefined` if it is known, even if the chain no longer exists.
 */
export function unreadableBecause(
  chain: string,
  { branch, broken, read }: Configuration,
): string | undefined {
  const first = (diagnostics: readonly Diagnostic[]) =>
    diagnostics[0] ? `: ${formatDiagnostic(diagnostics[0])}` : '';
  const settings = broken.find(({ kind }) => kind === 'settings');
  if (settings?.outOfSight)
    return `the settings of the organisation cannot be read${first(settings.diagnostics)}`;
  if (settings) {
    const because = `the settings on ${branch} cannot be read, so it is not known who may countersign`;
    return `${because}${first(settings.diagnostics)}`;
  }
  const file = broken.find(({ kind, file }) => kind === 'chain' && nameIn(read.chains, file) === chain);
  return (
    file &&
    `${file.file} on ${branch} has errors, so it is not known what it asks for${first(file.diagnostics)}`
  );
}

function nameIn(chains: Configuration['read']['chains'], file: string): string | undefined {
  const found = SCOPES.flatMap((scope) => chains[scope]).find((parsed) => parsed.file === file);
  return found && nameOf(found);
}

/** The source of the chain in force, which can differ from that of the approval. */
function subject(name: string, { branch, read }: Configuration): string {
  for (const scope of SCOPES) {
    const found = read.chains[scope].find((parsed) => nameOf(parsed) === name);
    if (!found) continue;
    switch (scope) {
      case 'repository':
        return `${found.file} on ${branch} changed since this was asked`;
      case 'organisation':
      case 'stored':
        return `${found.file} changed since this was asked`;
      case 'shipped':
        return `the chain ${name} is the shipped one now, which differs from the one that asked`;
    }
  }
  return `the chain ${name} changed since this was asked`;
}

/** The dotted names of relevant settings that have changed. */
function changedSettings(then: Settings, now: Settings): string[] {
  // A key that a run of an older version lacks had the meaning of today's default.
  const about = ({ countersign, merge, ci, review, gates = [], leastTrust }: Settings) => ({
    countersign: { ...defaultSettings.countersign, ...countersign },
    merge: { ...defaultSettings.merge, ...merge },
    ci,
    review: { ignore: review?.ignore ?? [] },
    gates,
    leastTrust,
  });
  const [before, after] = [about(then), about(now)];
  return (['countersign', 'merge', 'ci', 'review'] as const)
    .flatMap((part) => changedKeys(before[part], after[part]).map((key) => `${part}.${key}`))
    .concat(isDeepStrictEqual(before.gates, after.gates) ? [] : ['gates'])
    .concat(before.leastTrust === after.leastTrust ? [] : ['minimum.trust']);
}

function changedKeys(then: object, now: object): string[] {
  const [before, after] = [new Map(Object.entries(then)), new Map(Object.entries(now))];
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => !isDeepStrictEqual(before.get(key), after.get(key)),
  );
}

/**
 * A chain fired by hand applies to what it was fired for, and one started by a merge or a push does not
 * depend on a pull request.
 */
function isStillFor(run: Run, chain: Chain, pullRequest: PullRequestNow): boolean {
  if (run.event.kind === 'manual.fired' || !isAboutTheHead(run)) return true;
  const repository: RunFacts['repo'] = run.facts.repo;
  return fires(chain, pullRequest, repository);
}

/**
 * The parts of a step that later steps can depend on, by their names in YAML. Limits of time and attempts no
 * longer matter once the step is over.
 */
const ASPECTS: readonly [string, (step: Step) => unknown][] = [
  ['skill', ({ uses: { kind, name, package: found } }) => [kind, name, found?.id]],
  ['depends_on', ({ dependsOn }) => dependsOn],
  ['condition', ({ condition }) => condition],
  ['with', (step) => step.with],
  ['requires_approval', ({ requiresApproval, approval }) => approval ?? requiresApproval],
  ['on_failure', ({ onFailure }) => onFailure],
  ['validate', ({ validate }) => validate ?? []],
  ['expect', ({ expect }) => expect ?? []],
  ['artifacts', ({ artifacts }) => artifacts],
  ['output_mapping', ({ outputMapping }) => outputMapping],
  ['gates', ({ gates }) => gates],
];

function changedSteps(then: Chain, now: Chain, stepId: string): string[] {
  if (!now.steps.some(({ id }) => id === stepId)) return [`there is no step ${stepId} any more`];
  const onTheWay = ({ steps }: Chain) => new Set([stepId, ...dependenciesOf(steps, stepId)]);
  const [before, after] = [onTheWay(then), onTheWay(now)];
  const changed = then.steps
    .filter(({ id }) => before.has(id) && after.has(id))
    .toSorted((a, b) => Number(b.id === stepId) - Number(a.id === stepId))
    .flatMap((step) => {
      const other = now.steps.find(({ id }) => id === step.id);
      return other ? changedAspects(step, other, then, now) : [];
    });
  const gone = [...before].filter((id) => !after.has(id)).map((id) => `the step ${id} taken out`);
  const fresh = [...after].filter((id) => !before.has(id)).map((id) => `the new step ${id}`);
  return [...changed, ...gone, ...fresh];
}

function changedAspects(then: Step, now: Step, before: Chain, after: Chain): string[] {
  const changed = ASPECTS.filter(([, aspect]) => plain(aspect(then), before) !== plain(aspect(now), after));
  return changed.map(([name]) => `${name} of ${then.id}`);
}

/** As canonical JSON, with step numbers replaced by the steps' names in that chain. */
function plain(value: unknown, { steps }: Chain): string {
  return canonicalJson(value ?? null).replaceAll(/steps\[(\d+)\]/g, (written, index) =>
    steps[Number(index)] ? `steps.${steps[Number(index)]?.id}` : written,
  );
}
