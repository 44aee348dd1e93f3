/**
 * Writes `docs/schema/*.json`: the JSON Schemas with which editors validate and complete YAML files, and the one
 * of outcomes. They are generated from the zod schemas. A test fails if the files are outdated.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { chainFileSchema } from '../src/domain/chain/chain-file.ts';
import { settingsFileSchema } from '../src/domain/chain/settings.ts';
import { outcomeSchema } from '../src/domain/outcome/outcome.ts';

const FOLDER = new URL('../docs/schema/', import.meta.url);

const SOURCES = [
  { file: 'chain.schema.json', title: 'A Countersign chain', schema: chainFileSchema },
  {
    file: 'settings.schema.json',
    title: 'Countersign settings (.github/countersign.yml)',
    schema: settingsFileSchema,
  },
  { file: 'outcome.schema.json', title: 'An outcome of a step', schema: outcomeSchema },
];

/** The schemas by file name in `docs/schema/`. */
export function jsonSchemas(): { file: string; schema: object }[] {
  return SOURCES.map(({ file, title, schema }) => {
    const { $schema, ...rest } = z.toJSONSchema(schema, {
      io: 'input',
      override({ jsonSchema }) {
        if (!jsonSchema.listOrOne) return;
        const { listOrOne, description, ...list } = jsonSchema;
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        Object.assign(jsonSchema, description === undefined ? {} : { description }, {
          anyOf: [list.items, list],
        });
      },
    });
    return { file, schema: { $schema, title, ...rest } };
  });
}

if (import.meta.main) {
  mkdirSync(FOLDER, { recursive: true });
  for (const { file, schema } of jsonSchemas()) {
    writeFileSync(new URL(file, FOLDER), `${JSON.stringify(schema, null, 2)}\n`);
  }
  execFileSync('biome', ['format', '--write', FOLDER.pathname], { stdio: 'inherit' });
}
