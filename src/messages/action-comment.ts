import { clipBytes, htmlComment } from './markdown.ts';

const MAX_BODY_BYTES = 60_000;

/**
 * The comment of a chain's `gh-comment` step: its author is the chain, so its Markdown stands as written. What is filled in
 * was encoded before.
 */
export function actionComment(runId: string, stepId: string, body: string): { marker: string; text: string } {
  const marker = htmlComment(`countersign:comment run=${runId} step=${stepId}`);
  return { marker, text: `${marker}\n${clipBytes(body, MAX_BODY_BYTES)}` };
}
