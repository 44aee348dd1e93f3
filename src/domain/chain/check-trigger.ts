import { canonicalJson, type Json } from '../../core/canonical.ts';
import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { parseDuration } from '../../core/duration.ts';
import { memberOf } from '../../core/mapping.ts';
import { compileTemplate } from '../expression/condition.ts';
import { compilePattern, PatternError } from '../rule/pattern.ts';
import { MAX_PATTERN_LENGTH } from '../rule/rule.ts';
import { checkExpression, textsIn } from './check.ts';
import type { Path, YamlSource } from './positions.ts';
import { scheduleProblem, timezoneProblem } from './schedule.ts';
import { missingMember, originOf, originOfComposite, type TriggerOrigin } from './trigger-members.ts';
import {
  COMPOSITE_KEYS,
  COMPOSITE_KINDS,
  type Composite,
  eventsOfKey,
  FILTER_KEYS,
  FILTERS_OF,
  isAboutPullRequests,
  type TriggerEvent,
} from './trigger-schema.ts';

/** What a trigger can wait for. */
const KINDS = ['event', 'schedule', ...COMPOSITE_KINDS] as const;
/** The other keys, with the kinds that they go with. */
const KINDS_OF: Readonly<Record<string, readonly (typeof KINDS)[number][]>> = {
  filter: ['event'],
  timezone: ['schedule'],
  catchup: ['schedule'],
  catchup_window: ['schedule'],
  overlap: ['schedule'],
  within: COMPOSITE_KINDS,
  key: COMPOSITE_KINDS,
};
/** Shorter times end before the deliveries of one moment have arrived. */
const MIN_WITHIN_MS = 60_000;

/** The triggers of a file as written, each with its path: one without brackets, or a list. */
function written(trigger: Json | undefined): { value: Json; path: Path }[] {
  if (Array.isArray(trigger)) return trigger.map((value, index) => ({ value, path: ['trigger', index] }));
  return trigger === undefined ? [] : [{ value: trigger, path: ['trigger'] }];
}

/** What can fire the chain of a file; `undefined` if that is not known, because a trigger has errors. */
export function originsOf(trigger: Json | undefined): TriggerOrigin[] | undefined {
  const found = written(trigger).map(({ value }) => originIn(value));
  const valid = found.filter((origin) => origin !== undefined);
  return valid.length > 0 && valid.length === found.length ? valid : undefined;
}

function originIn(trigger: Json): TriggerOrigin | undefined {
  const composite = compositeIn(trigger);
  if (composite)
    return originOfComposite(
      composite.kind,
      composite.parts.map(({ event }) => event),
      isAboutPullRequests(composite),
    );
  if (COMPOSITE_KINDS.some((kind) => memberOf(trigger, kind) !== undefined)) return undefined;
  if (memberOf(trigger, 'schedule') !== undefined) return originOf('schedule.fired');
  const event = eventOf(trigger);
  return event && originOf(event);
}

function eventOf(trigger: Json): TriggerEvent | undefined {
  const event = memberOf(trigger, 'event');
  return typeof event === 'string' && Object.hasOwn(FILTERS_OF, event) ? (event as TriggerEvent) : undefined;
}

/** The composite as far as its key and events are valid. */
function compositeIn(trigger: Json): Pick<Composite, 'kind' | 'key' | 'parts'> | undefined {
  const kind = COMPOSITE_KINDS.find((one) => memberOf(trigger, one) !== undefined);
  const list = kind && memberOf(trigger, kind);
  const key = COMPOSITE_KEYS.find((one) => one === memberOf(trigger, 'key'));
  if (!kind || !key || !Array.isArray(list)) return undefined;
  const events = list.map(eventOf);
  const known = events.filter((event) => event !== undefined);
  return known.length === events.length && known.length > 0
    ? { kind, key, parts: known.map((event) => ({ event, filter: {} })) }
    : undefined;
}

/** Diagnostics of the triggers that their schema cannot express. */
export function checkTriggers(source: YamlSource, trigger: Json | undefined): Diagnostic[] {
  return written(trigger).flatMap(({ value, path }) => checkTrigger(source, value, path));
}

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
  const foreign = Object.entries(KINDS_OF).filter(
    ([key, of]) => memberOf(trigger, key) !== undefined && !(first && of.includes(first)),
  );
  const misplaced = foreign.map(([key, of]) =>
    source.diagnostic([...path, key], `"${key}" goes with ${of.map((kind) => `"${kind}"`).join(', ')}`, {
      part: 'key',
    }),
  );
  if (first === 'schedule') return [...misplaced, ...checkSchedule(source, trigger, path)];
  if (first === 'event') return [...misplaced, ...checkFilter(source, trigger, path)];
  return [...misplaced, ...checkComposite(source, trigger, path)];
}

function checkComposite(source: YamlSource, trigger: Json, path: Path): Diagnostic[] {
  const found: Diagnostic[] = [];
  const say = (at: Path, message: string) => found.push(source.diagnostic(at, message));
  const kind = COMPOSITE_KINDS.find((one) => memberOf(trigger, one) !== undefined);
  const list = kind && memberOf(trigger, kind);
  if (!kind || !Array.isArray(list)) return [];
  const [key, within] = [memberOf(trigger, 'key'), memberOf(trigger, 'within')];
  if (key === undefined) say(path, `"key" is missing; it is one of ${COMPOSITE_KEYS.join(', ')}`);
  if (within === undefined) say(path, '"within" is missing; it is a length of time, such as 24h');
  const ms = typeof within === 'string' ? parseDuration(within) : undefined;
  if (ms !== undefined && ms < MIN_WITHIN_MS) say([...path, 'within'], '"within" is at least 1m');
  if (kind !== 'any_of' && list.length === 1)
    say([...path, kind], `"${kind}" needs two parts or more; one event alone is a trigger of its own`);
  const texts = list.map((part) => canonicalJson(part));
  for (const [index, text] of texts.entries())
    if (kind !== 'sequence' && texts.indexOf(text) < index)
      say([...path, kind, index], `this part is the same as part ${texts.indexOf(text) + 1}`);
  for (const [index, part] of list.entries())
    found.push(...checkFilter(source, part, [...path, kind, index]));
  const composite = compositeIn(trigger);
  if (composite) found.push(...checkParts(source, composite, path));
  return found;
}

/** Events that end a pull request for good, so that the others of `ENDED` never come after them. */
const LAST_EVENT = 'pr.merged' satisfies TriggerEvent;
const BEFORE_THE_END: readonly TriggerEvent[] = ['pr.opened', 'pr.updated', 'pr.merged', 'pr.closed'];

/** Parts that the key does not fit, and sequences that never end. */
function checkParts(
  source: YamlSource,
  composite: Pick<Composite, 'kind' | 'key' | 'parts'>,
  path: Path,
): Diagnostic[] {
  const { kind, key } = composite;
  const events = composite.parts.map(({ event }) => event);
  const fitting = eventsOfKey(composite);
  const merged = events.indexOf(LAST_EVENT);
  return events.flatMap((event, index) => {
    const at = [...path, kind, index, 'event'];
    if (!fitting.includes(event))
      return [
        source.diagnostic(at, `${event} does not fit "key: ${key}": ${unfitBecause(event, composite)}`),
      ];
    const isOver = kind === 'sequence' && key !== 'repository' && merged >= 0 && index > merged;
    return isOver && BEFORE_THE_END.includes(event)
      ? [source.diagnostic(at, `this sequence never ends: after ${LAST_EVENT} there is no ${event}`)]
      : [];
  });
}

function unfitBecause(event: TriggerEvent, { key }: Pick<Composite, 'key'>): string {
  if (event === 'file.changed' && key === 'commit')
    return 'the other parts belong to pull requests, and a push to none; use "key: repository"';
  return `it belongs to no ${key === 'commit' ? 'commit' : 'pull request'}; use "key: repository"`;
}

/** Filters that do not apply to the event, and invalid expressions in its patterns. */
function checkFilter(source: YamlSource, trigger: Json, path: Path): Diagnostic[] {
  const event = eventOf(trigger);
  const filter = memberOf(trigger, 'filter');
  const meaningful = event && FILTERS_OF[event];
  const idle = FILTER_KEYS.filter(
    (key) => memberOf(filter, key) !== undefined && meaningful && !meaningful.includes(key),
  ).map((key) => {
    const message =
      meaningful?.length === 0
        ? `${String(event)} has no filters, so "${key}" says nothing about it`
        : notAllowed(`the filter "${key}" says nothing about ${String(event)}`, meaningful ?? [], '');
    return source.diagnostic([...path, 'filter', key], message, { part: 'key' });
  });
  const globs = FILTER_KEYS.filter((key) => key !== 'title' && key !== 'body').flatMap((key) =>
    textsIn(memberOf(filter, key), [...path, 'filter', key]),
  );
  const patterns = globs.flatMap(({ path: where, text }) =>
    checkExpression(source, where, text, compileTemplate, (reference) =>
      reference.root === 'repo'
        ? missingMember(reference, event && [originOf(event)])
        : `only "repo" is known before the chain starts, not "${reference.root}"`,
    ),
  );
  const texts = (['title', 'body'] as const).flatMap((key) => {
    return textsIn(memberOf(filter, key), [...path, 'filter', key]);
  });
  return [...idle, ...patterns, ...texts.flatMap((at) => checkPattern(source, at))];
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
