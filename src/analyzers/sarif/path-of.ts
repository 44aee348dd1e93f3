import { unsafePathReason } from '../../core/path.ts';
import type { SarifPlace, SarifRun } from './report.ts';

/** Where GitHub's runners, container jobs and self-hosted runners keep a checkout. */
const CHECKOUT =
  /^(?:[A-Za-z]:)?\/(?:[^/]+\/)*?_work\/([^/]+)\/\1\/|^\/(?:home\/runner\/work|Users\/runner\/work|__w)\/[^/]+\/[^/]+\/|^\/github\/workspace\/|^[A-Za-z]:\/a\/[^/]+\/[^/]+\//;
const MAX_BASES = 5;

/** The repository path of a result; `undefined` if it names none that could be one. */
export function pathOf(place: SarifPlace | undefined, run: SarifRun): string | undefined {
  const listed =
    place?.uri === undefined && place?.index !== undefined ? run.artifacts?.[place.index]?.location : place;
  const whole = listed && resolved(listed, run, 0);
  if (whole === undefined) return undefined;
  const plain = decoded(withoutScheme(whole))?.replaceAll('\\', '/');
  if (plain === undefined) return undefined;
  const path = normalized(plain.replace(CHECKOUT, ''));
  return path === undefined || unsafePathReason(path) !== undefined ? undefined : path;
}

/** The name of a base means nothing; only its address counts. */
function resolved({ uri = '', uriBaseId }: SarifPlace, run: SarifRun, depth: number): string | undefined {
  if (/^[a-z][a-z0-9+.-]+:|^\//i.test(uri)) return uri;
  const bases = run.originalUriBaseIds ?? {};
  const base = uriBaseId !== undefined && Object.hasOwn(bases, uriBaseId) ? bases[uriBaseId] : undefined;
  if (!base) return uri;
  if (depth >= MAX_BASES) return undefined;
  const before = resolved(base, run, depth + 1);
  if (before === undefined) return undefined;
  return before === '' ? uri : `${before.replace(/\/?$/, '/')}${uri}`;
}

/** Leaves addresses of other hosts and schemes as they are. They are no paths. */
function withoutScheme(uri: string): string {
  return uri.replace(/^file:(?:\/\/(?:localhost)?(?=\/))?/i, '').replace(/^\/(?=[A-Za-z]:\/)/, '');
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function normalized(path: string): string | undefined {
  if (path.startsWith('/') || path.includes(':/')) return undefined;
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..' && parts.pop() === undefined) return undefined;
    if (part !== '..' && part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}
