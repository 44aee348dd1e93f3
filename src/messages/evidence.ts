import { unreachable } from '../core/errors.ts';
import type { EvidenceRef } from '../domain/explanation/evidence.ts';
import type { Run } from '../domain/run/run.ts';
import { safeAddress } from './link.ts';

/** Where the pages are that people may be sent to, without a slash at the end; `null` for what is not there, or not known. */
export interface Pages {
  /** GitHub as people see it, such as `https://github.com`. */
  github: string | null;
}

/**
 * The page of what a run's reason points to; `null` for what has none. Ids may stem from whoever made the thing, so those that
 * are none that GitHub gives lead nowhere.
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
