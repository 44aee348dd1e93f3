import { unreachable } from '../../core/errors.ts';
import type { ClosingReason, Effect } from '../../domain/effect/effect.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { short } from '../text/pretty.ts';

/** What an effect would leave on GitHub. */
export interface Written {
  /** Says what it is. Text of anybody; not yet safe to print. */
  head: string;
  /** Markdown. */
  body?: string;
  /** What else it has, such as the comments of a review. */
  parts?: readonly { line: string; body?: string }[];
}

/** What an effect would leave on GitHub, as lines of text. */
export function written(effect: Effect): string[] {
  const { head, body, parts = [] } = whatIsWritten(effect);
  return [
    plainLine(head),
    ...(body === undefined ? [] : bodyLines(body)),
    ...parts.flatMap((part) => [
      `    ${plainLine(part.line)}`,
      ...(part.body === undefined ? [] : bodyLines(part.body).map((shown) => `  ${shown}`)),
    ]),
  ];
}

/** What an effect would leave on GitHub, in parts. */
export function whatIsWritten(effect: Effect): Written {
  switch (effect.kind) {
    case 'check_run':
    case 'gate_check': {
      const { name, head_sha, state, title, summary, text, annotations } = effect.content;
      const shown = state.status === 'completed' ? state.conclusion : 'in progress';
      return {
        head: `Check "${name}" on ${short(head_sha)}, ${shown}: ${title}`,
        body: [summary, text].filter((part) => part !== '').join('\n\n'),
        parts: annotations.map(({ path, start_line, level, title }) => ({
          line: `${level} at ${path}:${start_line}: ${title}`,
        })),
      };
    }
    case 'comment':
      return { head: `Comment on #${effect.issue}`, body: effect.body };
    case 'webhook':
      return { head: `Message to the chat "${effect.webhook}"`, body: effect.text };
    case 'review_request': {
      const teams = effect.teams.map((team) => `${effect.owner}/${team}`);
      return { head: `Request for a review: ${[...effect.people, ...teams].join(', ')}` };
    }
    case 'reaction':
      return { head: `Reaction "${effect.content}" to a comment` };
    case 'label':
      return { head: `Labels on #${effect.issue}: ${effect.labels.join(', ')}` };
    case 'issue': {
      const { number, title, labels, assignees } = effect;
      const state =
        number === null
          ? [
              `labels ${labels.join(', ')}`,
              ...(assignees.length === 0 ? [] : [`assigned to ${assignees.join(', ')}`]),
            ]
          : [effect.closed_at === null ? 'updated' : 'reopened'];
      const name = number === null ? 'Issue' : `Issue #${number}`;
      return { head: `${name} "${title}", ${state.join(', ')}`, body: effect.body };
    }
    case 'review':
      return {
        head: `Review of #${effect.pull_request} at ${short(effect.head_sha)}`,
        body: effect.body,
        parts: effect.comments.map(({ path, start_line, line, body }) => ({
          line: `at ${path}:${start_line}${line > start_line ? `-${line}` : ''}`,
          body,
        })),
      };
    case 'resolved_finding':
      return { head: `Resolved conversation of #${effect.pull_request}`, body: effect.body };
    case 'thread_reply':
      return { head: `Reply in a conversation of #${effect.pull_request}`, body: effect.body };
    case 'assignment':
      return { head: `Assignees of #${effect.issue}: ${effect.people.join(', ')}` };
    case 'milestone':
      return { head: `Milestone of #${effect.issue}: ${effect.milestone.title}` };
    case 'closing':
      return {
        head: `#${effect.issue} closed${effect.reason === null ? '' : ` as ${inWords(effect.reason)}`}`,
      };
    case 'branch_deletion':
      return { head: `Deletion of the branch ${effect.branch}` };
    case 'backport':
      return {
        head: `Pull request from ${effect.branch} into ${effect.onto}: ${effect.title}`,
        body: effect.body,
      };
    case 'dispatch':
      return {
        head: `Start of the workflow ${effect.workflow} on ${effect.branch}`,
        parts: Object.entries(effect.inputs).map(([name, value]) => ({ line: `${name}: ${value}` })),
      };
    case 'update_branch':
      return { head: `Merge of ${effect.base_ref} into the branch of #${effect.pull_request}` };
    case 'status':
      return {
        head: `Status "${effect.context}" on ${short(effect.sha)}, ${effect.state}: ${effect.description}`,
        parts: effect.target_url === undefined ? [] : [{ line: effect.target_url }],
      };
    case 'release':
      return {
        head: `${effect.draft ? 'Draft of a release' : 'Release'}${effect.prerelease ? ' (pre-release)' : ''} ${effect.tag} at ${short(effect.sha)}: ${effect.name}`,
        body: effect.body,
      };
    case 'merge':
      return { head: `Merge of #${effect.pull_request} into ${effect.base_ref}: ${effect.method}` };
    case 'enqueue':
      return { head: `#${effect.pull_request} in the merge queue of ${effect.base_ref}` };
    default:
      return unreachable(effect);
  }
}

function inWords(reason: ClosingReason): string {
  return reason.replace('_', ' ');
}

/** Without the comments that GitHub does not show. */
export function shownOnGitHub(markdown: string): string {
  return markdown.replace(/<!--[\s\S]*?-->\n?/g, '').trim();
}

function bodyLines(markdown: string): string[] {
  return shownOnGitHub(markdown)
    .split('\n')
    .map((line) => `  │ ${plainLine(line)}`.trimEnd());
}
