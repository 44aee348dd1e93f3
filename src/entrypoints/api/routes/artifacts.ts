import { z } from 'zod';
import { VERDICTS } from '../../../domain/outcome/review-verdict.ts';
import { artifactJson, artifactJsonSchema } from '../../../messages/cli/artifact.ts';
import { NO_QUERY, pageCursor, pageOf, type Route, route, runCursorOf, runPosition } from '../route.ts';

const outlineSchema = artifactJsonSchema.pick({ id: true, kind: true, name: true, created_at: true }).extend({
  /** Of an outcome; `null` for a file, and for an outcome without a verdict. */
  passed: z.boolean().nullable(),
  /** Of a review. */
  verdict: z.enum(VERDICTS).nullable(),
});

const artifactsOfRunSchema = z.strictObject({
  run_id: z.string(),
  chain: z.string(),
  repository: z.string(),
  pull_request: z.int().nullable(),
  created_at: z.iso.datetime(),
  /** Newest first, at most 20. */
  artifacts: z.array(outlineSchema),
  /** The run has more of them. */
  has_more: z.boolean(),
});

/** What the steps of runs left. */
export const ARTIFACT_ROUTES: readonly Route[] = [
  route({
    at: '/artifacts',
    id: 'searchArtifacts',
    about:
      'Outcomes and files by run, those of the newest run first. A page looks at a bounded number of runs, so one with few or no items can have a `next`.',
    scope: 'read',
    path: NO_QUERY,
    query: z.strictObject({
      cursor: pageCursor(runPosition),
      kind: z.string().optional().describe('Of an outcome, or `file`, `log` or `analyzer_output`.'),
      verdict: z.enum(VERDICTS).optional().describe('Of a review.'),
      failed: z.stringbool().optional().describe('Only outcomes that did not pass.'),
      repository: z.string().optional().describe('`owner/name`.'),
      since: z.iso.datetime().optional().describe('Left at this time or later.'),
      until: z.iso.datetime().optional().describe('Left before this time.'),
      text: z.string().max(200).optional().describe('In the name, or in the repository or chain of the run.'),
    }),
    answer: pageOf(artifactsOfRunSchema),
    async handle({ query, read, visible }) {
      const { cursor, kind, verdict, failed, repository, since, until, text } = query;
      const { runs, next } = await read.artifacts.search({
        visible,
        ...(kind !== undefined && { kind }),
        ...(verdict !== undefined && { verdict }),
        ...(failed && { failed }),
        ...(repository !== undefined && { repository }),
        ...(since !== undefined && { since: new Date(since) }),
        ...(until !== undefined && { until: new Date(until) }),
        ...(text !== undefined && { text }),
        ...(cursor && { after: cursor }),
      });
      return {
        items: runs.map(({ run, artifacts, hasMore }) => ({
          run_id: run.id,
          chain: run.chain,
          repository: run.repository,
          pull_request: run.pullRequest,
          created_at: run.createdAt.toISOString(),
          artifacts: artifacts.map(({ id, kind: own, name, createdAt, passed, verdict: said }) => ({
            id,
            kind: own,
            name,
            created_at: createdAt.toISOString(),
            passed: passed ?? null,
            verdict: said,
          })),
          has_more: hasMore,
        })),
        next: next ? runCursorOf(next) : null,
      };
    },
  }),
  route({
    at: '/artifacts/{id}',
    id: 'getArtifact',
    about: 'One artifact.',
    scope: 'read',
    path: z.strictObject({ id: z.string().describe('The id of an artifact.') }),
    query: NO_QUERY,
    answer: artifactJsonSchema,
    async handle({ path, read, visible }) {
      const artifact = await read.artifacts.get(path.id);
      const run = artifact && (await read.runs.get(artifact.runId));
      return artifact && run && visible.has(run.repositoryId) ? artifactJson(artifact) : undefined;
    },
  }),
];
