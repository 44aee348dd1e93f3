/**
 * Writes `docs/schema/*.json`: the JSON Schemas with which editors validate and complete YAML files, and the one
 * of outcomes. They are generated from the zod schemas. Also writes `docs/actions.md`, `docs/review-rules.md`, and the tables of other pages
 * that have a source in the code. Tests fail if the files are outdated.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { chainFileSchema } from '../src/domain/chain/chain-file.ts';
import { settingsFileSchema } from '../src/domain/chain/settings.ts';
import { outcomeSchema } from '../src/domain/outcome/outcome.ts';
import { ACTIONS } from '../src/engine/actions/actions.ts';
import { actionsPage } from './actions-page.ts';
import { PAGES_WITH_TABLES, withTables } from './generated-tables.ts';
import { reviewRulesPage } from './review-rules-page.ts';

const FOLDER = new URL('../docs/schema/', import.meta.url);
/** Serves the files of the newest release on npm. The package has this folder, so the address holds wherever the repository is. */
const PUBLISHED = 'https://unpkg.com/countersign/docs/schema/';

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
    const { $schema, ...rest } = jsonSchemaOf(schema);
    if (schema === chainFileSchema) Object.assign(stepsOf(rest), { allOf: withOfActions() });
    return { file, schema: { $schema, $id: `${PUBLISHED}${file}`, title, ...rest } };
  });
}

function jsonSchemaOf(schema: z.ZodType) {
  return z.toJSONSchema(schema, {
    io: 'input',
    override({ jsonSchema }) {
      delete jsonSchema.text;
      delete jsonSchema.literal;
      delete jsonSchema.placeholders;
      delete jsonSchema.elsewhere;
      delete jsonSchema.values;
      if (jsonSchema.orOneOf) {
        const { orOneOf, description, ...list } = jsonSchema;
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        Object.assign(jsonSchema, { description, anyOf: [{ type: 'string', enum: orOneOf }, list] });
        return;
      }
      if (!jsonSchema.listOrOne) return;
      const { listOrOne, description, ...list } = jsonSchema;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      Object.assign(jsonSchema, description === undefined ? {} : { description }, {
        anyOf: [list.items, list],
      });
    },
  });
}

type JsonSchema = z.core.JSONSchema.JSONSchema;

/** The schema of one step. */
function stepsOf({ properties }: JsonSchema): JsonSchema {
  const items = typeof properties?.steps === 'object' ? properties.steps.items : undefined;
  if (typeof items !== 'object' || Array.isArray(items)) throw new Error('a chain file has no list of steps');
  return items;
}

/** For each action, the `with:` of a step that names it. Other keys are allowed only for rules of `validate:`. */
function withOfActions(): object[] {
  return Object.values(ACTIONS).flatMap(({ name, input }) => {
    const { $schema, properties = {}, additionalProperties, ...rest } = jsonSchemaOf(input);
    const inputs = Object.entries(properties).map(([key, value]) => [
      key,
      input.shape[key]?.meta()?.literal === true ? value : orExpression(value),
    ]);
    const uses = { type: 'object', properties: { action: { const: name } }, required: ['action'] };
    const required = rest.required ? { required: ['with'] } : {};
    const only = { type: 'object', propertyNames: { enum: Object.keys(properties) } };
    return [
      when(uses, { with: { ...rest, properties: Object.fromEntries(inputs) } }, required),
      when(
        { ...uses, not: { type: 'object', properties: { validate: {} }, required: ['validate'] } },
        { with: only },
      ),
    ];
  });
}

function when(condition: object, properties: object, more: object = {}): object {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: condition, then: { type: 'object', properties, ...more } };
}

/** The place of a value can hold an expression, which is checked when it is rendered. */
function orExpression(schema: JsonSchema | boolean): object {
  if (typeof schema === 'boolean') return {};
  const { description, ...value } = schema;
  const isAnyText = value.type === 'string' && !('enum' in value || 'pattern' in value);
  return {
    ...(description === undefined ? {} : { description }),
    ...(isAnyText ? value : { anyOf: [value, { type: 'string', pattern: '\\{\\{' }] }),
  };
}

if (import.meta.main) {
  mkdirSync(FOLDER, { recursive: true });
  for (const { file, schema } of jsonSchemas()) {
    writeFileSync(new URL(file, FOLDER), `${JSON.stringify(schema, null, 2)}\n`);
  }
  writeFileSync(new URL('../actions.md', FOLDER), actionsPage());
  writeFileSync(new URL('../review-rules.md', FOLDER), reviewRulesPage());
  for (const page of PAGES_WITH_TABLES) {
    const file = new URL(`../${page}`, FOLDER);
    writeFileSync(file, withTables(page, readFileSync(file, 'utf8')));
  }
  execFileSync('biome', ['format', '--write', FOLDER.pathname], { stdio: 'inherit' });
}
