import type { Artifact } from '../../domain/artifact/artifact.ts';
import type { Artifacts } from '../../ports/storage.ts';

/** Rows a page, and so a transaction: few enough that a running app never waits for long. */
const PAGE = 200;

/** Requests to the store at a time. */
const AT_ONCE = 8;

/** Every artifact, or those of runs that were over before a moment, page by page. */
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

/** Does the work for each item, some at a time; the first failure ends it. */
export async function forEach<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  // One iterator for all: each takes the next item when it is done with its last.
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
