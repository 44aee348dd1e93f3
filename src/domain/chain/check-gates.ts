import type { Json } from '../../core/canonical.ts';
import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { isMapping, memberOf } from '../../core/mapping.ts';
import type { Reference } from '../expression/condition.ts';
import { freezeDiagnostic } from '../gate/freeze.ts';
import { EVERY_USE } from '../gate/placed.ts';
import { actionNamed, byThen, type Capability } from '../policy/capability.ts';
import { compileCriterion } from '../policy/gate/criterion.ts';
import { checkExpression, checkReference, type Readable } from './check.ts';
import { dependenciesOf } from './graph.ts';
import type { KnownNames } from './known-names.ts';
import type { StepOutline } from './outline.ts';
import type { Path, YamlSource } from './positions.ts';

const POSITIONS = ['pre', 'post'] as const;
type Position = (typeof POSITIONS)[number];

/** Facts about the step that a gate belongs to. */
interface GateContext {
  /** The action that the gate is for, if nobody can undo it. */
  irreversible: Capability | undefined;
  /** The skills that exist; `undefined` if that is not known. */
  skills: readonly string[] | undefined;
  /** Packages without an outcome, which no gate can ask. */
  withoutOutcome: readonly string[];
  /** Why a gate at this position cannot read the reference, or `undefined` if it can. */
  unreadable(reference: Reference, position: Position): string | undefined;
}

/** Diagnostics of the steps' own gates that the schema cannot express. The schema reports wrong types. */
export function checkGates(
  source: YamlSource,
  steps: readonly StepOutline[],
  readable: Readable,
): Diagnostic[] {
  const { known } = readable;
  return steps.flatMap((step) => {
    if (!isMapping(step.gates)) return [];
    const before = dependenciesOf(steps, step.id);
    return [
      ...checkLists(source, ['steps', step.index, 'gates'], step.gates, {
        irreversible: irreversible(step.action),
        skills: known.skills,
        withoutOutcome: known.withoutOutcome ?? [],
        // A gate after the step can also read the step's own outcome.
        unreadable: (reference, position) =>
          checkReference(reference, steps, {
            mayRead: new Set(position === 'post' ? [...before, step.id] : before),
            ...readable,
          }),
      }),
      ...checkIds(source, idsIn(step.gates, ['steps', step.index, 'gates'])),
    ];
  });
}

/**
 * Diagnostics of the settings' `gates:`. The steps of the chains are not known here, so references are not
 * checked. A gate that reads an outcome that its step does not have is not passed.
 */
export function checkMandatoryGates(source: YamlSource, known: KnownNames | undefined): Diagnostic[] {
  const entries = memberOf(source.value, 'gates');
  if (!Array.isArray(entries)) return [];
  const diagnostics = entries.flatMap((entry, index) => {
    const path: Path = ['gates', index];
    const uses = memberOf(entry, 'uses');
    return [
      ...checkUses(source, [...path, 'uses'], uses, known),
      ...(isMapping(entry)
        ? checkLists(source, path, entry, {
            irreversible: irreversible(uses),
            skills: known?.skills,
            withoutOutcome: known?.withoutOutcome ?? [],
            unreadable: () => undefined,
          })
        : []),
    ];
  });
  const ids = entries.flatMap((entry, index) => idsIn(entry, ['gates', index]));
  return [...diagnostics, ...checkIds(source, ids)];
}

function irreversible(action: Json | undefined): Capability | undefined {
  const declared = typeof action === 'string' ? actionNamed(action) : undefined;
  return declared?.irreversible ? declared : undefined;
}

/** A gate for a name that does not exist would never apply. */
function checkUses(
  source: YamlSource,
  path: Path,
  uses: Json | undefined,
  known: KnownNames | undefined,
): Diagnostic[] {
  if (typeof uses !== 'string' || uses === EVERY_USE || !known) return [];
  const names = [...known.skills, ...known.actions];
  if (names.includes(uses)) return [];
  return [
    source.diagnostic(path, notAllowed(`there is no skill or action "${uses}"`, [...names, EVERY_USE], uses)),
  ];
}

function checkLists(source: YamlSource, path: Path, lists: Json, context: GateContext): Diagnostic[] {
  const written = POSITIONS.filter((position) => memberOf(lists, position) !== undefined);
  const key = (position: Position, message: string) =>
    source.diagnostic([...path, position], message, { part: 'key' });
  return [
    ...(written.length === 0
      ? [source.diagnostic(path, 'gates stand before the step (pre) or after it (post)')]
      : []),
    ...(context.irreversible && written.includes('post')
      ? [
          key(
            'post',
            `${context.irreversible.name} cannot have gates after it: ${byThen(context.irreversible)}`,
          ),
        ]
      : []),
    ...written.flatMap((position) =>
      listOf(memberOf(lists, position)).flatMap((gate, index) =>
        checkGate(source, [...path, position, index], gate, position, context),
      ),
    ),
  ];
}

function checkGate(
  source: YamlSource,
  path: Path,
  gate: Json,
  position: Position,
  context: GateContext,
): Diagnostic[] {
  if (!isMapping(gate)) return [];
  const [criteria, skill] = [memberOf(gate, 'criteria'), memberOf(gate, 'skill')];
  const diagnostics: Diagnostic[] = [];
  if (criteria === undefined && skill === undefined)
    diagnostics.push(source.diagnostic(path, 'a gate needs criteria or a skill'));
  if (criteria !== undefined && skill !== undefined)
    diagnostics.push(
      source.diagnostic([...path, 'skill'], 'a gate has either criteria or a skill, not both', {
        part: 'key',
      }),
    );
  if (typeof skill === 'string' && context.skills && !context.skills.includes(skill))
    diagnostics.push(
      source.diagnostic(
        [...path, 'skill'],
        notAllowed(`there is no skill "${skill}"`, context.skills, skill),
      ),
    );
  if (typeof skill === 'string' && context.withoutOutcome.includes(skill))
    diagnostics.push(
      source.diagnostic(
        [...path, 'skill'],
        `the skill "${skill}" has no outcome in its SKILL.md, so it can decide nothing`,
      ),
    );
  if (context.irreversible && memberOf(gate, 'on_failure') === 'degrade')
    diagnostics.push(
      source.diagnostic(
        [...path, 'on_failure'],
        `${context.irreversible.name} cannot be degraded, because it cannot be undone: block, warn or require_human`,
      ),
    );
  const list = listOf(criteria);
  return [
    ...diagnostics,
    ...list.flatMap((criterion, index) =>
      checkCriterion(source, [...path, 'criteria', index], criterion, (reference) =>
        context.unreadable(reference, position),
      ),
    ),
    ...checkIds(
      source,
      list.map((criterion, index) => ({
        id: memberOf(criterion, 'id'),
        path: [...path, 'criteria', index, 'id'],
      })),
    ),
  ];
}

const QUESTIONS = ['if', 'codeowners', 'freeze'] as const;

function checkCriterion(
  source: YamlSource,
  path: Path,
  criterion: Json,
  unreadable: (reference: Reference) => string | undefined,
): Diagnostic[] {
  if (!isMapping(criterion)) return [];
  const asked = QUESTIONS.filter((key) => memberOf(criterion, key) !== undefined);
  const [, second] = asked;
  const expression = memberOf(criterion, 'if');
  return [
    ...(asked.length === 0
      ? [source.diagnostic(path, `a criterion asks something: ${QUESTIONS.join(', ')}`)]
      : []),
    ...(second === undefined
      ? []
      : [
          source.diagnostic([...path, second], 'a criterion asks one thing; write another for this', {
            part: 'key',
          }),
        ]),
    ...(memberOf(criterion, 'because') !== undefined && expression === undefined
      ? [
          source.diagnostic([...path, 'because'], '"because" goes with "if"; the others say it themselves', {
            part: 'key',
          }),
        ]
      : []),
    ...(typeof expression === 'string'
      ? checkExpression(source, [...path, 'if'], expression, compileCriterion, unreadable)
      : []),
    ...checkFreeze(source, [...path, 'freeze'], memberOf(criterion, 'freeze')),
  ];
}

function checkFreeze(source: YamlSource, path: Path, freeze: Json | undefined): Diagnostic[] {
  const [from, until] = [memberOf(freeze, 'from'), memberOf(freeze, 'until')];
  if (typeof from !== 'string' || typeof until !== 'string') return [];
  const diagnostic = freezeDiagnostic({ from, until });
  return diagnostic === undefined ? [] : [source.diagnostic([...path, 'until'], diagnostic)];
}

interface WrittenId {
  id: Json | undefined;
  path: Path;
}

function idsIn(lists: Json, path: Path): WrittenId[] {
  return POSITIONS.flatMap((position) =>
    listOf(memberOf(lists, position)).map((gate, index) => ({
      id: memberOf(gate, 'id'),
      path: [...path, position, index, 'id'],
    })),
  );
}

/** Messages identify gates and criteria by their ids only. */
function checkIds(source: YamlSource, ids: readonly WrittenId[]): Diagnostic[] {
  return ids.flatMap(({ id, path }, index) => {
    const first = ids.findIndex((other) => other.id === id);
    if (typeof id !== 'string' || first === index) return [];
    return [source.diagnostic(path, `the id "${id}" is used here twice`)];
  });
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
