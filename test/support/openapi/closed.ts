import type { Schema } from './description.ts';

/**
 * The schema with every described object closed to members that it does not name.
 *
 * GitHub's schemas are open and GitHub ignores what it does not know, so a misspelt key would go unnoticed. JSON Schema's own
 * `unevaluatedProperties` was rejected: when an alternative fails for some other reason, it also reports that alternative's
 * members as unknown, which points the reader to the wrong mistake.
 */
export function closed(schema: Schema): Schema {
  const names = describedNames(schema);
  const inner = withClosedMembers(schema);
  if (names.length === 0 || 'additionalProperties' in schema) return inner;
  const named = Object.fromEntries(names.map((name) => [name, {}]));
  return { ...inner, properties: { ...named, ...asSchema(inner.properties) }, additionalProperties: false };
}

/** Alternatives judge the same object as the schema around them, so only their members' own objects are closed. */
function withClosedMembers(schema: Schema): Schema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      switch (keyword) {
        case 'properties':
          return [keyword, mapMembers(asSchema(value), closed)];
        case 'items':
          return [keyword, closed(asSchema(value))];
        case 'allOf':
        case 'anyOf':
        case 'oneOf':
          return [keyword, alternatives(value).map(withClosedMembers)];
        default:
          return [keyword, value];
      }
    }),
  );
}

function describedNames(schema: Schema): string[] {
  const branches = [schema.allOf, schema.anyOf, schema.oneOf].flatMap(alternatives);
  return [...Object.keys(asSchema(schema.properties)), ...branches.flatMap(describedNames)];
}

function mapMembers(members: Schema, change: (member: Schema) => Schema): Schema {
  return Object.fromEntries(
    Object.entries(members).map(([name, member]) => [name, change(asSchema(member))]),
  );
}

function alternatives(value: Schema[string] | undefined): Schema[] {
  return Array.isArray(value) ? value.map(asSchema) : [];
}

function asSchema(value: Schema[string] | undefined): Schema {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};
}
