import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { actionsPage } from '../../../scripts/actions-page.ts';
import { jsonSchemas } from '../../../scripts/generate-schemas.ts';
import { PAGES_WITH_TABLES, withTables } from '../../../scripts/generated-tables.ts';
import { keptResults, reviewRulesPage } from '../../../scripts/review-rules-page.ts';
import { parseChain } from '../../../src/domain/chain/parse.ts';
import { ACTIONS } from '../../../src/engine/actions/actions.ts';
import { KNOWN, withSteps } from '../../support/chains.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe.each(jsonSchemas())('docs/schema/$file', ({ file, schema }) => {
  test('is what `node scripts/generate-schemas.ts` writes', () => {
    expect(JSON.parse(read(`docs/schema/${file}`))).toEqual(JSON.parse(JSON.stringify(schema)));
  });

  test('names the address at which a release publishes it, with a file that the package has', () => {
    const { $id = '' } = JSON.parse(read(`docs/schema/${file}`));
    const { name, files } = JSON.parse(read('package.json'));
    expect($id).toBe(`https://unpkg.com/${name}/docs/schema/${file}`);
    expect(files).toContain('docs/schema');
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

  test('know the inputs of actions, and let expressions stand for values', () => {
    const file = (step: object) => ({ name: 'a', trigger: { event: 'pr.opened' }, steps: [step] });
    const merge = (inputs: object, more: object = {}) =>
      file({ action: 'gh-merge', requires_approval: true, with: inputs, ...more });
    expect(chain?.(merge({ method: 'rebase' }))).toBe(true);
    expect(chain?.(merge({ method: '{{ trigger.title }}' }))).toBe(true);
    expect(chain?.(merge({ method: 'sqash' }))).toBe(false);
    expect(chain?.(merge({ metod: 'rebase' }))).toBe(false);
    const validate = [{ rule_id: 'a', field: 'title', check: 'required' }];
    expect(chain?.(merge({ title: 'x' }, { validate }))).toBe(true);
    expect(chain?.(file({ action: 'gh-label' }))).toBe(false);
    expect(chain?.(file({ action: 'gh-label', with: { labels: '{{ trigger.labels }}' } }))).toBe(true);
  });

  test('accept thumbs as YAML reads them', () => {
    expect(settings?.(parse('countersign: {approve: [+1, rocket], reject: ["-1"]}'))).toBe(true);
    expect(settings?.(parse('countersign: {approve: [eyes]}'))).toBe(false);
  });
});

test.each([...actionsPage().matchAll(/^```yaml steps\n([\s\S]*?)^```$/gm)].map(([, steps = '']) => steps))(
  'lint accepts the example of docs/actions.md: %s',
  (steps) => {
    const { diagnostics } = parseChain(withSteps(steps.replaceAll(/^/gm, '  ')), 'chain.yaml', {
      ...KNOWN,
      actions: Object.keys(ACTIONS),
    });
    expect(diagnostics).toEqual([]);
  },
);

test('docs/actions.md is what `node scripts/generate-schemas.ts` writes', () => {
  expect(read('docs/actions.md')).toBe(actionsPage());
});

test('docs/review-rules.md is what `npm run schemas` writes', () => {
  expect(read('docs/review-rules.md')).toBe(reviewRulesPage());
});

test('the kept results of the bench name rules that exist', () => {
  const names = [...reviewRulesPage().matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  expect(Object.keys(keptResults().rules).filter((rule) => !names.includes(rule))).toEqual([]);
});

test.each(PAGES_WITH_TABLES)('the tables of docs/%s are what `npm run schemas` writes', (page) => {
  const text = read(`docs/${page}`);
  expect(text).toBe(withTables(page, text));
});
