import { REPO } from '../support/harness.ts';
import { only, type Scene } from './support-scene.ts';

/** A chain `flow` whose steps are YAML flow mappings, one a line. */
export function flowChain(steps: string, trigger = '{ event: pr.opened }'): Record<string, string> {
  const lines = steps
    .trim()
    .split('\n')
    .map((line) => `  - { ${line.trim()} }`);
  return only({ flow: ['name: flow', `trigger: ${trigger}`, 'steps:', ...lines, ''].join('\n') });
}

/** Bodies of the comments that chains made, without their markers. */
export function chainComments(scene: Scene, number: number): string[] {
  return scene.github
    .comments(REPO, number)
    .filter(({ body }) => body.includes('countersign:comment'))
    .map(({ body }) => body.replace(/^<!--.*?-->\n/, ''));
}
