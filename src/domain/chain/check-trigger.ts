import type { Json } from '../../core/canonical.ts';
import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { memberOf } from '../../core/mapping.ts';
import { compileTemplate } from '../expression/condition.ts';
import { compilePattern, PatternError } from '../rule/pattern.ts';
import { MAX_PATTERN_LENGTH } from '../rule/rule.ts';
import { checkExpression, textsIn } from './check.ts';
import type { Path, YamlSource } from './positions.ts';
import { scheduleProblem, timezoneProblem } from './schedule.ts';
import { missingMember } from './trigger-members.ts';
import type { TriggerSource } from './trigger-schema.ts';
import { FILTER_KEYS, FILTERS_OF, type TriggerEvent } from './trigger-schema.ts';

/** What a trigger can wait for. */
const KINDS = ['event', 'schedule'] as const;
const SCHEDULE_KEYS = ['timezone', 'catchup', 'catchup_window', 'overlap'] as const;

/** The triggers of a file as written, each with its path: one without brackets, or a list. */
function written(trigger: Json | undefined): { value: Json; path: Path }[] {
  if (Array.isArray(trigger)) return trigger.map((value, index) => ({ value, path: ['trigger', index] }));
  return trigger === undefined ? [] : [{ value: trigger, path: ['trigger'] }];
}

/** What can fire the chain of a file; `undefined` if that is not known, because a trigger has errors. */
export function sourcesOf(trigger: Json | undefined): TriggerSource[] | undefined {
  const found = written(trigger).map(({ value }) => sourceOf(value));
  const valid = found.filter((event) => event !== undefined);
  return valid.length > 0 && valid.length === found.length ? valid : undefined;
}

function sourceOf(trigger: Json): TriggerSource | undefined {
  return memberOf(trigger, 'schedule') === undefined ? eventOf(trigger) : 'schedule.fired';
}

function eventOf(trigger: Json): TriggerEvent | undefined {
  const event = memberOf(trigger, 'event');
  return typeof event === 'string' && Object.hasOwn(FILTERS_OF, event) ? (event as TriggerEvent) : undefined;
}

/** Diagnostics of the triggers that their schema cannot express. */
export function checkTriggers(source: YamlSource, trigger: Json | undefined): Diagnostic[] {
  return written(trigger).flatMap(({ value, path }) => checkTrigger(source, value, path));
}

/** Filters that do not apply to the trigger's event, and invalid expressions in its patterns. */
function checkTrigger(source: YamlSource, trigger: Json, path: Path): Diagnostic[] {
  if (typeof trigger !== 'object' || trigger === null) return [];
  const kinds = KINDS.filter((key) => memberOf(trigger, key) !== undefined);
  if (kinds.length === 0)
    return [source.diagnostic(path, `"event" is missing; a trigger has one of ${KINDS.join(', ')}`)];
  const [first, second] = kinds;
  if (second !== undefined)
    return [
      source.diagnostic(
        [...path, second],
        `a trigger has "${first}" or "${second}", not both; write a list of triggers`,
        { part: 'key' },
      ),
    ];
  const foreign = ['filter', ...SCHEDULE_KEYS].filter(
    (key) => memberOf(trigger, key) !== undefined && (key === 'filter') !== (first === 'event'),
  );
  const misplaced = foreign.map((key) =>
    source.diagnostic([...path, key], `"${key}" goes with "${key === 'filter' ? 'event' : 'schedule'}"`, {
      part: 'key',
    }),
  );
  if (first === 'schedule') return [...misplaced, ...checkSchedule(source, trigger, path)];
  const event = eventOf(trigger);
  const filter = memberOf(trigger, 'filter');
  const meaningful = event && FILTERS_OF[event];
  const idle = FILTER_KEYS.filter(
    (key) => memberOf(filter, key) !== undefined && meaningful && !meaningful.includes(key),
  ).map((key) => {
    const message = notAllowed(
      `the filter "${key}" says nothing about ${String(event)}`,
      meaningful ?? [],
      '',
    );
    return source.diagnostic([...path, 'filter', key], message, { part: 'key' });
  });
  const globs = FILTER_KEYS.filter((key) => key !== 'title' && key !== 'body').flatMap((key) =>
    textsIn(memberOf(filter, key), [...path, 'filter', key]),
  );
  const patterns = globs.flatMap(({ path: where, text }) =>
    checkExpression(source, where, text, compileTemplate, (reference) =>
      reference.root === 'repo'
        ? missingMember(reference, event && [event])
        : `only "repo" is known before the chain starts, not "${reference.root}"`,
    ),
  );
  const texts = (['title', 'body'] as const).flatMap((key) => {
    return textsIn(memberOf(filter, key), [...path, 'filter', key]);
  });
  return [...misplaced, ...idle, ...patterns, ...texts.flatMap((at) => checkPattern(source, at))];
}

function checkPattern(source: YamlSource, { path, text }: { path: Path; text: string }): Diagnostic[] {
  // The schema refuses it.
  if (text === '' || text.length > MAX_PATTERN_LENGTH) return [];
  try {
    compilePattern(text);
    return [];
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return [source.diagnostic(path, error.message)];
  }
}

function checkSchedule(source: YamlSource, trigger: Json, path: Path): Diagnostic[] {
  const [schedule, timezone] = [memberOf(trigger, 'schedule'), memberOf(trigger, 'timezone')];
  const badSchedule = typeof schedule === 'string' ? scheduleProblem(schedule) : undefined;
  const badZone = typeof timezone === 'string' ? timezoneProblem(timezone) : undefined;
  const isEvery = typeof schedule === 'string' && schedule.trim().startsWith('every');
  return [
    ...(badSchedule === undefined ? [] : [source.diagnostic([...path, 'schedule'], badSchedule)]),
    ...(badZone === undefined ? [] : [source.diagnostic([...path, 'timezone'], badZone)]),
    ...(isEvery && timezone !== undefined
      ? [source.diagnostic([...path, 'timezone'], '"every" has no time zone', { part: 'key' })]
      : []),
  ];
}
