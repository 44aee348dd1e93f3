/**
 * GitHub's names, as patterns without anchors. A login has up to 39 letters, digits and hyphens; that of a managed user also has an
 * underscore before the enterprise's short code, and that of an owner of repositories may be one:
 * https://docs.github.com/en/enterprise-cloud@latest/admin/managing-iam/iam-configuration-reference/username-considerations-for-external-authentication
 */
const LOGIN = '[A-Za-z0-9][A-Za-z0-9_-]{0,38}';
const NAME = '[A-Za-z0-9._-]{1,100}';
const NUMBER = '[1-9]\\d{0,8}';

export const LOGIN_PATTERN = new RegExp(`^${LOGIN}$`);
export const REPOSITORY_PATTERN = new RegExp(`^${LOGIN}/${NAME}$`);
const NAMED = new RegExp(`^(${LOGIN}/${NAME})(?:#(${NUMBER}))?$`);
const PATH = new RegExp(`^/?(${LOGIN}/${NAME})/pull/(${NUMBER})(?:[/?#]\\S*)?$`);

/** A repository, or a pull request of it, as people write it. */
export interface Named {
  /** `owner/name`. */
  repository: string;
  /** `null` for the repository alone. */
  pullRequest: number | null;
  /** The server with its port, if an address names one. */
  host: string | null;
}

/**
 * Reads `owner/name`, `owner/name#12`, or the address of a pull request or of a page below it.
 * @returns `undefined` for anything else
 */
export function readName(text: string): Named | undefined {
  const trimmed = text.trim();
  const [, origin, host = null] = /^(https?:\/\/([^/\s]+))\//.exec(trimmed) ?? [];
  const [, repository, number] =
    (host === null ? NAMED.exec(trimmed) : null) ?? PATH.exec(trimmed.slice(origin?.length ?? 0)) ?? [];
  if (repository === undefined) return undefined;
  return { repository, pullRequest: number === undefined ? null : Number(number), host };
}
