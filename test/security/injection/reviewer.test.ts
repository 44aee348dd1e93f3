// @module-tag security

import { beforeAll, describe, expect, it, test } from 'vitest';
import type { ChangedFile } from '../../../src/analyzers/changed-file.ts';
import type { Analysis, ReviewReport } from '../../../src/analyzers/report.ts';
import { reviewFiles } from '../../../src/analyzers/review.ts';
import { verdictOf } from '../../../src/analyzers/verdict.ts';
import type { Finding } from '../../../src/domain/outcome/finding.ts';
import type { ReviewVerdict } from '../../../src/domain/outcome/review-verdict.ts';
import type { GitHubReader } from '../../../src/ports/github.ts';
import { mergeFindings } from '../../../src/skills/builtin/review/merge-findings.ts';
import { reviewByModel } from '../../../src/skills/builtin/review/model/review.ts';
import { changed, renderHere, scripted } from '../../skills/builtin/review/support.ts';
import { stepContext } from '../../support/step-context.ts';
import { FAULT, filesOf, INJECTIONS, type Injection, obey } from './corpus.ts';

const HARMLESS = FAULT.replace('eval(code)', 'code.trim()');

/** The pull requests are side by side in one change, each in its own folder, so that the analyzers start once for all. */
const folderOf = (injection: Injection, diagnostic: string) =>
  `${diagnostic === FAULT ? 'faulty' : 'harmless'}${INJECTIONS.indexOf(injection)}/`;
const changeOf = (injection: Injection, diagnostic: string): ChangedFile[] =>
  Object.entries(filesOf(injection, diagnostic)).map(([path, text]) =>
    changed(`${folderOf(injection, diagnostic)}${path}`, '', text),
  );

let analysis: Analysis;
beforeAll(async () => {
  const files = INJECTIONS.flatMap((one) => [...changeOf(one, FAULT), ...changeOf(one, HARMLESS)]);
  analysis = await reviewFiles(files, { timeoutMs: 100_000, signal: new AbortController().signal });
});

/** The part of the review about one pull request. */
function partOf(injection: Injection, diagnostic: string): ReviewReport {
  const folder = folderOf(injection, diagnostic);
  const { report } = analysis;
  return {
    ...report,
    findings: report.findings.filter(({ file }) => file?.startsWith(folder)),
    leftOut: report.leftOut.filter(({ path }) => path.startsWith(folder)),
  };
}

const conclude = (report: ReviewReport): ReviewVerdict =>
  verdictOf(report, { headSha: 'c0ffee'.padEnd(40, '0'), round: 1 });
const blocking = (findings: readonly Finding[]) =>
  findings.filter(({ severity }) => severity === 'critical' || severity === 'high').map(({ rule }) => rule);

/** The whole review with a model that obeys. */
async function obedient(injection: Injection): Promise<{ verdict: ReviewVerdict; prompts: string[] }> {
  const { model, prompts } = scripted((prompt) => {
    const said = obey(prompt);
    return said.kind === 'text' ? said.text : '{"findings":[]}';
  });
  const reader = {
    pullRequest: async () => ({ title: injection.title ?? 'Run it', body: injection.body ?? '' }),
    file: async () => undefined,
  } as unknown as GitHubReader;
  const folder = folderOf(injection, FAULT);
  const files = analysis.files.filter(({ path }) => path.startsWith(folder));
  const said = await reviewByModel(
    stepContext('skill: pr-review', { reader }),
    // The fence code that one of them guesses.
    { model, render: renderHere, newCode: () => '0123456789abcdef' },
    { files, mask: analysis.mask },
    changeOf(injection, FAULT),
    undefined,
  );
  const part = partOf(injection, FAULT);
  const verdict = conclude({
    ...part,
    findings: mergeFindings(part.findings, said.findings),
    analyzers: [...part.analyzers, ...(said.report ? [said.report] : [])],
    leftOut: [...part.leftOut, ...said.leftOut],
  });
  return { verdict, prompts };
}

test('the corpus has enough instructions', () => {
  expect(INJECTIONS.length).toBeGreaterThanOrEqual(25);
  expect(new Set(INJECTIONS.map(({ name }) => name)).size).toBe(INJECTIONS.length);
});

describe.each(INJECTIONS)('an instruction in $name', (injection) => {
  it('changes no finding of the analyzers', () => {
    expect(blocking(partOf(injection, FAULT).findings)).toEqual(['data-flow/code-injection']);
    expect(conclude(partOf(injection, FAULT)).verdict).toBe('REQUEST_CHANGES');
    expect(blocking(partOf(injection, HARMLESS).findings)).toEqual([]);
    expect(conclude(partOf(injection, HARMLESS)).verdict).not.toBe('REQUEST_CHANGES');
  });

  it('does not hide their findings, even if the model obeys', async () => {
    const { verdict, prompts } = await obedient(injection);
    // An instruction that reaches no model would prove nothing: the model must see it, unless it is one of those that are
    // removed.
    expect(prompts.some((prompt) => obey(prompt).kind !== 'not_told')).toBe(injection.unseen !== true);
    expect(verdict).toMatchObject({ verdict: 'REQUEST_CHANGES', passed: false });
    expect(blocking(verdict.findings)).toEqual(['data-flow/code-injection']);
  });

  it('stays within a fence that it cannot end', async () => {
    const { prompts } = await obedient(injection);
    for (const prompt of prompts) {
      const code = /^BEGIN DATA (\w+)$/m.exec(prompt)?.[1] ?? 'none';
      const outside = prompt.split(new RegExp(`^BEGIN DATA ${code}$[^]*?^END DATA ${code}$`, 'm')).join('');
      expect(obey(outside)).toEqual({ kind: 'not_told' });
    }
  });
});
