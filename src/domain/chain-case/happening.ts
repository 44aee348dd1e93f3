import { z } from 'zod';
import { duration, listOrOne } from '../chain/shape.ts';
import {
  CONCLUSIONS,
  type Composite,
  type EventTrigger,
  isAboutPullRequests,
  REVIEW_STATES,
  type TriggerFilter,
} from '../chain/trigger-schema.ts';
import { type Event, KEPT_BODY, type RepositoryRef } from '../event/event.ts';
import { compileTemplate } from '../expression/condition.ts';

const text = z.string().min(1).max(500);
const after = duration('31d').optional().describe('How long after the one before; at once by default.');
const by = text.optional().describe('The login of the person; a maintainer by default.');

/** What can be left out of an issue. */
const issue = {
  title: text.optional(),
  body: z.string().max(KEPT_BODY).optional(),
  author: text.optional(),
  labels: listOrOne(text).optional(),
};

const happeningSchemas = [
  z.strictObject({ on: z.literal('pr.opened').describe('Opened, or opened again.'), after }),
  z.strictObject({ on: z.literal('pr.updated').describe('A new head was pushed.'), after }),
  z.strictObject({ on: z.literal('pr.labeled'), after, label: text, by }),
  z.strictObject({ on: z.literal('pr.review_submitted'), after, review: z.enum(REVIEW_STATES), by }),
  z.strictObject({ on: z.literal('pr.merged'), after }),
  z.strictObject({ on: z.literal('pr.closed'), after }),
  z.strictObject({ on: z.literal('issue.created'), after, ...issue }),
  z.strictObject({ on: z.literal('issue.labeled'), after, label: text, by, ...issue }),
  z.strictObject({
    on: z.literal('file.changed'),
    after,
    branch: text.optional().describe('The default branch by default.'),
    paths: listOrOne(text),
    by,
  }),
  z.strictObject({
    on: z.literal('ci.changed'),
    after,
    check: text,
    conclusion: z.enum(CONCLUSIONS),
    branch: text
      .optional()
      .describe('The check is about the newest commit of this branch, and not about the head.'),
  }),
  z.strictObject({
    on: z.literal('release.published'),
    after,
    tag: text,
    title: text.optional(),
    body: z.string().max(KEPT_BODY).optional(),
    prerelease: z.boolean().optional(),
    author: text.optional(),
  }),
  z.strictObject({
    on: z.literal('invocation.completed').describe('A step of another chain has an outcome.'),
    after,
    chain: text,
    step: text,
    kind: text.optional(),
    verdict: text.nullable().optional(),
    passed: z.boolean().nullable().optional(),
  }),
] as const;

/** One of several events of a case, one after the other. */
export const happeningSchema = z.discriminatedUnion('on', happeningSchemas, {
  error: ({ code }) =>
    code === 'invalid_union'
      ? `"on" is one of ${happeningSchemas.map(({ shape }) => shape.on.value).join(', ')}`
      : undefined,
});
export type Happening = z.output<typeof happeningSchema>;

/** Where and when something happens. */
export interface HappensAt {
  place: { installation_id: number; repository: RepositoryRef };
  pullRequest: number;
  baseRef: string;
  defaultBranch: string;
  /** The head of the pull request. */
  headSha: string;
  /** The newest commit of the default branch. */
  tip: string;
  /** Its place among what happens, from 0. */
  nth: number;
  at: Date;
  /** When GitHub says that the pull request last changed. */
  updatedAt: Date;
  /** Who does it, if that is not said. */
  actor: string;
}

/** Whether it is about the pull request of the case. */
export function happensToPullRequest(one: Happening): boolean {
  return one.on.startsWith('pr.') || (one.on === 'ci.changed' && one.branch === undefined);
}

/** What the app would read from GitHub's webhooks about it. */
export function eventsOf(one: Happening, where: HappensAt): Event[] {
  const { place, nth, actor } = where;
  const at = where.at.toISOString();
  const updated_at = where.updatedAt.toISOString();
  const onPullRequest = { ...place, pull_request: where.pullRequest };
  const then = { base_ref: where.baseRef, head_sha: where.headSha };
  const said = { actor: ('by' in one ? one.by : undefined) ?? actor };
  switch (one.on) {
    case 'pr.opened':
      return nth === 0
        ? [{ kind: 'pr.opened', ...onPullRequest, action: 'opened', updated_at }]
        : [{ kind: 'pr.updated', ...onPullRequest, action: 'reopened', updated_at }];
    case 'pr.updated':
      return [{ kind: 'pr.updated', ...onPullRequest, action: 'synchronize', updated_at }];
    case 'pr.labeled':
      return [
        { kind: 'pr.updated', ...onPullRequest, action: 'labeled', updated_at },
        { kind: 'pr.labeled', ...onPullRequest, ...then, label: one.label, ...said, at },
      ];
    case 'pr.review_submitted': {
      const { review } = one;
      return [
        {
          kind: 'pr.review_submitted',
          ...onPullRequest,
          ...then,
          review_id: nth + 1,
          review,
          reviewer: said.actor,
        },
      ];
    }
    case 'pr.merged':
    case 'pr.closed':
      return [{ kind: one.on, ...onPullRequest }];
    case 'issue.created':
    case 'issue.labeled': {
      const { title = 'An issue', body = '', author = 'ada', labels = [] } = one;
      const about = { ...place, issue: nth + 100, title, body, author, labels };
      if (one.on === 'issue.created') return [{ kind: one.on, ...about }];
      return [
        {
          kind: one.on,
          ...about,
          labels: [...labels, one.label],
          label: one.label,
          ...said,
          at,
        },
      ];
    }
    case 'file.changed': {
      const { branch = where.defaultBranch, paths } = one;
      return [
        {
          kind: 'file.changed',
          ...place,
          branch,
          default_branch: where.defaultBranch,
          before_sha: '0'.repeat(40),
          forced: false,
          head_sha: where.tip,
          pusher: said.actor,
          paths,
        },
      ];
    }
    case 'ci.changed': {
      const { check: name, conclusion, branch } = one;
      const ended = { id: nth + 1, name, conclusion, default_branch: where.defaultBranch };
      const head_sha = branch === undefined ? where.headSha : where.tip;
      return [
        {
          kind: 'ci.changed',
          ...place,
          head_sha,
          ended: { ...ended, ...(branch !== undefined && { branch }) },
        },
      ];
    }
    case 'release.published': {
      const { tag, title = tag, body = '', prerelease = false, author = actor } = one;
      return [
        {
          kind: 'release.published',
          ...place,
          release_id: nth + 1,
          tag,
          title,
          body,
          prerelease,
          author,
        },
      ];
    }
    case 'invocation.completed': {
      const { chain, step, kind = 'gate_verdict', verdict = null, passed = null } = one;
      return [
        {
          kind: 'invocation.completed',
          ...onPullRequest,
          branch: where.defaultBranch,
          default_branch: where.defaultBranch,
          ...then,
          run_id: `run_of_${chain}`,
          chain,
          step,
          artifact_id: `art_${nth}`,
          outcome_kind: kind,
          verdict,
          passed,
          summary: '',
          depth: 1,
        },
      ];
    }
    default:
      return one satisfies never;
  }
}

/**
 * Something that can happen to an open pull request for each part of the composite, beginning with the pull request itself.
 * `undefined` if the composite is about something else, or about its end.
 */
export function exampleOf(composite: Composite, repo: object): Happening[] | undefined {
  if (!isAboutPullRequests(composite)) return undefined;
  const { kind, parts } = composite;
  const needed = kind === 'any_of' ? parts.slice(0, 1) : parts;
  const found: Happening[] = [{ on: 'pr.opened' }];
  for (const [index, part] of needed.entries()) {
    const isOpening = part.event === 'pr.opened' || part.event === 'pr.updated';
    // That it was opened fills the part already.
    if (isOpening && (kind !== 'sequence' || index === 0)) continue;
    const example = isOpening ? ({ on: 'pr.opened' } as const) : exampleOfPart(part, repo);
    if (!example) return undefined;
    found.push(example);
  }
  return found;
}

function exampleOfPart({ event, filter }: EventTrigger, repo: object): Happening | undefined {
  const some = (key: 'label' | 'check' | 'chain' | 'step' | 'kind' | 'verdict') =>
    matchingText(filter[key], repo);
  switch (event) {
    case 'pr.labeled':
      return { on: event, label: some('label') ?? 'a label' };
    case 'pr.review_submitted':
      return { on: event, review: filter.review?.[0] ?? 'approved' };
    case 'ci.changed':
      return {
        on: event,
        check: some('check') ?? 'a check',
        conclusion: filter.conclusion?.[0] ?? 'success',
      };
    case 'invocation.completed':
      return {
        on: event,
        chain: some('chain') ?? 'another-chain',
        step: some('step') ?? 'a-step',
        ...(filter.kind && { kind: some('kind') }),
        ...(filter.verdict && { verdict: some('verdict') }),
        ...(filter.passed !== undefined && { passed: filter.passed }),
      };
    default:
      return undefined;
  }
}

/** A text that the first glob matches which asks for something. If none does, the filter itself says so later. */
function matchingText(globs: TriggerFilter['label'], repo: object): string | undefined {
  const wanted = globs?.find((glob) => !glob.startsWith('!'));
  if (wanted === undefined) return undefined;
  const value = compileTemplate(wanted).evaluate({ repo });
  if (typeof value !== 'string') return undefined;
  return value
    .replace(/\{([^,{}]*)[^{}]*\}/g, '$1')
    .replace(/\[([^\]!])[^\]]*\]/g, '$1')
    .replace(/\*\*\//g, '')
    .replace(/\*+|\?/g, 'x')
    .replace(/\\(.)/g, '$1');
}
