import { unsafeFilePathReason } from '../../core/path.ts';

/** Names an entry of a contract, in the chain and wherever people read of it. */
export const ARTIFACT_ID = /^[A-Za-z0-9_-]{1,50}$/;

export const MAX_WILDCARDS = 8;

/**
 * Why a text cannot be the path of one file that a session leaves in its folder, or `undefined` when it can. Wildcards are
 * refused rather than taken as themselves: whoever writes one means several files, and says so with `glob`.
 */
export function unfitPathReason(path: string): string | undefined {
  return (
    unfitReason(path) ?? (/[*?[\]]/.test(path) ? 'it has one of * ? [ ], which only a glob may' : undefined)
  );
}

/** The same for a glob. Its wildcards are limited, because the time to match it grows with them. */
export function unfitGlobReason(glob: string): string | undefined {
  const unfit = unfitReason(glob);
  if (unfit !== undefined) return unfit;
  const wildcards = glob.match(/\*+|\?/g)?.length ?? 0;
  if (wildcards === 0) return 'it has no wildcard: one file is named with path';
  if (wildcards > MAX_WILDCARDS) return `it has more than ${MAX_WILDCARDS} wildcards`;
  return /[[\]]/.test(glob) ? 'it has one of [ ], which no glob here knows' : undefined;
}

function unfitReason(path: string): string | undefined {
  if (path.length > 256) return 'it is longer than 256 characters';
  // They would show as another path than they are.
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u.test(path)) return 'it has characters that cannot be seen';
  return unsafeFilePathReason(path);
}
