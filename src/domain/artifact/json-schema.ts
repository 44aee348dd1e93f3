import { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import { isMapping } from '../../core/mapping.ts';

export interface SchemaDiagnostic {
  path: (string | number)[];
  message: string;
}

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
/** The types that each keyword applies to; `undefined` is all types. */
const KEYWORDS: Readonly<Record<string, readonly string[] | undefined>> = {
  type: undefined,
  title: undefined,
  description: undefined,
  enum: undefined,
  const: undefined,
  properties: ['object'],
  required: ['object'],
  additionalProperties: ['object'],
  items: ['array'],
  minItems: ['array'],
  maxItems: ['array'],
  minLength: ['string'],
  maxLength: ['string'],
  minimum: ['number', 'integer'],
  maximum: ['number', 'integer'],
};
const COUNTS = ['minItems', 'maxItems', 'minLength', 'maxLength'];
const BOUNDS = ['minimum', 'maximum'];

/**
 * Diagnostics of a JSON Schema in a contract. Allowed is the subset of JSON Schema whose check takes linear
 * time: no `pattern`, whose matching could take minutes, no `$ref`, no `anyOf`. Every level must have `type`,
 * `enum` or `const`. Without one, a limit would apply to nothing and accept everything.
 */
export function schemaDiagnostics(schema: Json, path: (string | number)[] = []): SchemaDiagnostic[] {
  if (!isMapping(schema)) return [{ path, message: 'a schema is a mapping' }];
  const { type } = schema;
  const diagnostics: SchemaDiagnostic[] = [];
  const diagnostic = (key: string, message: string) => diagnostics.push({ path: [...path, key], message });

  if (type === undefined && schema.enum === undefined && schema.const === undefined) {
    diagnostics.push({ path, message: 'a schema says its "type", or an "enum" or "const"' });
  }
  if (type !== undefined && !(typeof type === 'string' && TYPES.includes(type))) {
    diagnostic('type', `"type" must be one of ${TYPES.join(', ')}`);
  }
  const listed = ['enum', 'const'].find((key) => schema[key] !== undefined);
  for (const key of Object.keys(schema)) {
    if (listed !== undefined && ![listed, 'title', 'description'].includes(key)) {
      diagnostic(key, `"${key}" says nothing beside "${listed}", which lists all that fits`);
    } else if (!Object.hasOwn(KEYWORDS, key)) {
      diagnostic(key, `"${key}" is not known here; known are ${Object.keys(KEYWORDS).join(', ')}`);
    } else if (KEYWORDS[key] !== undefined && !(typeof type === 'string' && KEYWORDS[key].includes(type))) {
      diagnostic(key, `"${key}" says something only about the type ${KEYWORDS[key].join(' or ')}`);
    }
  }
  const { properties, required, additionalProperties, items } = schema;
  for (const key of COUNTS.filter((name) => schema[name] !== undefined)) {
    if (!Number.isInteger(schema[key]) || Number(schema[key]) < 0)
      diagnostic(key, `"${key}" must be a whole number`);
  }
  for (const key of BOUNDS.filter((name) => schema[name] !== undefined)) {
    if (typeof schema[key] !== 'number') diagnostic(key, `"${key}" must be a number`);
  }
  if (
    schema.enum !== undefined &&
    !(Array.isArray(schema.enum) && schema.enum.length > 0 && schema.enum.every(isScalar))
  ) {
    diagnostic('enum', '"enum" must be a list of texts, numbers, true, false or null');
  }
  if (schema.const !== undefined && !isScalar(schema.const)) {
    diagnostic('const', '"const" must be a text, a number, true, false or null');
  }
  if (additionalProperties !== undefined && typeof additionalProperties !== 'boolean') {
    diagnostic('additionalProperties', '"additionalProperties" must be true or false');
  }
  if (properties !== undefined && !isMapping(properties))
    diagnostic('properties', '"properties" must be a mapping');
  const named = isMapping(properties) ? properties : {};
  for (const [name, member] of Object.entries(named)) {
    // zod checks for members with `in`, so it would find a missing member of this name on the prototype.
    if (name in Object.prototype)
      diagnostics.push({
        path: [...path, 'properties', name],
        message: `"${name}" cannot be asked for by name`,
      });
    diagnostics.push(...schemaDiagnostics(member, [...path, 'properties', name]));
  }
  if (
    required !== undefined &&
    !(Array.isArray(required) && required.every((name) => typeof name === 'string'))
  ) {
    diagnostic('required', '"required" must be a list of names');
  } else if (Array.isArray(required)) {
    for (const [index, name] of required.entries()) {
      if (Object.hasOwn(named, String(name))) continue;
      diagnostics.push({
        path: [...path, 'required', index],
        message: `"${name}" is required, but not among "properties"`,
      });
    }
  }
  if (items !== undefined) diagnostics.push(...schemaDiagnostics(items, [...path, 'items']));
  return diagnostics;
}

/**
 * Where a JSON value does not match a schema, as one clause; `undefined` if it matches. The schema must have
 * no diagnostics.
 */
export function schemaMismatch(schema: { [key: string]: Json }, value: unknown): string | undefined {
  const result = z.fromJSONSchema(addItems(schema)).safeParse(value);
  const [first] = result.error?.issues ?? [];
  if (!first) return undefined;
  const where = first.path.length === 0 ? 'the whole' : first.path.join('.');
  return `${where}: ${first.message}`;
}

/**
 * What the values of a schema can have, for checks of paths. A member that the schema does not name counts as
 * missing, unless the schema says that there are others.
 */
export function membersOfSchema(schema: { [key: string]: Json }): z.ZodType {
  return z.fromJSONSchema(withoutOthers(addItems(schema)));
}

function withoutOthers(schema: { [key: string]: Json }): { [key: string]: Json } {
  const { items, properties } = schema;
  const inner = (value: Json) => (isMapping(value) ? withoutOthers(value) : value);
  return {
    ...(isMapping(properties) ? { additionalProperties: false } : {}),
    ...schema,
    ...(items === undefined ? {} : { items: inner(items) }),
    ...(isMapping(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, member]) => [name, inner(member)]),
          ),
        }
      : {}),
  };
}

/** zod 4 ignores a list's limits if the schema has no `items`. */
function addItems(schema: { [key: string]: Json }): { [key: string]: Json } {
  const { type, items, properties } = schema;
  const inner = (value: Json | undefined) => (isMapping(value) ? addItems(value) : {});
  return {
    ...schema,
    ...(type === 'array' ? { items: inner(items) } : {}),
    ...(isMapping(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, member]) => [name, inner(member)]),
          ),
        }
      : {}),
  };
}

function isScalar(value: Json): boolean {
  return typeof value !== 'object' || value === null;
}
