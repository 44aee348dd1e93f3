import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/canonical.ts';
import type { StoredSkill, StoredSkillArtifact } from '../../src/ports/storage.ts';
import { type OpenDatabase, useDatabase } from '../support/database.ts';
import { at } from '../support/rows.ts';

export function storedArtifact(more: Partial<StoredSkillArtifact> = {}): StoredSkillArtifact {
  return {
    id: 'skl_1/review.md',
    kind: 'prompt_template',
    name: 'review.md',
    ordinal: 0,
    content: 'Look at {{ diff }}. \u{1f50d}\r\n',
    modelVariant: null,
    metadata: { temperature: 0 },
    state: null,
    ...more,
  };
}

export function storedSkill(id: string, more: Partial<StoredSkill> = {}): StoredSkill {
  return {
    id,
    name: 'naming',
    description: 'Looks at names.',
    version: '1.0.0',
    tags: ['names'],
    source: 'user',
    author: 'Ada',
    intentPatterns: ['names?'],
    triggerPhrases: ['check the names'],
    marketplaceId: 'naming@index',
    syncEtag: '"e"',
    createdAt: at(0),
    updatedAt: at(1),
    artifacts: [],
    ...more,
  };
}

/** Skills as content that never changes, with their artifacts. */
export function skillsContract(open: OpenDatabase): void {
  const db = useDatabase(open);
  const keep = (...all: StoredSkill[]) =>
    db.storage.transaction(async (tx) => {
      for (const one of all) await tx.skills.keep(one);
    });

  describe('skills', () => {
    it('do not exist at first', async () => {
      expect(await db.storage.read.skills.get('skl_1')).toBeUndefined();
    });

    it('are read as they were stored, their artifacts by ordinal', async () => {
      const artifacts = [
        storedArtifact({ id: 'b', name: 'b.json', kind: 'dspy_module', ordinal: 1, state: { demos: [1] } }),
        storedArtifact({ id: 'a', name: 'a.md', ordinal: 0 }),
      ];
      await keep(storedSkill('skl_1', { artifacts }));
      expect(await db.storage.read.skills.get('skl_1')).toEqual(
        storedSkill('skl_1', { artifacts: artifacts.toReversed() }),
      );
    });

    it('can omit optional fields', async () => {
      const bare = storedSkill('skl_1', {
        version: null,
        author: null,
        tags: [],
        intentPatterns: [],
        triggerPhrases: [],
        marketplaceId: null,
        syncEtag: null,
      });
      await keep(bare);
      expect(await db.storage.read.skills.get('skl_1')).toEqual(bare);
    });

    it('are unchanged when they are stored again', async () => {
      const first = storedSkill('skl_1', { artifacts: [storedArtifact({ id: 'a' })] });
      const other = [storedArtifact({ id: 'a', content: 'Something else.' })];
      await keep(first, { ...first, source: 'system', updatedAt: at(60), artifacts: other });
      expect(await db.storage.read.skills.get('skl_1')).toEqual(first);
    });

    it('keep the result of optimizing an artifact, and nothing of earlier results', async () => {
      const artifacts = [
        storedArtifact({ id: 'a' }),
        storedArtifact({ id: 'b', name: 'other.md', ordinal: 1 }),
      ];
      await keep(storedSkill('skl_1', { artifacts }));
      const save = (id: string, state: Json) =>
        db.storage.transaction((tx) => tx.skills.saveState(id, state, at(60)));
      expect(await save('a', { demos: [1] })).toBe(true);
      expect(await save('a', { demos: [] })).toBe(true);
      expect(await save('nobody', {})).toBe(false);
      const skill = await db.storage.read.skills.get('skl_1');
      expect(skill?.artifacts.map(({ state }) => state)).toEqual([{ demos: [] }, null]);
      expect(skill?.updatedAt).toEqual(at(60));
    });

    it('can share a name, because their content identifies them', async () => {
      await keep(storedSkill('skl_1'), storedSkill('skl_2', { version: '2.0.0' }));
      expect((await db.storage.read.skills.get('skl_2'))?.version).toBe('2.0.0');
    });

    it('have one artifact of a name for each family of models, and one for all', async () => {
      const variants = [null, 'gpt', 'claude'].map((modelVariant, ordinal) =>
        storedArtifact({ id: `a${ordinal}`, ordinal, modelVariant }),
      );
      await keep(storedSkill('skl_1', { artifacts: variants }));
      expect((await db.storage.read.skills.get('skl_1'))?.artifacts).toEqual(variants);
      const twice = [storedArtifact({ id: 'x' }), storedArtifact({ id: 'y' })];
      await expect(keep(storedSkill('skl_2', { artifacts: twice }))).rejects.toThrow();
      expect(await db.storage.read.skills.get('skl_2')).toBeUndefined();
    });

    it('of an index are in force by name, the last one adopted, until they are withdrawn', async () => {
      const from = { marketplaceId: 'https://one', syncEtag: 'a' };
      const adopt = (id: string, more: Partial<StoredSkill> = {}) =>
        db.storage.transaction((tx) => tx.skills.adopt({ ...storedSkill(id, more), ...from }));
      await keep(storedSkill('skl_1', { artifacts: [storedArtifact()] }));
      expect(await db.storage.read.skills.adopted()).toEqual([]);
      await adopt('skl_1', { name: 'naming' });
      await adopt('skl_2', { name: 'naming', version: '2.0.0' });
      await adopt('skl_3', { name: 'apart' });
      expect((await db.storage.read.skills.adopted()).map(({ id }) => id)).toEqual(['skl_3', 'skl_2']);
      await adopt('skl_1', { name: 'naming' });
      expect((await db.storage.read.skills.adopted()).map(({ id }) => id)).toEqual(['skl_3', 'skl_1']);
      await db.storage.transaction((tx) => tx.skills.withdraw('skl_1'));
      expect(await db.storage.read.skills.adopted()).toEqual([
        { id: 'skl_3', name: 'apart', version: '1.0.0', ...from },
      ]);
      expect((await db.storage.read.skills.get('skl_1'))?.artifacts).toEqual([storedArtifact()]);
    });
  });
}
