import type { SkillTrace, SkillTraces } from '../../ports/skill-traces.ts';

const PAGE = 200;

/** All traces that match the filter, page by page; see `SkillTraces.page`. */
export async function* tracePages(
  traces: Pick<SkillTraces, 'page'>,
  filter: Omit<Parameters<SkillTraces['page']>[0], 'after' | 'limit'> = {},
): AsyncIterable<SkillTrace[]> {
  for (let after = 0; ; ) {
    const page = await traces.page({ ...filter, after, limit: PAGE });
    const last = page.at(-1);
    if (!last) return;
    yield page;
    after = last.id;
  }
}

/** The paths of its texts. */
export function pathsOf({ inputPath, outputPath }: SkillTrace): string[] {
  return outputPath === null ? [inputPath] : [inputPath, outputPath];
}
