import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOnly } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** https://www.w3.org/TR/WCAG22/ */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The rules whose answer depends on the colour scheme; the markup is the same in both. */
const RULES_OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** Which rules of accessibility the page breaks in the colours that it has now, and where. */
export async function brokenRules(
  page: Page,
  which: 'all' | 'of colours' = 'all',
): Promise<[rule: string, html: string[]][]> {
  const runOnly: RunOnly =
    which === 'all' ? { type: 'tag', values: RULES } : { type: 'rule', values: RULES_OF_COLOURS };
  // As a debugger would, because the content security policy refuses it as a script of the page.
  const found = (await page.evaluate(
    `(typeof axe === 'undefined' ? (() => { ${AXE} })() : undefined, axe.run(${JSON.stringify({ runOnly })}))`,
  )) as AxeResults;
  return found.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
}
