import type { Approval } from '../../domain/policy/approval.ts';
import { code, htmlComment, inline } from '../text/markdown.ts';
import { asSentence, listed } from '../text/pretty.ts';

/** Finds the comment again after a crash. */
export function mentionMarker({ id }: Pick<Approval, 'id'>): string {
  return htmlComment(`countersign:mention id=${id}`);
}

/**
 * The comment that mentions people, once per question. It is never edited, because reports differ on whether an
 * edit notifies those whom it adds: docs/github-assumptions.md. Logins and slugs have no Markdown in them.
 * @param question the address of the approval comment
 */
export function mentionComment(
  approval: Approval,
  { people, teams }: { people: readonly string[]; teams: readonly string[] },
  { question, isMerge }: { question: string | null; isMerge: boolean },
): string {
  const names = [...teams, ...people].map((name) => `@${name}`);
  const asked = question === null ? 'the approval comment' : `[the approval comment](${question})`;
  const what = isMerge ? 'you to approve this merge' : 'you to approve a step of this chain';
  return `${mentionMarker(approval)}\n${listed(names, 'and')}: ${asked} asks ${what}. Answer there.`;
}

export function teamUnseen(team: string): string {
  return `the team ${team} cannot be notified: GitHub does not show it to this app. The team may be secret, renamed or deleted, or the app may lack the permission to read members`;
}

export function manyMayAnswer(most: number): string {
  return `nobody was notified: more than ${most} people may answer, so name teams or users under countersign`;
}

export function nobodyMayAnswer(): string {
  return 'nobody was notified: no collaborator may answer this question';
}

export function onlySome(most: number, all: number): string {
  return `only ${most} of the ${all} people who may answer were notified`;
}

/** For the approval comment: whom the question notified, and whom it could not. */
export function noticeLines({ notices }: Pick<Approval, 'notices'>): string[] {
  if (!notices) return [];
  const names = [
    ...notices.people.map((name) => code(name)),
    ...notices.webhooks.map((name) => `the webhook ${code(name)}`),
  ];
  return [
    ...(names.length === 0 ? [] : [`**Notified:** ${listed(names, 'and')}.`]),
    ...notices.problems.map((problem) => `> **Not notified:** ${inline(asSentence(problem), 400)}`),
  ];
}

/** @param because what GitHub or the chat answered */
export function noticeRefused(names: readonly string[], because: string): string {
  return names.length === 0 ? because : `a review by ${listed(names, 'and')} cannot be requested: ${because}`;
}

export function webhookUnknown(webhook: string): string {
  return `the webhook ${webhook} cannot be notified: the operator of this server has not set it`;
}
