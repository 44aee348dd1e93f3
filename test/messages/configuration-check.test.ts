import { describe, expect, it } from 'vitest';
import { checkRunContentSchema } from '../../src/domain/effect/effect.ts';
import {
  baseConfigurationCheck,
  configurationCheck,
} from '../../src/messages/check-run/configuration-check.ts';
import { at, HEAD } from './builders.ts';

const diagnostics = [
  {
    file: '.github/countersign/chains/pr.yaml',
    line: 4,
    column: 7,
    message: 'unknown key "tiemout"; did you mean "timeout"?',
  },
  { file: '.github/countersign.yml', line: 1, column: 1, message: 'the file is empty of `chains`' },
];
const about = { headSha: HEAD, externalId: 'configuration:acme/shop', at: at('12:00') };

describe('a pull request that changes the configuration', () => {
  it('passes if it is valid', () => {
    const content = configurationCheck({
      ...about,
      warnings: [],
      diagnostics: [],
      files: ['.github/countersign.yml'],
    });
    expect(content.state).toMatchObject({ conclusion: 'success' });
    expect(`${content.title}\n\n${content.summary}`).toMatchInlineSnapshot(`
      "1 configuration file checked, no errors

      The configuration that this pull request changes has no errors:

      - \`.github/countersign.yml\`

      It takes effect once it is merged. Until then, the configuration of the base branch applies, to this pull request too."
    `);
  });

  it('fails with each error at its place', () => {
    const content = configurationCheck({
      ...about,
      warnings: [],
      diagnostics,
      files: diagnostics.map(({ file }) => file),
    });
    expect(content.state).toMatchObject({ conclusion: 'failure' });
    expect(content.annotations.map(({ path, start_line }) => `${path}:${start_line}`)).toEqual([
      '.github/countersign/chains/pr.yaml:4',
      '.github/countersign.yml:1',
    ]);
    expect(`${content.title}\n\n${content.summary}`).toMatchInlineSnapshot(`
      "2 errors in the configuration

      - \`.github/countersign/chains/pr.yaml:4:7\` unknown key "tiemout"; did you mean "timeout"?
      - \`.github/countersign.yml:1:1\` the file is empty of \\\`chains\\\`

      Checked: 2 files.

      It takes effect once it is merged. Until then, the configuration of the base branch applies, to this pull request too.

      **Next:** correct the errors and push. \`countersign chain lint\` finds the same ones on your machine."
    `);
  });

  it('passes with warnings, and shows each at its place', () => {
    const warnings = [{ file: 'a.yaml', line: 4, column: 7, message: 'odd', severity: 'warning' as const }];
    const content = configurationCheck({ ...about, warnings, diagnostics: [], files: ['a.yaml'] });
    expect(content.state).toMatchObject({ conclusion: 'success' });
    expect(content.title).toBe('1 configuration file checked, no errors, 1 warning');
    expect(content.summary).toContain('- `a.yaml:4:7` odd');
    expect(content.annotations).toMatchObject([{ path: 'a.yaml', start_line: 4, level: 'warning' }]);
  });

  it('keeps 5,000 errors inside GitHub’s limits', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => ({
      file: `${'`é'.repeat(500)}${index}`,
      line: index + 1,
      column: 1,
      message: '<é|'.repeat(1_000),
    }));
    const content = configurationCheck({
      ...about,
      warnings: [],
      diagnostics: many,
      files: many.map(({ file }) => file),
    });
    expect(Buffer.byteLength(content.summary)).toBeLessThanOrEqual(65_535);
    expect(content.annotations).toHaveLength(500);
    expect(content.summary).toMatch(/… and [\d]+ more, which `countersign chain lint` prints/);
    expect(() => checkRunContentSchema.parse(content)).not.toThrow();
  });
});

describe('an invalid configuration on the base branch', () => {
  it('is neutral, and says whom it does not affect', () => {
    const content = baseConfigurationCheck({
      ...about,
      diagnostics,
      baseRef: 'main',
      baseSha: 'b'.repeat(40),
      settingsBroken: false,
      outOfSight: false,
    });
    expect(content.state).toMatchObject({ conclusion: 'neutral' });
    expect(content.name).toBe('countersign / base configuration');
    expect(`${content.title}\n\n${content.summary}`).toMatchInlineSnapshot(`
      "2 errors in the configuration on main

      The configuration on \`main\` (\`bbbbbbb\`) cannot be read as it is:

      - \`.github/countersign/chains/pr.yaml:4:7\` unknown key "tiemout"; did you mean "timeout"?
      - \`.github/countersign.yml:1:1\` the file is empty of \\\`chains\\\`

      This pull request did not cause it. What the broken files define does not run until they are corrected; other chains are not affected.

      **Next:** correct the files on \`main\`. \`countersign chain lint\` finds the same errors on your machine."
    `);
  });
});
