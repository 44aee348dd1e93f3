import { z } from 'zod';
import { notAllowed } from '../../core/diagnostic.ts';
import { formatDuration } from '../../core/duration.ts';
import { globProblem } from '../../core/glob.ts';
import { MAX_PATTERN_LENGTH } from '../rule/rule.ts';
import { duration, listOrOne } from './shape.ts';

/** Events that happen once, whatever happens to their subject later. */
export const ONE_TIME_EVENTS = [
  'pr.labeled',
  'pr.review_submitted',
  'pr.merged',
  'pr.closed',
  'issue.created',
  'issue.labeled',
  'file.changed',
  'ci.changed',
  'release.published',
  'invocation.completed',
] as const;
/**
 * Events that can trigger a chain. `pr.opened` also fires on `pr.updated`; the newer run supersedes the older
 * one.
 */
export const TRIGGER_EVENTS = ['pr.opened', 'pr.updated', ...ONE_TIME_EVENTS, 'manual.fired'] as const;
export type TriggerEvent = (typeof TRIGGER_EVENTS)[number];

/** https://docs.github.com/en/graphql/reference/enums#commentauthorassociation */
const ASSOCIATIONS = [
  'COLLABORATOR',
  'CONTRIBUTOR',
  'FIRST_TIMER',
  'FIRST_TIME_CONTRIBUTOR',
  'MANNEQUIN',
  'MEMBER',
  'NONE',
  'OWNER',
] as const;

/** https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request_review: `review.state`. */
export const REVIEW_STATES = ['approved', 'changes_requested', 'commented'] as const;

/**
 * https://docs.github.com/en/rest/checks/runs: the conclusions of a check; of a commit status, its state:
 * https://docs.github.com/en/rest/commits/statuses.
 */
export const CONCLUSIONS = [
  'success',
  'failure',
  'error',
  'neutral',
  'cancelled',
  'skipped',
  'timed_out',
  'action_required',
  'stale',
  'startup_failure',
] as const;

/** Expressions in a pattern, which are evaluated before it is read as a glob. */
const EXPRESSIONS = /\{\{.*?\}\}/gs;

const anyGlob = z
  .string()
  .min(1)
  .max(256)
  .refine((text) => (text.match(/\*+/g) ?? []).length <= 8, {
    error: 'a pattern may have at most 8 wildcards',
  });

/** A glob where `!` has no meaning. */
export const globSchema = anyGlob.superRefine((text, context) => {
  const problem = text.startsWith('!')
    ? 'a leading "!" means nothing here; write \\! for the character itself'
    : globProblem(text);
  if (problem !== undefined)
    context.addIssue({ code: 'custom', message: `this pattern cannot be used: ${problem}` });
});

/** An entry of a filter: a glob that may begin with `!`, with expressions over `repo`. */
const filterGlob = anyGlob.superRefine((text, context) => {
  const problem = globProblem(text.replace(/^!/, '').replace(EXPRESSIONS, 'x'));
  if (problem !== undefined)
    context.addIssue({ code: 'custom', message: `this pattern cannot be used: ${problem}` });
});
const globs = listOrOne(filterGlob).optional();
/** Brackets are part of the logins of apps, such as `dependabot[bot]`. */
const logins = listOrOne(anyGlob).optional();

/** What RE2 refuses is a diagnostic of `check-trigger.ts`, so that only lint loads the engine. */
const pattern = z.string().min(1).max(MAX_PATTERN_LENGTH);
const patterns = listOrOne(pattern).optional();

const words = <const W extends readonly [string, ...string[]]>(list: W) => listOrOne(z.enum(list)).optional();

const labelSets = z.strictObject({
  any: globs.describe('At least one label matches one of these globs.'),
  all: globs.describe('For each of these globs, some label matches it.'),
  none: globs.describe('No label matches any of these globs.'),
});

/** What a trigger asks of an event, besides its kind. */
const filterSchema = z
  .strictObject({
    repository: globs.describe(
      'Repositories, as globs over the name, or over owner/name if they have a slash; for chains of an organisation.',
    ),
    base: globs.describe(
      'Base branches (file.changed: the branch pushed to; ci.changed: the branch of the commit), as globs; {{ repo.default_branch }} may be used.',
    ),
    head: globs.describe('Head branches, as globs.'),
    draft: z.boolean().optional().describe('Only drafts, or only pull requests that are none.'),
    author: logins.describe('Logins of the author, as globs, in any case. Brackets stand for themselves.'),
    association: words(ASSOCIATIONS).describe('What GitHub says the author is to the repository.'),
    labels: z
      .union([listOrOne(filterGlob), labelSets], {
        error: 'labels is a list of globs, or {any: …, all: …, none: …} of such lists',
      })
      .optional()
      .describe('A list: at least one label must match one of these globs, in any case.'),
    label: globs.describe('The label that was added, as globs, in any case.'),
    paths: globs.describe('At least one changed file must match one of these globs.'),
    paths_ignore: globs.describe('Some changed file must match none of these globs.'),
    title: patterns.describe('Some part of the title must match one of these RE2 patterns.'),
    body: patterns.describe('Some part of the first 4,096 characters must match one of these RE2 patterns.'),
    review: words(REVIEW_STATES).describe('What the submitted review says.'),
    check: globs.describe('Names of the check or commit status, as globs.'),
    conclusion: words(CONCLUSIONS).describe('How the check ended, in GitHub’s words.'),
    tag: globs.describe('Tags of the release, as globs.'),
    prerelease: z.boolean().optional().describe('Only prereleases, or only releases that are none.'),
    chain: globs.describe('Names of the chain whose step completed, as globs.'),
    step: globs.describe('Ids of the step that completed, as globs.'),
    kind: globs.describe('Kinds of the outcome, such as review_verdict, as globs.'),
    verdict: globs.describe('Verdicts of the outcome, as globs.'),
    passed: z
      .boolean()
      .nullable()
      .optional()
      .describe('Whether the outcome passed; null: without a verdict.'),
  })
  .meta({ id: 'filter', description: 'All keys must hold; within a key one entry is enough.' });
export type TriggerFilter = z.output<typeof filterSchema>;
export type FilterKey = keyof TriggerFilter;
export const FILTER_KEYS = Object.keys(filterSchema.shape) as readonly FilterKey[];

const OF_PULL_REQUEST = [
  'repository',
  'base',
  'head',
  'draft',
  'author',
  'association',
  'labels',
  'paths',
  'paths_ignore',
  'title',
  'body',
] as const satisfies readonly FilterKey[];
const OF_ISSUE = ['repository', 'author', 'association', 'labels', 'title', 'body'] as const;

/**
 * The filters that apply to each event. Any other filter is a diagnostic, because it would silently never
 * match.
 */
export const FILTERS_OF: Readonly<Record<TriggerEvent, readonly FilterKey[]>> = {
  'pr.opened': OF_PULL_REQUEST,
  'pr.updated': OF_PULL_REQUEST,
  'pr.labeled': [...OF_PULL_REQUEST, 'label'],
  'pr.review_submitted': [...OF_PULL_REQUEST, 'review'],
  'pr.merged': OF_PULL_REQUEST,
  'pr.closed': OF_PULL_REQUEST,
  'issue.created': OF_ISSUE,
  'issue.labeled': [...OF_ISSUE, 'label'],
  'file.changed': ['repository', 'base', 'author', 'paths', 'paths_ignore'],
  'ci.changed': ['repository', 'base', 'check', 'conclusion'],
  'release.published': ['repository', 'author', 'tag', 'prerelease', 'title', 'body'],
  'invocation.completed': ['repository', 'chain', 'step', 'kind', 'verdict', 'passed'],
  'manual.fired': [],
};

const CATCHUPS = ['last', 'none', 'all'] as const;
const OVERLAPS = ['skip', 'queue', 'cancel_running', 'allow'] as const;

/** When a chain fires by the clock, with defaults filled in. */
export interface Schedule {
  /** Five fields of cron, or `every 6h`. */
  schedule: string;
  timezone: string;
  /** Which of the firings happen that came due while nothing evaluated schedules. */
  catchup: (typeof CATCHUPS)[number];
  catchupWindowMs: number;
  /** What happens if an earlier run of the schedule is under way. */
  overlap: (typeof OVERLAPS)[number];
}

export const COMPOSITE_KINDS = ['all_of', 'any_of', 'sequence'] as const;
export type CompositeKind = (typeof COMPOSITE_KINDS)[number];
/** What the parts of a composite must have in common. */
export const COMPOSITE_KEYS = ['pull_request', 'commit', 'repository'] as const;
const MAX_PARTS = 10;

/** The events that can be part of a composite. */
const PART_EVENTS = TRIGGER_EVENTS.filter((event) => event !== 'manual.fired');

/** What people try as a part, and why it is none. */
const NO_PARTS: Readonly<Record<string, string>> = {
  schedule:
    'a schedule cannot be a part: it belongs to no pull request or commit; make it a trigger of its own',
  ...Object.fromEntries(
    COMPOSITE_KINDS.map((kind) => [
      kind,
      `"${kind}" cannot be a part: composites cannot be nested; write several triggers or chains`,
    ]),
  ),
};

const part = z.strictObject(
  {
    event: z
      .enum(PART_EVENTS, {
        error: ({ input }) =>
          input === 'manual.fired'
            ? 'manual.fired cannot be a part: who fires a chain by hand starts it at once'
            : undefined,
      })
      .describe('What happens.'),
    filter: filterSchema.optional(),
  },
  {
    error: (issue) => {
      const keys = issue.code === 'unrecognized_keys' ? issue.keys : [];
      if (!keys.some((key) => key in NO_PARTS)) return undefined;
      return keys.map((key) => NO_PARTS[key] ?? `unknown key "${key}"; allowed: event, filter`).join('\n');
    },
  },
);
const parts = z
  .array(part.meta({ id: 'part' }))
  .min(1)
  .max(MAX_PARTS)
  .optional();

/** What fires a chain, as people write it. Rules across keys are in `check-trigger.ts`. */
export const triggerInFileSchema = z.strictObject(
  {
    event: z
      .enum(TRIGGER_EVENTS)
      .optional()
      .describe('pr.opened also fires on pr.updated, superseding the older run.'),
    filter: filterSchema.optional(),
    schedule: z
      .string()
      .max(100)
      .optional()
      .describe('Five fields of cron, such as "0 6 * * 1-5", or "every 6h".'),
    timezone: z
      .string()
      .max(64)
      .optional()
      .describe('The time zone of the cron fields, such as Europe/Berlin. Left out, UTC.'),
    catchup: z
      .enum(CATCHUPS)
      .optional()
      .describe('Which firings happen later that came due while the app was down. Left out, last.'),
    catchup_window: duration('31d')
      .optional()
      .describe('How old a missed firing may be to happen later. Left out, 1d.'),
    overlap: z
      .enum(OVERLAPS)
      .optional()
      .describe('What happens while an earlier run of the schedule is under way. Left out, skip.'),
    all_of: parts.describe('Fires when each of these events has happened, in any order.'),
    any_of: parts.describe('Fires for the first of these events, and then rests for the time of within.'),
    sequence: parts.describe('Fires when these events have happened one after the other.'),
    within: duration('31d').optional().describe('The time within which the parts must happen, such as 24h.'),
    key: z
      .enum(COMPOSITE_KEYS)
      .optional()
      .describe(
        'What the parts must be about: the same pull request, the same commit, or only the repository.',
      ),
  },
  { error: noMapping },
);

function noMapping({ code, input }: z.core.$ZodRawIssue): string | undefined {
  if (code !== 'invalid_type' || typeof input !== 'string') return undefined;
  return TRIGGER_EVENTS.some((event) => event === input)
    ? `a trigger is a mapping; write "trigger: { event: ${input} }"`
    : notAllowed(
        `a trigger is a mapping such as "{ event: pr.opened }", and no event is named "${input.slice(0, 50)}"`,
        TRIGGER_EVENTS,
        input,
      );
}

export const MAX_TRIGGERS = 20;

/** What fires a chain, as a run stores it: an event, a schedule, or several events. */
export interface EventTrigger {
  event: TriggerEvent;
  filter: TriggerFilter;
}

/** Several events that fire a chain together. */
export interface Composite {
  kind: CompositeKind;
  parts: readonly EventTrigger[];
  withinMs: number;
  key: (typeof COMPOSITE_KEYS)[number];
}
export type Trigger = EventTrigger | Schedule | Composite;

/** Runs of older versions stored one trigger, as chains with one still do. */
export type StoredTrigger = Trigger | readonly Trigger[];

export function triggersOf({ trigger }: { readonly trigger: StoredTrigger }): readonly Trigger[] {
  return Array.isArray(trigger) ? trigger : [trigger as Trigger];
}

function isSchedule(trigger: Trigger): trigger is Schedule {
  return 'schedule' in trigger;
}

export function isComposite(trigger: Trigger): trigger is Composite {
  return 'parts' in trigger;
}

/** A schedule, as rows and events name it: two triggers with equal keys fire at the same times. */
export function keyOfSchedule({ schedule, timezone }: Pick<Schedule, 'schedule' | 'timezone'>): string {
  const when = schedule.trim().replace(/\s+/g, ' ');
  return when.startsWith('every') || timezone === 'UTC' ? when : `${when} ${timezone}`;
}

/** What a trigger waits for, in a few words. */
export function nameOfTrigger(trigger: Trigger): string {
  if (isSchedule(trigger)) return `the schedule ${keyOfSchedule(trigger)}`;
  return isComposite(trigger) ? nameOfComposite(trigger) : trigger.event;
}

/** A composite, as rows and people name it. */
export function nameOfComposite({ kind, parts, withinMs }: Composite): string {
  return `${kind} (${parts.map(({ event }) => event).join(', ')}) within ${formatDuration(withinMs)}`;
}

/** The triggers of the chain that wait for one event. */
export function eventTriggersOf(chain: { readonly trigger: StoredTrigger }): EventTrigger[] {
  return triggersOf(chain).flatMap((trigger) => ('event' in trigger ? [trigger] : []));
}

/** The composites of the chain, each with its position among all triggers. */
export function compositesOf(chain: { readonly trigger: StoredTrigger }): {
  composite: Composite;
  position: number;
}[] {
  return triggersOf(chain).flatMap((trigger, position) =>
    isComposite(trigger) ? [{ composite: trigger, position }] : [],
  );
}

export function schedulesOf(chain: { readonly trigger: StoredTrigger }): Schedule[] {
  return triggersOf(chain).filter(isSchedule);
}

/** What can fire a chain, as `trigger.event` has it. */
export type TriggerSource = TriggerEvent | 'schedule.fired';

export function sourcesOfChain(chain: { readonly trigger: StoredTrigger }): TriggerSource[] {
  return triggersOf(chain).flatMap((trigger): TriggerSource[] => {
    if (isComposite(trigger)) return trigger.parts.map(({ event }) => event);
    return isSchedule(trigger) ? ['schedule.fired'] : [trigger.event];
  });
}

const PULL_REQUEST_EVENTS: readonly TriggerEvent[] = TRIGGER_EVENTS.filter((event) =>
  event.startsWith('pr.'),
);
/** Events that also belong to a pull request if there is one for their commit or run. */
const OF_COMMITS = ['ci.changed', 'invocation.completed'] as const satisfies readonly TriggerEvent[];

/** Whether the runs of a composite are about a pull request. With a commit as the key, each pull request counts alone. */
export function isAboutPullRequests({ key, parts }: Pick<Composite, 'key' | 'parts'>): boolean {
  if (key === 'pull_request') return true;
  return key === 'commit' && parts.some(({ event }) => PULL_REQUEST_EVENTS.includes(event));
}

/** The events that can be parts of a composite with the key, given the others. */
export function eventsOfKey(composite: Pick<Composite, 'key' | 'parts'>): readonly TriggerEvent[] {
  if (isAboutPullRequests(composite)) return [...PULL_REQUEST_EVENTS, ...OF_COMMITS];
  return composite.key === 'commit' ? ['file.changed', ...OF_COMMITS] : PART_EVENTS;
}

/** Whether some trigger asks for the changed files. */
export function readsPaths(chain: { readonly trigger: StoredTrigger }): boolean {
  return eventTriggersOf(chain).some(
    ({ filter }) => filter.paths !== undefined || filter.paths_ignore !== undefined,
  );
}

/** Whether runs of the trigger follow a pull request: a newer head supersedes them. */
export function followsPullRequest(trigger: Trigger): trigger is EventTrigger {
  return 'event' in trigger && (trigger.event === 'pr.opened' || trigger.event === 'pr.updated');
}
