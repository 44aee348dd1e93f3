import type { Json } from '../../core/canonical.ts';
import { type Diagnostic, notAllowed } from '../../core/fault.ts';
import { isMapping, memberOf } from '../../core/mapping.ts';
import type { Reference } from '../expression/condition.ts';
import { freezeDiagnostic } from '../gate/freeze.ts';
import { EVERY_USE } from '../gate/placed.ts';
import { compileCriterion } from '../policy/gate/criterion.ts';
import { MERGE_ACTION } from './chain.ts';
import { checkExpression, checkReference } from './check.ts';
import { dependenciesOf } from './graph.ts';
import type { KnownNames } from './known-names.ts';
import type { StepOutline } from './outline.ts';
import type { Path, YamlSource } from './positions.ts';

const PLACES = ['pre', 'post'] as const;
type Place = (typeof PLACES)[number];

/** What is known of the place of a gate. */
interface Around {
  isMerge: boolean;
  /** The skills there are; `undefined` when that is not known. */
  skills: readonly string[] | undefined;
  /** Those that cannot be gates. */
  packages: readonly string[];
  /** Why a gate there cannot read that, or `undefined` when it can. */
  unreadable(reference: Reference, place: Place): string | undefined;
}

/** Faults of the steps' own gates that no shape can tell. What has the wrong type is reported by the schema. */
export function checkGates(
  source: YamlSource,
  steps: readonly StepOutline[],
  known: KnownNames,
): Diagnostic[] {
  return steps.flatMap((step) => {
    if (!isMapping(step.gates)) return [];
    const before = dependenciesOf(steps, step.id);
    return [
      ...checkLists(source, ['steps', step.index, 'gates'], step.gates, {
        isMerge: step.action === MERGE_ACTION,
        skills: known.builtIn ?? known.skills,
        packages: known.skills,
        // Behind the step its own outcome is there, too.
        unreadable: (reference, place) =>
          checkReference(reference, steps, new Set(place === 'post' ? [...before, step.id] : before)),
      }),
      ...checkIds(source, idsIn(step.gates, ['steps', step.index, 'gates'])),
    ];
  });
}

/** Faults of the settings' `gates:`. Which steps a chain has is not known there; what a step lacks is not passed. */
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
            isMerge: uses === MERGE_ACTION,
            skills: known?.builtIn ?? known?.skills,
            packages: known?.skills ?? [],
            unreadable: () => undefined,
          })
        : []),
    ];
  });
  const ids = entries.flatMap((entry, index) => idsIn(entry, ['gates', index]));
  return [...diagnostics, ...checkIds(source, ids)];
}

/** A name that nothing has would be a gate that nobody ever meets. */
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

function checkLists(source: YamlSource, path: Path, lists: Json, around: Around): Diagnostic[] {
  const written = PLACES.filter((place) => memberOf(lists, place) !== undefined);
  const key = (place: Place, message: string) =>
    source.diagnostic([...path, place], message, { part: 'key' });
  return [
    ...(written.length === 0
      ? [source.diagnostic(path, 'gates stand before the step (pre) or after it (post)')]
      : []),
    ...(around.isMerge && written.includes('post')
      ? [key('post', `${MERGE_ACTION} cannot have gates after it: by then it is merged`)]
      : []),
    ...written.flatMap((place) =>
      listOf(memberOf(lists, place)).flatMap((gate, index) =>
        checkGate(source, [...path, place, index], gate, place, around),
      ),
    ),
  ];
}

function checkGate(source: YamlSource, path: Path, gate: Json, place: Place, around: Around): Diagnostic[] {
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
  if (typeof skill === 'string' && around.skills && !around.skills.includes(skill))
    diagnostics.push(
      source.diagnostic(
        [...path, 'skill'],
        notAllowed(
          around.packages.includes(skill)
            ? `a gate can ask what is built in, and no package such as "${skill}"`
            : `there is no skill "${skill}"`,
          around.skills,
          skill,
        ),
      ),
    );
  if (around.isMerge && memberOf(gate, 'on_failure') === 'degrade')
    diagnostics.push(
      source.diagnostic(
        [...path, 'on_failure'],
        `${MERGE_ACTION} cannot be degraded, because it cannot be undone: block, warn or require_human`,
      ),
    );
  const list = listOf(criteria);
  return [
    ...diagnostics,
    ...list.flatMap((criterion, index) =>
      checkCriterion(source, [...path, 'criteria', index], criterion, (reference) =>
        around.unreadable(reference, place),
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
  return PLACES.flatMap((place) =>
    listOf(memberOf(lists, place)).map((gate, index) => ({
      id: memberOf(gate, 'id'),
      path: [...path, place, index, 'id'],
    })),
  );
}

/** People are told of gates and criteria by their ids alone. */
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
