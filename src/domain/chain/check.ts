import type { Json } from '../../core/canonical.ts';
import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { isMapping } from '../../core/mapping.ts';
import {
  type CompiledExpression,
  compileExpression,
  compileTemplate,
  ExpressionError,
  type Reference,
} from '../expression/condition.ts';
import { actionNamed } from '../policy/capability.ts';
import { AUTO_SKILL } from './chain.ts';
import { isOldInput, missingInput, type WrittenInputs } from './check-chain-inputs.ts';
import { dependenciesOf, findCycle } from './graph.ts';
import type { KnownNames } from './known-names.ts';
import { missingInOutcome } from './outcome-fields.ts';
import type { StepOutline } from './outline.ts';
import type { Path, YamlSource } from './positions.ts';
import { missingMember, type TriggerOrigin } from './trigger-members.ts';

/** Diagnostics of single steps: their skill or action, their ids, the approval of a merge. */
export function checkSteps(
  source: YamlSource,
  steps: readonly StepOutline[],
  known: KnownNames,
): Diagnostic[] {
  return steps.flatMap((step) => [
    ...checkUses(source, step, known),
    ...checkId(source, step, steps),
    ...checkApproval(source, step),
  ]);
}

function checkUses(
  source: YamlSource,
  { index, keys, skill, action }: StepOutline,
  known: KnownNames,
): Diagnostic[] {
  if (!keys) return [];
  const [hasSkill, hasAction] = [keys.includes('skill'), keys.includes('action')];
  if (hasSkill && hasAction) {
    const message = 'a step has either a skill or an action, not both';
    return [source.diagnostic(['steps', index, 'action'], message, { part: 'key' })];
  }
  if (!hasSkill && !hasAction)
    return [source.diagnostic(['steps', index], 'a step needs a skill or an action')];
  const kind = hasSkill ? 'skill' : 'action';
  const name = skill ?? action;
  const allowed = hasSkill ? known.skills : known.actions;
  if (hasSkill && name !== undefined && known.withoutOutcome?.includes(name)) {
    const message = `the SKILL.md of "${name}" names no outcome, so no step can run it`;
    return [source.diagnostic(['steps', index, kind], message)];
  }
  if (name === undefined || allowed.includes(name) || (hasSkill && name === AUTO_SKILL)) return [];
  const message =
    hasSkill && known.broken?.includes(name)
      ? `the skill "${name}" has errors of its own, which countersign skill lint shows; no step can run it until they are fixed`
      : notAllowed(`there is no ${kind} "${name}"`, allowed, name);
  return [source.diagnostic(['steps', index, kind], message)];
}

function checkId(source: YamlSource, step: StepOutline, steps: readonly StepOutline[]): Diagnostic[] {
  const first = steps.find((other) => other.writtenId === step.writtenId);
  if (step.writtenId === undefined || first === undefined || first.index === step.index) return [];
  const message = `the step id "${step.writtenId}" is already used by step ${first.index + 1}`;
  return [source.diagnostic(['steps', step.index, 'id'], message)];
}

/** Such a step asks people in any case. This diagnostic says so to the chain's author. */
function checkApproval(source: YamlSource, { index, action, requiresApproval }: StepOutline): Diagnostic[] {
  if (
    actionNamed(action)?.confirmation !== 'person' ||
    requiresApproval === true ||
    isMapping(requiresApproval)
  )
    return [];
  const message = `${action} always needs requires_approval: true; no setting turns the countersign off`;
  const key = requiresApproval === undefined ? 'action' : 'requires_approval';
  return [source.diagnostic(['steps', index, key], message)];
}

/**
 * Diagnostics of the dependency graph: unknown steps, steps that depend on themselves, cycles (each reported
 * once, as a path).
 */
export function checkGraph(source: YamlSource, steps: readonly StepOutline[]): Diagnostic[] {
  const ids = steps.map((step) => step.id);
  const unknown = steps.flatMap((step) =>
    step.dependsOnWritten
      ? step.dependsOn.flatMap((id, position) =>
          ids.includes(id)
            ? []
            : [
                source.diagnostic(
                  ['steps', step.index, 'depends_on', position],
                  notAllowed(`there is no step "${id}"`, ids, id),
                ),
              ],
        )
      : [],
  );
  // Two steps with one id have their own diagnostic, and would look like a cycle here.
  const distinct = new Set(ids).size === ids.length;
  return distinct ? [...unknown, ...cycleDiagnostics(source, steps)] : unknown;
}

function cycleDiagnostics(source: YamlSource, steps: readonly StepOutline[]): Diagnostic[] {
  const cycle = findCycle(steps);
  if (!cycle) return [];
  const [first] = cycle;
  const index = steps.find((step) => step.id === first)?.index ?? 0;
  const message = `these steps wait for each other: ${cycle.join(' → ')}`;
  const rest = steps.filter((step) => !cycle.includes(step.id));
  return [
    source.diagnostic(['steps', index, 'depends_on'], message, { part: 'key' }),
    ...cycleDiagnostics(source, rest),
  ];
}

/** Diagnostics of conditions and `with:` values, and of their references to other steps. */
export function checkExpressions(
  source: YamlSource,
  steps: readonly StepOutline[],
  readable: Readable,
): Diagnostic[] {
  return steps.flatMap((step) => {
    const mayRead = new Set(dependenciesOf(steps, step.id));
    const check = (path: Path, text: string, compile: Compile): Diagnostic[] =>
      checkExpression(source, path, text, compile, (reference) =>
        checkReference(reference, steps, { mayRead, ...readable }),
      );
    const condition =
      step.condition === undefined
        ? []
        : check(['steps', step.index, 'condition'], step.condition, compileExpression);
    const inputs = textsIn(rendered(step), ['steps', step.index, 'with']).flatMap(({ path, text }) =>
      check(path, text, compileTemplate),
    );
    return [...condition, ...inputs];
  });
}

/** The `until` of a wait is evaluated while the step waits, over facts that no other input has. */
function rendered({ action, with: inputs }: StepOutline): Json | undefined {
  if (action !== 'wait' || !isMapping(inputs)) return inputs;
  const { until: _, ...others } = inputs;
  return others;
}

export type Compile = (source: string) => Pick<CompiledExpression, 'references' | 'attributes' | 'equated'>;

/** What expressions of a chain can read, besides steps. */
export interface Readable {
  known: KnownNames;
  origins: readonly TriggerOrigin[] | undefined;
  /** The chain's inputs as written; `undefined` if it declares none. */
  inputs: WrittenInputs | undefined;
}

export function checkExpression(
  source: YamlSource,
  path: Path,
  text: string,
  compile: Compile,
  checkOne: (reference: Reference) => string | undefined,
): Diagnostic[] {
  try {
    const { references, attributes, equated } = compile(text);
    const inputs = equated.filter(({ root }) => root === 'inputs');
    return [...references, ...attributes, ...inputs].flatMap((reference) => {
      const message = checkOne(reference);
      return message === undefined ? [] : [source.diagnostic(path, message, { offset: reference.offset })];
    });
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return [source.diagnostic(path, error.message, { offset: error.offset })];
  }
}

/** Why the step cannot read the reference, or `undefined` if it can. */
export function checkReference(
  reference: Reference,
  steps: readonly StepOutline[],
  { mayRead, known, origins, inputs }: Readable & { mayRead: ReadonlySet<string> },
): string | undefined {
  const {
    root,
    path: [key, member, ...fields],
  } = reference;
  if (root === 'state' && key === 'working' && mayRead.size === 0)
    return 'no step comes before this one, so none has written what it could read here; add it to depends_on';
  if (root === 'inputs' || isOldInput(reference)) return missingInput(reference, inputs);
  if (root !== 'steps' || key === undefined) return missingMember(reference, origins);
  const ids = steps.map((step) => step.id);
  const step = typeof key === 'number' ? steps[key] : steps.find(({ id }) => id === key);
  if (!step) {
    if (typeof key === 'number')
      return `there is no steps[${key}]: positions go from 0 to ${steps.length - 1}`;
    return notAllowed(`there is no step "${key}"`, ids, key);
  }
  if (!mayRead.has(step.id))
    return `the step "${step.id}" does not come before this one, so its outcome cannot be read here; add it to depends_on`;
  // A field that no outcome has would be undefined in every run. A condition on it would never hold, with no
  // explanation.
  return member === 'outcome' ? missingInOutcome(`the step "${step.id}"`, step, fields, known) : undefined;
}

/** The texts in a value, each with its path. */
export function textsIn(value: Json | undefined, path: Path): { path: Path; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((entry, index) => textsIn(entry, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, entry]) => textsIn(entry, [...path, key]));
}
