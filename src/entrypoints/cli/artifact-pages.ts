import type { Artifact } from '../../domain/artifact/artifact.ts';
import type { Artifacts } from '../../ports/storage.ts';

/** Rows per page and transaction. Few enough that a running app never waits long. */
const PAGE = 200;

/** Concurrent requests to the store. */
const AT_ONCE = 8;

/** Every artifact, or those of runs that ended before a time, page by page. */
export async function* artifactPages(
  artifacts: Pick<Artifacts, 'page'>,
  runOverBefore?: Date,
): AsyncIterable<Artifact[]> {
  for (let after = ''; ; ) {
    const page = await artifacts.page({ after, limit: PAGE, ...(runOverBefore && { runOverBefore }) });
    const last = page.at(-1);
    if (!last) return;
    yield page;
    after = last.id;
  }
}

/** Does the work for all items, several at a time. The first failure ends it. */
export async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  // The workers share one iterator, so each takes the next free item.
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
