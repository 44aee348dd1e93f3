import { unreachable } from '../../core/errors.ts';
import type { EvidenceRef } from '../../domain/explanation/evidence.ts';
import type { Run } from '../../domain/run/run.ts';
import { safeAddress } from '../text/link.ts';

/** The addresses for links, without a trailing slash; `null` if there is none, or it is unknown. */
export interface Pages {
  /** GitHub's pages, such as `https://github.com`. */
  github: string | null;
}

/**
 * The page of a piece of evidence; `null` if it has none. Ids can come from untrusted users, so only ids in
 * GitHub's format become links.
 */
export function evidenceUrl(
  { kind, id, url }: EvidenceRef,
  { repository, pullRequest }: Pick<Run, 'repository' | 'pullRequest'>,
  { github }: Pages,
): string | null {
  const on = (site: string | null, path: string, known: boolean) =>
    known && site !== null ? (safeAddress(`${site}/${path}`) ?? null) : null;
  if (url !== undefined) return safeAddress(url) ?? null;
  switch (kind) {
    case 'url':
      return safeAddress(id) ?? null;
    case 'commit':
      return on(github, `${repository}/commit/${id}`, /^[0-9a-f]{40,64}$/.test(id));
    case 'person':
      return on(github, id, /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(id));
    case 'comment': {
      const known = pullRequest !== null && /^\d{1,20}$/.test(id);
      return on(github, `${repository}/pull/${pullRequest}#issuecomment-${id}`, known);
    }
    case 'pull_request':
      return on(github, `${repository}/pull/${id}`, /^\d{1,20}$/.test(id));
    case 'artifact':
    case 'check':
    case 'effect':
    case 'gate':
    case 'policy':
    case 'rule':
    case 'run':
    case 'step':
      return null;
    default:
      return unreachable(kind);
  }
}
