import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { jsonSchemas } from '../../../scripts/generate-schemas.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe.each(jsonSchemas())('docs/schema/$file', ({ file, schema }) => {
  test('is what `node scripts/generate-schemas.ts` writes', () => {
    expect(JSON.parse(read(`docs/schema/${file}`))).toEqual(JSON.parse(JSON.stringify(schema)));
  });
});

describe('editors with the schema', () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  const [chain, settings] = jsonSchemas().map(({ schema }) => ajv.compile(schema));

  test('accept the shipped chain', () => {
    expect(chain?.(parse(read('chains/pr-review.yaml')))).toBe(true);
  });

  test('accept lists with and without brackets, and refuse unknown keys', () => {
    const file = (filter: object) => ({
      name: 'a',
      trigger: { event: 'pr.opened', filter },
      steps: [{ skill: 'ci', depends_on: [] }],
    });
    expect(chain?.(file({ base: 'main' }))).toBe(true);
    expect(chain?.(file({ base: ['main'] }))).toBe(true);
    expect(chain?.(file({ bse: 'main' }))).toBe(false);
  });

  test('accept thumbs as YAML reads them', () => {
    expect(settings?.(parse('countersign: {approve: [+1, rocket], reject: ["-1"]}'))).toBe(true);
    expect(settings?.(parse('countersign: {approve: [eyes]}'))).toBe(false);
  });
});
