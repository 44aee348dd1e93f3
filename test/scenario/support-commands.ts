import { CI_AND_MERGE, only, type Scene } from './support-scene.ts';

export const DEPLOY = `
name: deploy
trigger: { event: manual.fired }
steps:
  - action: gh-comment
    with: { pr: "{{ trigger.pr_number }}", body: "Deploying to {{ trigger.input_environment }}." }
`;

/** A pull request whose run waits for CI, beside a chain that can be fired. */
export async function openWaitingForCi(
  start: (files: Record<string, string>) => Promise<Scene>,
): Promise<{ scene: Scene; number: number; headSha: string }> {
  const scene = await start(only({ ship: CI_AND_MERGE, deploy: DEPLOY }));
  return { scene, ...(await scene.open()) };
}

/** The app's reactions to a comment, in order. */
export function reactions(scene: Scene, number: number, id: number): string[] {
  return scene.comment(number, id).reactions.map(({ content }) => content);
}
