import { globProblem } from '../../core/glob.ts';
import { unsafeFilePathReason } from '../../core/path.ts';

/** The id of a contract's entry, in the chain and in messages. */
export const ARTIFACT_ID = /^[A-Za-z0-9_-]{1,50}$/;

const MAX_WILDCARDS = 8;

/**
 * Why a text is not an acceptable path of one file in a session's folder, or `undefined` if it is. Wildcards
 * are refused rather than taken literally: an author who writes one means several files and should use
 * `glob`.
 */
export function unfitPathReason(path: string): string | undefined {
  return (
    unfitReason(path) ?? (/[*?[\]]/.test(path) ? 'it has one of * ? [ ], which only a glob may' : undefined)
  );
}

/**
 * Like `unfitPathReason`, for a glob. The number of wildcards is limited, because matching time grows with
 * it.
 */
export function unfitGlobReason(glob: string): string | undefined {
  const unfit = unfitReason(glob);
  if (unfit !== undefined) return unfit;
  const wildcards = glob.match(/\*+|[?[{]/g)?.length ?? 0;
  if (wildcards === 0) return 'it has no wildcard: one file is named with path';
  if (wildcards > MAX_WILDCARDS) return `it has more than ${MAX_WILDCARDS} wildcards`;
  if (glob.startsWith('!')) return 'it starts with "!", which only filters of triggers know';
  return globProblem(glob);
}

function unfitReason(path: string): string | undefined {
  if (path.length > 256) return 'it is longer than 256 characters';
  // These would be displayed as a different path.
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u.test(path)) return 'it has characters that cannot be seen';
  return unsafeFilePathReason(path);
}
