import type { StoredChain } from '../../src/domain/chain/stored.ts';
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

/** What `countersign chain …` stores from another process. */
export async function store(scene: Scene, chain: Partial<StoredChain> & { name: string }): Promise<void> {
  const at = scene.clock.now();
  const row: StoredChain = {
    id: `chn_${chain.name}`,
    owner: 'octo',
    repository: 'app',
    definition: null,
    status: 'active',
    createdAt: at,
    updatedAt: at,
    ...chain,
  };
  await scene.app.storage.transaction(async (tx) => {
    await tx.chains.put(row);
    await scene.app.queue.enqueue(tx, { kind: 'chains', installationId: null, key: 'chains', payload: {} });
  });
  await scene.settle();
}
