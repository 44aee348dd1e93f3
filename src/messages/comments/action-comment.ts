import { clipBytes, htmlComment } from '../text/markdown.ts';

const MAX_BODY_BYTES = 60_000;

/**
 * The comment of a chain's `gh-comment` step. The chain is its author, so its Markdown is kept as written.
 * Filled-in values are already encoded.
 */
export function actionComment(runId: string, stepId: string, body: string): { marker: string; text: string } {
  const marker = htmlComment(`countersign:comment run=${runId} step=${stepId}`);
  return { marker, text: `${marker}\n${clipBytes(body, MAX_BODY_BYTES)}` };
}
