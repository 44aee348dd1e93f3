/** Who wrote a comment, as GitHub shows it. */
export interface Authorship {
  author: { id: number; type: string };
  /** The app it was written through; `null` when GitHub names none. */
  viaAppId: number | null;
}

/** What this app knows of itself. */
export interface OwnAccount {
  appId: number;
  /** The account under which its comments appear, as GitHub told when one was written; `undefined` when it did not tell. */
  accountId: number | undefined;
}

/** A comment of this app's own. */
export interface WrittenComment {
  id: number;
  /** The bot account that GitHub names as its author; `undefined` when it names none. */
  authorId: number | undefined;
}

/**
 * Whether this app wrote a comment. A bot must be the author, at least one of two facts must say that it is ours, and neither may
 * say otherwise: the app that GitHub names (`performed_via_github_app`), and the account that GitHub named when the comment was
 * created. GitHub's description makes the first one optional, and servers that leave it out exist, so it cannot be the only one.
 * A name such as `countersign[bot]` or a marker in the text proves nothing: anybody can write either.
 */
export function isOwnComment({ author, viaAppId }: Authorship, own: OwnAccount): boolean {
  if (author.type !== 'Bot') return false;
  const facts = [
    ...(viaAppId === null ? [] : [viaAppId === own.appId]),
    ...(own.accountId === undefined ? [] : [author.id === own.accountId]),
  ];
  return facts.length > 0 && facts.every((isOurs) => isOurs);
}
