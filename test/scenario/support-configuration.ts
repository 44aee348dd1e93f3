import { REPO } from '../support/harness.ts';
import { type Scene, UPDATES_SHOWN_MS } from './support-scene.ts';

/** A chain that adds a label, so that the label shows which one ran. */
export function labelChain(name: string, label: string): string {
  return `name: ${name}\ntrigger: { event: pr.opened }\nsteps:\n  - { action: gh-label, with: { labels: [${label}] } }\n`;
}

/** CI passes, and the maintainers are asked. @returns the approval comment's id. */
export async function approvalIdAfterCi(scene: Scene, number: number, headSha: string): Promise<number> {
  await scene.github.reportCheck(REPO, headSha, { name: 'test', status: 'completed', conclusion: 'success' });
  await scene.advance(UPDATES_SHOWN_MS);
  const question = scene.github
    .comments(REPO, number)
    .find(({ body }) => body.includes('countersign:question'));
  if (!question) throw new Error('nobody was asked');
  return question.id;
}
