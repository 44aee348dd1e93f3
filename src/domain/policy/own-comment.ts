import { bodyHash } from '../effect/body-hash.ts';
import type { MergeFacts } from './merge-gate.ts';

/** Who wrote a comment, as GitHub shows it. */
export interface Authorship {
  author: { id: number; type: string };
  /** The app that it was written through; `null` if GitHub names none. */
  viaAppId: number | null;
}

/** This app's own identity. */
export interface OwnAccount {
  appId: number;
  /** The account of its comments, as GitHub named it when one was created; `undefined` if GitHub did not. */
  accountId: number | undefined;
}

/** A comment of this app. */
export interface WrittenComment {
  id: number;
  /** The bot account that GitHub names as its author; `undefined` if it names none. */
  authorId: number | undefined;
  /** GitHub's global id, if it named one. */
  nodeId: string | undefined;
}

/**
 * Whether this app wrote a comment. The author must be a bot. At least one of two facts must say that it is
 * ours, and none may contradict: the app that GitHub names (`performed_via_github_app`), and the account that
 * GitHub named when the comment was created. The first alone is not enough: GitHub's API description makes it
 * optional, and some servers leave it out. A name such as `countersign[bot]` or a marker in the text proves
 * nothing, because anybody can write either.
 */
export function isOwnComment({ author, viaAppId }: Authorship, own: OwnAccount): boolean {
  if (author.type !== 'Bot') return false;
  const facts = [
    ...(viaAppId === null ? [] : [viaAppId === own.appId]),
    ...(own.accountId === undefined ? [] : [author.id === own.accountId]),
  ];
  return facts.length > 0 && facts.every((isOurs) => isOurs);
}

/** The approval comment as it is now, compared with what was written. */
export function commentStatus(
  found: (Authorship & { body: string }) | undefined,
  written: { bodyHash: string; authorId: number | undefined },
  appId: number,
): MergeFacts['comment'] {
  if (!found) return 'missing';
  if (!isOwnComment(found, { appId, accountId: written.authorId })) return 'not_ours';
  return bodyHash(found.body) === written.bodyHash ? 'as_written' : 'edited';
}
