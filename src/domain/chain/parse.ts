import type { Diagnostic } from '../../core/diagnostic.ts';
import { memberOf } from '../../core/mapping.ts';
import { withoutBraces } from '../expression/template.ts';
import { toStepGates } from '../gate/gate.ts';
import { CHAIN_NAME, type Chain, type Step } from './chain.ts';
import { type ChainFile, chainFileSchema } from './chain-file.ts';
import { checkExpressions, checkGraph, checkSteps } from './check.ts';
import { checkArtifacts } from './check-artifacts.ts';
import { checkChainInputs, inputsIn } from './check-chain-inputs.ts';
import { checkGates } from './check-gates.ts';
import { checkInputs } from './check-inputs.ts';
import { checkMappings } from './check-mappings.ts';
import { checkRules } from './check-rules.ts';
import { checkSubjects } from './check-subjects.ts';
import { checkTriggers, originsOf } from './check-trigger.ts';
import { checkWaits } from './check-waits.ts';
import { toContract } from './expected.ts';
import type { FiringCycles } from './firing-cycle.ts';
import type { KnownNames } from './known-names.ts';
import { neverRunning, searchBudget } from './never-runs.ts';
import { outlineSteps, type StepOutline } from './outline.ts';
import { readYaml, type YamlSource } from './positions.ts';
import { checkShape, inFileOrder } from './shape.ts';
import { stepThatFires } from './trigger.ts';
import {
  COMPOSITE_KINDS,
  type Composite,
  type Schedule,
  type StoredTrigger,
  type Trigger,
  type TriggerFilter,
  triggersOf,
} from './trigger-schema.ts';

type Read =
  | { chain: Chain; diagnostics: [] }
  | { chain?: undefined; name?: string; diagnostics: Diagnostic[] };

/** As `readChain`, of a text. Never throws, for any text. */
export function parseChain(text: string, file: string, known: KnownNames): Read {
  return readChain(readYaml(text, file), known);
}

/**
 * Reads a chain file. Returns the chain, or all diagnostics in file order. With diagnostics, `name` is the
 * chain's name if the file has a valid one.
 */
export function readChain(source: YamlSource, known: KnownNames): Read {
  const name = source.peek('name');
  const named = name !== undefined && CHAIN_NAME.test(name) ? { name } : {};
  if (source.value === undefined) return { ...named, diagnostics: [...source.diagnostics] };
  if (source.value === null) return { diagnostics: [source.diagnostic([], 'the file is empty')] };

  const shape = checkShape(chainFileSchema, source);
  const steps = outlineSteps(source.value);
  const trigger = memberOf(source.value, 'trigger');
  const origins = originsOf(trigger);
  const readable = { known, origins, inputs: inputsIn(source) };
  const diagnostics = [
    ...shape.diagnostics,
    ...checkTriggers(source, trigger),
    ...checkChainInputs(
      source,
      origins?.flatMap(({ subjects }) => subjects),
    ),
    ...checkSteps(source, steps, known),
    ...checkGraph(source, steps),
    ...checkExpressions(source, steps, readable),
    ...checkInputs(source, steps, known),
    ...checkSubjects(source, steps, known, origins, 'all'),
    ...checkWaits(source, steps, readable),
    ...checkRules(source, steps, known),
    ...checkArtifacts(source, steps),
    ...checkMappings(source, steps, known),
    ...checkGates(source, steps, readable),
  ];
  if (shape.value === undefined || diagnostics.length > 0)
    return { ...named, diagnostics: inFileOrder(diagnostics) };
  return { chain: toChain(shape.value, steps), diagnostics: [] };
}

/** The name that a chain file gives its chain, valid or not, even if the rest of the file is broken. */
export function nameOfChain(text: string): string | undefined {
  return readYaml(text, '').peek('name');
}

/** The names of the chains that the steps of a chain file run, even if the rest of the file is broken. */
export function calledBy(text: string): string[] {
  const steps = outlineSteps(readYaml(text, '').value);
  return steps.flatMap(({ action, with: inputs }) => {
    const name = action === 'chain' ? memberOf(inputs, 'chain') : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}

/** What is known of a file already, so that it is not read again, and how long the search may take. */
interface ChainOfFile {
  chain?: Chain | undefined;
  budget?: ReturnType<typeof searchBudget>;
  /** Finds the cycles with the chains beside it. */
  cycles?: FiringCycles;
}

/**
 * What is allowed in a chain file and probably a mistake: steps that can never run, or not for all triggers, and a chain that
 * fires itself, or one of the others that fires it. Empty for a file with
 * errors. Only lint and the check of a change ask, because the search takes longer than reading the file.
 */
export function chainWarnings(
  source: YamlSource,
  known: KnownNames,
  { chain = readChain(source, known).chain, budget = searchBudget(), cycles = () => [] }: ChainOfFile = {},
): Diagnostic[] {
  if (!chain) return [];
  const steps = source.value === undefined ? [] : outlineSteps(source.value);
  const continues = (index: number) => chain.steps[index]?.onFailure === 'continue';
  const never = neverRunning(steps, known, soleFilter(chain), continues, budget);
  const warnings = [...never].map(([index, because]) =>
    source.diagnostic(
      ['steps', index, ...(steps[index]?.condition === undefined ? [] : ['condition'])],
      `this step can never run: ${because}`,
    ),
  );
  for (const [index, trigger] of triggersOf(chain).entries()) {
    const own = stepThatFires(trigger, chain, known.outcomes ?? {});
    const isList = Array.isArray(memberOf(source.value, 'trigger'));
    for (const cycle of own === undefined ? cycles(trigger, chain) : []) {
      warnings.push(source.diagnostic(['trigger', ...(isList ? [index] : [])], firesInTurn(cycle)));
    }
    if (firesForAllChecks(trigger)) {
      const message =
        'this trigger fires for each check of each commit, also of forks. Choose some with the filters base, check or conclusion';
      warnings.push(source.diagnostic(['trigger', ...(isList ? [index] : [])], message));
    }
    const unlabelled = leavesOutOnlyLabels(trigger);
    if (unlabelled !== undefined) {
      const message = `"${unlabelled}" leaves out a label and not what has it: any other label still matches, and what has no label never does. Write labels: { none: … } instead`;
      warnings.push(source.diagnostic(['trigger', ...(isList ? [index] : [])], message));
    }
    if (own === undefined) continue;
    const message = `this chain can fire itself: its own step "${own}" completes with what this trigger waits for. Leave it out with the filter chain: "!${chain.name}", or name the chains that should fire it`;
    warnings.push(source.diagnostic(['trigger', ...(isList ? [index] : [])], message));
  }
  warnings.push(...checkSubjects(source, steps, known, originsOf(memberOf(source.value, 'trigger')), 'some'));
  return inFileOrder(warnings).map((warning) => ({ ...warning, severity: 'warning' }));
}

function firesForAllChecks(trigger: Trigger): boolean {
  if (!('event' in trigger) || trigger.event !== 'ci.changed') return false;
  const { base, check, conclusion } = trigger.filter;
  return base === undefined && check === undefined && conclusion === undefined;
}

/** The first entry of a list of labels that people write for the opposite. */
function leavesOutOnlyLabels(trigger: Trigger): string | undefined {
  const filters = 'event' in trigger ? [trigger] : 'parts' in trigger ? trigger.parts : [];
  return filters
    .flatMap(({ filter: { labels } }) => (Array.isArray(labels) ? labels : []))
    .find((label) => label.startsWith('!'));
}

/** @param cycle begins with a step of the chain that has the warning */
function firesInTurn(cycle: ReturnType<FiringCycles>[number]): string {
  const [first, last] = [cycle[0], cycle.at(-1)];
  if (!first || !last) throw new Error('a cycle of chains has no steps');
  const other = last.by.name;
  const way = `Leave one out with the filter chain: "!${other}", or name the chains that should fire it`;
  if (cycle.length === 2)
    return `this chain and ${other} can fire each other: the step "${last.step}" of ${other} completes with what this trigger waits for, and ${other} waits for the step "${first.step}" of this chain. ${way}`;
  const between = cycle
    .slice(1, -1)
    .map(({ by, step, fires }) => `the step "${step}" of ${by.name} fires ${fires.name}`);
  return `these chains can fire each other in turn: the step "${first.step}" of this chain fires ${first.fires.name}, ${between.join(', ')}, and the step "${last.step}" of ${other} completes with what this trigger waits for. ${way}`;
}

function toChain(file: ChainFile, outlines: readonly StepOutline[]): Chain {
  return {
    name: file.name,
    ...(file.description === undefined ? {} : { description: file.description }),
    trigger: toTrigger(file.trigger),
    ...(file.inputs === undefined ? {} : { inputs: file.inputs }),
    ...(file.max_parallel === undefined ? {} : { maxParallel: file.max_parallel }),
    steps: outlines.map((outline, index) => toStep(outline, file.steps[index])),
  };
}

/** What is certain in every run of the chain: of several triggers, any can have fired. */
function soleFilter(chain: Chain): TriggerFilter {
  const [first, ...more] = triggersOf(chain);
  return first && 'event' in first && more.length === 0 ? first.filter : {};
}

function toTrigger(written: ChainFile['trigger']): StoredTrigger {
  const triggers = written.flatMap(({ event, filter = {}, ...rest }): Trigger[] => [
    ...(event ? [{ event, filter }] : []),
    ...toSchedule(rest),
    ...toComposite(rest),
  ]);
  return triggers.length === 1 && triggers[0] ? triggers[0] : triggers;
}

type WrittenTrigger = ChainFile['trigger'][number];
const DAY_MS = 86_400_000;

function toSchedule({
  schedule,
  timezone = 'UTC',
  catchup = 'last',
  catchup_window: catchupWindowMs = DAY_MS,
  overlap = 'skip',
}: Omit<WrittenTrigger, 'event' | 'filter'>): Schedule[] {
  return schedule === undefined ? [] : [{ schedule, timezone, catchup, catchupWindowMs, overlap }];
}

function toComposite({ within: withinMs, key, ...rest }: Omit<WrittenTrigger, 'event'>): Composite[] {
  if (withinMs === undefined || key === undefined) return [];
  return COMPOSITE_KINDS.flatMap((kind) => {
    const parts = rest[kind]?.map(({ event, filter = {} }) => ({ event, filter }));
    return parts ? [{ kind, parts, withinMs, key }] : [];
  });
}

function toStep(
  { id, index, skill, action, dependsOn, dependsOnWritten }: StepOutline,
  step?: ChainFile['steps'][number],
): Step {
  return {
    id,
    index,
    uses: skill === undefined ? { kind: 'action', name: action ?? '' } : { kind: 'skill', name: skill },
    dependsOn: [...new Set(dependsOn)],
    ...(dependsOnWritten || index === 0 ? {} : { inSequence: true }),
    ...(step?.condition === undefined ? {} : { condition: step.condition }),
    with: withBareUntil(action, step?.with ?? {}),
    ...(step?.timeout === undefined ? {} : { timeoutMs: step.timeout }),
    retry: { attempts: step?.retry?.attempts ?? 1, backoffMs: step?.retry?.backoff ?? 0 },
    onFailure: step?.on_failure ?? 'fail',
    requiresApproval: step?.requires_approval !== undefined && step.requires_approval !== false,
    ...(typeof step?.requires_approval === 'object' ? { approval: step.requires_approval } : {}),
    ...(step?.validate === undefined ? {} : { validate: step.validate }),
    ...(step?.expect === undefined ? {} : { expect: step.expect }),
    ...(step?.output_mapping === undefined ? {} : { outputMapping: step.output_mapping }),
    ...(step?.artifacts === undefined ? {} : { artifacts: toContract(step.artifacts.expected) }),
    ...(step?.gates === undefined ? {} : { gates: toStepGates(step.gates) }),
  };
}

/** Without braces, the `until` of a wait is a text like any other, and only the action evaluates it. */
function withBareUntil(action: string | undefined, inputs: Step['with']): Step['with'] {
  const { until } = inputs;
  return action === 'wait' && typeof until === 'string' ? { ...inputs, until: withoutBraces(until) } : inputs;
}
