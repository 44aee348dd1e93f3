import type { Kysely, Selectable } from 'kysely';
import { z } from 'zod';
import type { Skills, StoredSkill, StoredSkillArtifact } from '../../ports/storage.ts';
import { fromJson, fromJsonOrNull, reading, toDate, toJsonOrNull, toText } from './columns.ts';
import { compiledOnce } from './compiled.ts';
import type { Database, SkillArtifactsTable, SkillsTable } from './schema.ts';

const textsSchema = z.array(z.string());
const metadataSchema = z.record(z.string(), z.json());

const inForce = (db: Kysely<Database>) =>
  db
    .selectFrom('skills')
    .select(['id', 'name', 'version', 'marketplace_id', 'sync_etag'])
    .where('source', '=', 'community')
    .where('marketplace_id', 'is not', null);

const allInForce = compiledOnce((db) => inForce(db).orderBy('name'));

export function skillsTable(db: Kysely<Database>): Skills {
  const table: Skills = {
    async keep(skill) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('skills')
        .values({
          id: skill.id,
          name: skill.name,
          description: skill.description,
          version: skill.version,
          tags_json: JSON.stringify(skill.tags),
          source: skill.source,
          author: skill.author,
          intent_patterns_json: JSON.stringify(skill.intentPatterns),
          trigger_phrases_json: JSON.stringify(skill.triggerPhrases),
          marketplace_id: skill.marketplaceId,
          sync_etag: skill.syncEtag,
          created_at: toText(skill.createdAt),
          updated_at: toText(skill.updatedAt),
        })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n || skill.artifacts.length === 0) return;
      const rows = skill.artifacts.map((artifact) => artifactRow(skill.id, artifact));
      await db.insertInto('skill_artifacts').values(rows).execute();
    },

    async get(id) {
      const row = await db.selectFrom('skills').selectAll().where('id', '=', id).executeTakeFirst();
      if (!row) return undefined;
      const artifacts = await db
        .selectFrom('skill_artifacts')
        .selectAll()
        .where('skill_id', '=', id)
        .orderBy('ordinal')
        .execute();
      return skillOf(row, artifacts.map(artifactOf));
    },

    async outlines(ids) {
      if (ids.length === 0) return [];
      const rows = await db
        .selectFrom('skill_artifacts')
        .innerJoin('skills', 'skills.id', 'skill_artifacts.skill_id')
        .select(['skills.id', 'skills.name as skill'])
        .select(['skill_artifacts.kind', 'skill_artifacts.name', 'skill_artifacts.model_variant'])
        .select(({ eb }) =>
          eb
            .case()
            .when('skill_artifacts.kind', '=', 'description')
            .then(eb.ref('skill_artifacts.content'))
            .end()
            .as('description'),
        )
        .where('skill_artifacts.skill_id', 'in', ids)
        .orderBy('skills.name')
        .orderBy('skills.id')
        .orderBy('skill_artifacts.ordinal')
        .execute();
      return [...Map.groupBy(rows, ({ id }) => id)].map(([id, artifacts]) => ({
        id,
        name: artifacts[0]?.skill ?? '',
        description: artifacts.find(({ kind }) => kind === 'description')?.description ?? '',
        artifacts: artifacts.map(({ kind, name, model_variant }) => ({
          kind,
          name,
          modelVariant: model_variant,
        })),
      }));
    },

    async saveState(artifactId, state, at) {
      const { numUpdatedRows } = await db
        .updateTable('skill_artifacts')
        .set({ state_blob: JSON.stringify(state) })
        .where('id', '=', artifactId)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      const skill = db.selectFrom('skill_artifacts').select('skill_id').where('id', '=', artifactId);
      await db
        .updateTable('skills')
        .set({ updated_at: toText(at) })
        .where('id', '=', skill)
        .execute();
      return true;
    },

    async adopted() {
      const { rows } = await allInForce(db, {});
      return rows.map(({ id, name, version, marketplace_id, sync_etag }) => ({
        id,
        name,
        version,
        marketplaceId: marketplace_id ?? '',
        syncEtag: sync_etag ?? '',
      }));
    },

    async adopt(skill) {
      const before = await inForce(db).where('name', '=', skill.name).execute();
      for (const { id } of before) await table.withdraw(id);
      await table.keep(skill);
      const { marketplaceId: marketplace_id, syncEtag: sync_etag, updatedAt } = skill;
      await db
        .updateTable('skills')
        .set({ source: 'community', marketplace_id, sync_etag, updated_at: toText(updatedAt) })
        .where('id', '=', skill.id)
        .execute();
    },

    async withdraw(id) {
      await db
        .updateTable('skills')
        .set({ marketplace_id: null, sync_etag: null })
        .where('id', '=', id)
        .execute();
    },
  };
  return table;
}

function artifactRow(skillId: string, artifact: StoredSkillArtifact): SkillArtifactsTable {
  return {
    id: artifact.id,
    skill_id: skillId,
    kind: artifact.kind,
    name: artifact.name,
    ordinal: artifact.ordinal,
    content: artifact.content,
    model_variant: artifact.modelVariant,
    metadata_json: JSON.stringify(artifact.metadata),
    state_blob: toJsonOrNull(artifact.state),
  };
}

function artifactOf(row: Selectable<SkillArtifactsTable>): StoredSkillArtifact {
  return reading('skill_artifacts', row.id, () => ({
    id: row.id,
    kind: row.kind,
    name: row.name,
    ordinal: row.ordinal,
    content: row.content,
    modelVariant: row.model_variant,
    metadata: fromJson(metadataSchema, row.metadata_json),
    state: fromJsonOrNull(z.json(), row.state_blob),
  }));
}

function skillOf(row: Selectable<SkillsTable>, artifacts: StoredSkillArtifact[]): StoredSkill {
  return reading('skills', row.id, () => ({
    id: row.id,
    name: row.name,
    description: row.description,
    version: row.version,
    tags: fromJson(textsSchema, row.tags_json),
    source: row.source,
    author: row.author,
    intentPatterns: fromJson(textsSchema, row.intent_patterns_json),
    triggerPhrases: fromJson(textsSchema, row.trigger_phrases_json),
    marketplaceId: row.marketplace_id,
    syncEtag: row.sync_etag,
    createdAt: toDate(row.created_at),
    updatedAt: toDate(row.updated_at),
    artifacts,
  }));
}
