import type { Call, Reply } from './router.ts';

const DEFAULT_PER_PAGE = 30;
const MOST_PER_PAGE = 100;

/** One page of a list with GitHub's `Link` header; `wrap` puts the items into an object with their count. */
export function paginate<T>(
  call: Call,
  path: string,
  items: readonly T[],
  view: (item: T) => unknown,
  wrap: (page: unknown[], total: number) => unknown = (page) => page,
): Reply {
  const perPage = clamp(call.query.get('per_page'), DEFAULT_PER_PAGE, MOST_PER_PAGE);
  const page = clamp(call.query.get('page'), 1, Number.MAX_SAFE_INTEGER);
  const last = Math.max(1, Math.ceil(items.length / perPage));
  const link = (to: number, rel: string): string => {
    const query = new URLSearchParams(call.query);
    query.set('page', String(to));
    return `<${call.state.url}${path}?${query}>; rel="${rel}"`;
  };
  const links = [
    ...(page > 1 ? [link(page - 1, 'prev')] : []),
    ...(page < last ? [link(page + 1, 'next'), link(last, 'last')] : []),
    ...(page > 1 ? [link(1, 'first')] : []),
  ];
  const shown = items.slice((page - 1) * perPage, page * perPage).map(view);
  return {
    status: 200,
    body: wrap(shown, items.length),
    headers: links.length === 0 ? {} : { link: links.join(', ') },
  };
}

function clamp(text: string | null, otherwise: number, most: number): number {
  const value = Number(text ?? otherwise);
  return Number.isInteger(value) && value >= 1 ? Math.min(value, most) : otherwise;
}
