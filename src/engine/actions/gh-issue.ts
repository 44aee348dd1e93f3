import { z } from 'zod';
import { listOrOne } from '../../domain/chain/shape.ts';
import type { Effect, EffectOf } from '../../domain/effect/effect.ts';
import { reason } from '../../domain/explanation/reason.ts';
import type { Finding } from '../../domain/outcome/finding.ts';
import { fingerprintHash, shortHash } from '../../domain/outcome/fingerprint.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { Reported } from '../../domain/outcome/reported.ts';
import { userSchema } from '../../domain/policy/countersign-rules.ts';
import { worstFirst } from '../../messages/cards/review-card.ts';
import {
  bodyOfAll,
  bodyOfFinding,
  fixedComment,
  ISSUE_LABEL,
  type IssueScope,
  issueMarker,
  markedIssue,
  PLACEHOLDERS,
  scopeHash,
  titleOfAll,
  titleOfFinding,
} from '../../messages/comments/finding-issue.ts';
import { commitText } from '../../messages/text/commit-text.ts';
import { prose, proseLines } from '../../messages/text/markdown.ts';
import type { OwnIssue } from '../../ports/github.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import type { StepContext } from '../steps/step.ts';
import { type Plan, plainAction } from './action.ts';
import { MAX_ASSIGNEES, notAssignable } from './gh-assign.ts';
import { invalidInput, text } from './inputs.ts';
import { countedIn, outcomeIn, outcomeInput, severityInput } from './reported.ts';

const MOST_ISSUES = 30;
const ISSUES = 10;
/** Of the only issue of a step, instead of a finding's hash. */
const ALL = 'all';

const placeholders = PLACEHOLDERS.map((word) => `\`{${word}}\``).join(', ');

const NO_OUTCOME =
  '"outcome" is missing, or the step that it names has none; only "per: run" with a "title" needs none';

export const ghIssue = plainAction({
  name: 'gh-issue',
  about:
    'Opens issues for the findings of an earlier step: one for each, or one for all. A later run of the same chain for the same pull request, issue or branch finds them again: it updates their text, closes those that are fixed, and reopens those that are back. An issue that somebody closed as not planned stays closed. Every issue has the label `countersign`; without it, the issue is left alone.',
  permissions: ['issues: write'],
  input: z
    .strictObject({
      outcome: outcomeInput
        .optional()
        .describe(
          'The outcome of an earlier step: `"{{ steps.review.outcome }}"`. Without `outcome`, `per: run` opens one issue with `title` and `body`.',
        ),
      per: z
        .enum(['finding', 'run'])
        .optional()
        .describe(
          'One issue for each finding, which is the default, or one for all. The issue for an outcome without findings is open while it has not passed.',
        ),
      severity: severityInput,
      title: text(`The title. With one issue for each finding, it can hold ${placeholders}.`, 200)
        .optional()
        .meta({ placeholders: PLACEHOLDERS }),
      body: text(
        'The text, in Markdown. With one issue for each finding, it replaces the finding and can hold the same words as `title`; otherwise it comes before the findings.',
      ).optional(),
      labels: listOrOne(z.string().min(1).max(50), { least: 0 })
        .optional()
        .describe('Labels of new issues, besides `countersign`.'),
      assignees: listOrOne(userSchema, { least: 0 })
        .optional()
        .describe(`Assignees of new issues, at most ${MAX_ASSIGNEES}.`),
      limit: z
        .int()
        .min(1)
        .max(MOST_ISSUES)
        .optional()
        .describe(`The most issues that one run opens, worst findings first; ${ISSUES} if left out.`),
      close: z
        .boolean()
        .optional()
        .describe(
          'With `false`, nothing is closed. Otherwise an issue is closed once its finding is fixed; an incomplete outcome, a file that was not examined, and a run for a commit that is not the newest of its branch close nothing.',
        ),
    })
    .refine(({ outcome, per }) => outcome !== undefined || per === 'run', {
      error: NO_OUTCOME,
    })
    .refine(({ outcome, per, title }) => outcome !== undefined || per !== 'run' || title !== undefined, {
      error: '"title" is missing: an issue without "outcome" needs one',
    }),
  once: 'one issue for each chain, step, pull request and finding, found again by a hidden marker in issues that this App wrote; one comment for each close',
  async plan(context, input) {
    const { repo, reader } = context;
    const invalid = (problem: string) => invalidInput('gh-issue', problem);
    const problem = input.assignees && (await notAssignable(reader, repo, input.assignees));
    if (problem !== undefined) return invalid(problem);
    const wanted = wantedBy(context, input);
    if (typeof wanted === 'string') return invalid(wanted);
    const own = await reader.ownIssues(repo, ISSUE_LABEL);
    if (!own) {
      const off = `gh-issue cannot open issues: ${repo.owner}/${repo.name} has none`;
      return { kind: 'failed', reason: reason('step.failed.error', off), retryable: false };
    }
    return planned(context, wanted, own, input, await isOutdated(context));
  },
});

/**
 * Whether the branch of a run without a pull request has moved on. Checks and pushes of several commits end in any order, so an older
 * commit must not close what a newer one opened. Schedules fire for the tip.
 */
async function isOutdated({ state: { run }, repo, reader }: StepContext): Promise<boolean> {
  const ofCommit = ['ci.changed', 'file.changed', 'invocation.completed'].includes(run.event.kind);
  if (run.pullRequest !== null || !ofCommit) return false;
  return (await reader.branchTip(repo, run.baseRef)) !== run.headSha;
}

interface Given {
  outcome?: unknown;
  per?: 'finding' | 'run' | undefined;
  severity?: Finding['severity'] | undefined;
  labels?: string[] | undefined;
  assignees?: string[] | undefined;
  limit?: number | undefined;
  close?: boolean | undefined;
}

/** The issues that should be open, and which others of the step are fixed. */
interface Wanted {
  scope: IssueScope;
  /** Worst first; `hash` is that of the finding. */
  open: { hash: string; file: string | null; title: string; body: string }[];
  isFixed: (marked: { finding: string; file: string }) => boolean;
}

/** @returns a part of a sentence if the inputs do not fit together */
function wantedBy(
  context: StepContext,
  { outcome: given, per = 'finding', severity }: Given,
): Wanted | string {
  const { run } = context.state;
  const { issue_number: issue } = run.facts.trigger;
  // What somebody pushes to another branch must not change the issues about the default branch.
  const branch = run.baseRef === run.facts.repo.default_branch ? null : run.baseRef;
  const scope: IssueScope = {
    chain: run.chain,
    step: context.step.id,
    subject: run.pullRequest ?? (typeof issue === 'number' ? issue : branch),
  };
  const title = context.text('title', commitText);
  const body = context.text('body', proseLines);
  // An expression without a value would open an issue about nothing, or close them all.
  const isMissing = given === undefined && 'outcome' in context.inputs;
  if (isMissing) return NO_OUTCOME;
  const outcome = given === undefined ? undefined : outcomeIn(given);
  if (typeof outcome === 'string') return outcome;
  const reported = outcome && countedIn(outcome, severity);
  if (per === 'run') return wantedForAll(scope, outcome, reported, { title, body });
  if (!outcome) return NO_OUTCOME;
  if (!reported) return `an outcome of the kind ${outcome.outcome_kind} has no findings: use per: run`;
  return wantedForEach(scope, reported, { title, body });
}

interface Words {
  title: string | undefined;
  body: string | undefined;
}

function wantedForEach(scope: IssueScope, reported: Reported, { title, body }: Words): Wanted {
  const byHash = new Map<string, Finding>();
  for (const finding of worstFirst(reported.findings, reported.learned)) {
    const hash = fingerprintHash(finding);
    // Equal findings are fixed together.
    if (!byHash.has(hash)) byHash.set(hash, finding);
  }
  const unread = new Set([...reported.unread].map(shortHash));
  return {
    scope,
    open: [...byHash].map(([hash, finding]) => ({
      hash,
      file: finding.file,
      title: titleOfFinding(finding, title),
      body: bodyOfFinding(finding, scope, body),
    })),
    isFixed: ({ finding, file }) =>
      reported.isComplete && finding !== ALL && !byHash.has(finding) && !unread.has(file),
  };
}

function wantedForAll(
  scope: IssueScope,
  outcome: Outcome | undefined,
  reported: Reported | undefined,
  { title, body }: Words,
): Wanted | string {
  if (!outcome && title === undefined)
    return '"title" is missing: without "outcome", it says what the issue is about';
  const findings = reported?.findings ?? [];
  const isOpen = !outcome || (reported ? findings.length > 0 : outcome.passed === false);
  const isFixed = reported ? reported.isComplete && findings.length === 0 : outcome?.passed === true;
  const words = body ?? (outcome && !reported ? prose(outcome.summary) : undefined);
  const until = outcome && (reported ? 'no findings are left' : 'the step before it passes');
  return {
    scope,
    open: isOpen
      ? [
          {
            hash: ALL,
            file: null,
            title: titleOfAll(scope, title),
            body: bodyOfAll(findings, scope, words, until),
          },
        ]
      : [],
    isFixed: ({ finding }) => isFixed && finding === ALL,
  };
}

function planned(
  { state: { run }, step }: StepContext,
  { scope, open, isFixed }: Wanted,
  own: readonly OwnIssue[],
  { labels = [], assignees = [], limit = ISSUES, close = true }: Given,
  outdated: boolean,
): Plan {
  const of = scopeHash(scope);
  // Of several, the oldest: two can be there if somebody copied one.
  const known = new Map<string, OwnIssue & { file: string }>();
  for (const issue of own.toSorted((a, b) => a.number - b.number)) {
    const marked = markedIssue(issue.body);
    if (marked?.scope === of && !known.has(marked.finding))
      known.set(marked.finding, { ...issue, file: marked.file });
  }
  const at = placeOfEffect(run);
  const effects: { key: string; effect: Effect }[] = [];
  const counts = {
    opened: 0,
    updated: 0,
    reopened: 0,
    closed: 0,
    outdated: 0,
    left_closed: 0,
    over_limit: 0,
  };
  for (const { hash, file, title, body } of open) {
    const there = known.get(hash);
    if (there && isDropped(there)) {
      counts.left_closed += 1;
      continue;
    }
    if (!there && counts.opened === limit) {
      counts.over_limit += 1;
      continue;
    }
    counts[!there ? 'opened' : there.closedAt === null ? 'updated' : 'reopened'] += 1;
    const effect: EffectOf<'issue'> = {
      kind: 'issue',
      ...at,
      marker: issueMarker(scope, hash, file),
      number: there?.number ?? null,
      closed_at: there?.closedAt ?? null,
      title,
      body,
      labels: [...new Set([ISSUE_LABEL, ...labels])],
      assignees,
    };
    effects.push({ key: `issue:${run.repositoryId}:${of}:${hash}`, effect });
  }
  for (const [finding, { number, closedAt, file }] of known) {
    if (!close || closedAt !== null || !isFixed({ finding, file })) continue;
    if (outdated) {
      counts.outdated += 1;
      continue;
    }
    counts.closed += 1;
    const comment = fixedComment(run.id, number, scope, run.headSha);
    effects.push(
      {
        key: `comment:${run.id}:${step.id}:${number}`,
        effect: { kind: 'comment', ...at, issue: number, marker: comment.marker, body: comment.text },
      },
      {
        key: `closing:${run.id}:${step.id}:${number}`,
        effect: { kind: 'closing', ...at, issue: number, reason: 'completed' },
      },
    );
  }
  return { kind: 'does', summary: summaryOf(counts), details: counts, effects };
}

/** Somebody decided that it is not to be fixed. */
function isDropped({ closedAt, reason: why }: OwnIssue): boolean {
  return closedAt !== null && (why === 'not_planned' || why === 'duplicate');
}

function summaryOf(
  counts: Record<
    'opened' | 'updated' | 'reopened' | 'closed' | 'outdated' | 'left_closed' | 'over_limit',
    number
  >,
): string {
  const asked = (['opened', 'updated', 'reopened', 'closed'] as const)
    .filter((what) => counts[what] > 0)
    .map((what) => `${counts[what]} ${what}`);
  const rest = [
    ...(counts.outdated === 0 ? [] : [`${counts.outdated} left open, because the branch has newer commits`]),
    ...(counts.left_closed === 0 ? [] : [`${counts.left_closed} left closed, as not planned`]),
    ...(counts.over_limit === 0 ? [] : [`${counts.over_limit} over the limit`]),
  ];
  const first = asked.length === 0 ? 'no issues to change' : `issues: ${asked.join(', ')}`;
  return [first, ...rest].join('; ');
}
