import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/canonical.ts';
import { schemaDiagnostics, schemaMismatch } from '../../../src/domain/artifact/json-schema.ts';

type Schema = { [key: string]: Json };

const scalar = fc.oneof(
  fc.constantFrom('a', 'bb', 'ccc', '', 0, 1, 2.5, -1),
  fc.boolean(),
  fc.constant(null),
);
const count = fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined });
const name = fc.constantFrom('a', 'b', 'c');

const { schema } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({ enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }) }),
    fc.record({ const: scalar }),
    fc.record({ type: fc.constantFrom('boolean', 'null') }),
    fc.record({ type: fc.constant('string'), minLength: count, maxLength: count }).map(defined),
    fc.record({ type: fc.constantFrom('number', 'integer'), minimum: count, maximum: count }).map(defined),
    fc
      .record({
        type: fc.constant('array'),
        items: fc.option(tie('schema'), { nil: undefined }),
        minItems: count,
        maxItems: count,
      })
      .map(defined),
    fc
      .record({
        type: fc.constant('object'),
        properties: fc.option(fc.dictionary(name, tie('schema'), { maxKeys: 3 }), { nil: undefined }),
        additionalProperties: fc.option(fc.boolean(), { nil: undefined }),
        wanted: fc.boolean(),
      })
      .map(({ wanted, ...rest }) =>
        defined({ ...rest, required: wanted ? Object.keys(rest.properties ?? {}).slice(0, 1) : [] }),
      ),
  ),
}));

const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
}));

function defined(schema: { [key: string]: Json | undefined }): Schema {
  return Object.fromEntries(
    Object.entries(schema).filter((entry): entry is [string, Json] => entry[1] !== undefined),
  );
}

test('a file fits a schema exactly when Ajv says so', { tags: 'slow' }, () => {
  const ajv = new Ajv2020({ strict: false });
  let [fits, not] = [0, 0];
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 1, maxLength: 5 }), (of, values) => {
      expect(schemaDiagnostics(of)).toEqual([]);
      const validate = ajv.compile(of);
      for (const one of values) {
        const fit = validate(one);
        if (fit) fits++;
        else not++;
        expect({ one, fit: schemaMismatch(of, one) === undefined }).toEqual({ one, fit });
      }
    }),
    { numRuns: 200 },
  );
  expect(Math.min(fits, not)).toBeGreaterThan(10);
});

describe('a schema that would not do what it seems to do', () => {
  test.each<[Json, string]>([
    ['a text', ': a schema is a mapping'],
    [{}, ': a schema says its "type", or an "enum" or "const"'],
    [{ minimum: 3 }, ': a schema says its "type", or an "enum" or "const"'],
    [{ type: 'strng' }, 'type: "type" must be one of'],
    [{ type: ['string', 'null'] }, 'type: "type" must be one of'],
    [{ type: 'string', pattern: '(a+)+$' }, 'pattern: "pattern" is not known here'],
    [{ type: 'object', properties: { a: { $ref: '#' } } }, 'properties.a: a schema says its "type"'],
    [{ type: 'object', required: ['b'] }, 'required.0: "b" is required, but not among "properties"'],
    [{ type: 'object', required: 'b' }, 'required: "required" must be a list of names'],
    [
      { type: 'string', minimum: 1 },
      'minimum: "minimum" says something only about the type number or integer',
    ],
    [{ type: 'array', minItems: 1.5 }, 'minItems: "minItems" must be a whole number'],
    [{ type: 'number', minimum: '1' }, 'minimum: "minimum" must be a number'],
    [{ type: 'array', items: { type: 'x' } }, 'items.type: "type" must be one of'],
    [{ enum: [] }, 'enum: "enum" must be a list'],
    [{ enum: [['a']] }, 'enum: "enum" must be a list'],
    [{ const: {} }, 'const: "const" must be'],
    [{ type: 'string', enum: ['a'], minLength: 5 }, 'minLength: "minLength" says nothing beside'],
    [{ type: 'object', additionalProperties: {} }, 'additionalProperties: "additionalProperties" must be'],
    [{ type: 'object', properties: [] }, 'properties: "properties" must be a mapping'],
  ])('is rejected: %j', (of, said) => {
    expect(schemaDiagnostics(of).map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual(
      expect.arrayContaining([expect.stringContaining(said)]),
    );
  });
});
