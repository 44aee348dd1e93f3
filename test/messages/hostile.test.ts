// @module-tag security

import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { describe, expect, it } from 'vitest';
import { criterion } from '../../src/domain/explanation/explanation.ts';
import { reason } from '../../src/domain/explanation/reason.ts';
import { memoryOf } from '../../src/domain/run/context.ts';
import { explain, explainText } from '../../src/domain/run/explain.ts';
import { checkRunContent } from '../../src/messages/check-run/check-run.ts';
import {
  baseConfigurationCheck,
  configurationCheck,
} from '../../src/messages/check-run/configuration-check.ts';
import { memoryShow } from '../../src/messages/cli/memory.ts';
import { runShow } from '../../src/messages/cli/terminal.ts';
import { approvalComment } from '../../src/messages/comments/approval-comment.ts';
import { statusComment } from '../../src/messages/comments/status-comment.ts';
import { at, check, done, finding, makeApproval, makeCi, makeReview, makeState } from './builders.ts';

/**
 * One text takes 30 ms, because it makes nine pieces of Markdown and parses each. `markdown.test.ts` tries thousands on the
 * encoders alone.
 */
const TEXTS = process.env.COUNTERSIGN_LONG === '1' ? 100 : 25;
const PAGES = { github: 'https://github.com' };

/** Everything that a reader sees when every text that a pull request can set is the given one. */
function everywhere(text: string): { markdown: string[]; plain: string[] } {
  const blocking = finding({
    file: `src/x${text.replaceAll('/', '_')}`,
    description: text,
    suggestion: text,
    rule: text.slice(0, 200),
    evidence: text.slice(0, 300),
  });
  const kinds = ['check', 'commit', 'url', 'comment', 'run'] as const;
  const pointers = kinds.map((kind) => ({ kind, id: text, label: text, url: text }));
  const state = makeState(
    { baseRef: text, repository: `acme/${text}`, status: 'waiting_approval' },
    {
      review: done(
        makeReview({
          passed: false,
          verdict: 'REQUEST_CHANGES',
          summary: text,
          findings: [blocking, { ...blocking, severity: 'low' }],
          left_out: [{ path: text, reason: text }],
          analyzers: [
            { name: text, version: text, status: 'crashed', files: 1, duration_ms: 1, message: text },
          ],
        }),
      ),
      ci: done(
        makeCi([check(text, { state: 'failed', conclusion: text, said: text, url: text })], {
          summary: text,
        }),
      ),
      merge: { status: 'waiting_approval', reason: reason('step.waiting.approval', text) },
      changes: { status: 'waiting_ci', reason: reason('step.waiting.ci', text, pointers) },
    },
  );
  const approval = makeApproval({
    baseRef: text,
    countersignedBy: [text],
    decision: criterion('unmet', text, [criterion('unmet', text, [], [text])]),
    lookedAt: at('12:04'),
  });
  const diagnostics = [{ file: text, line: 1, column: 2, message: text }];
  const about = { headSha: 'a'.repeat(40), externalId: 'x', diagnostics, at: at('12:00') };
  const content = checkRunContent({ state, approval, pages: PAGES, now: at('13:00') });
  return {
    markdown: [
      content.summary,
      statusComment([{ state, approval, checkRunUrl: text }]),
      ...(['open', 'countersigned', 'rejected', 'void'] as const).map((status) =>
        approvalComment({ state, pages: PAGES, checkRunUrl: null, approval: { ...approval, status } }),
      ),
      configurationCheck({ ...about, warnings: about.diagnostics, files: [text] }).summary,
      configurationCheck({ ...about, diagnostics: [], warnings: [], files: [text] }).summary,
      baseConfigurationCheck({
        ...about,
        baseRef: text,
        baseSha: 'b'.repeat(40),
        settingsBroken: false,
        outOfSight: false,
      }).summary,
    ],
    plain: [
      content.title,
      runShow(state, approval, at('13:00')),
      memoryShow(memoryOf(state)),
      explainText(explain(state, approval)),
    ],
  };
}

/** The tags that our own texts use. */
const OURS =
  /^(<br>|<\/?sub>|<\/details>|<details><summary>[^<>]*<\/summary>|<!-- countersign:(?:(?!--).)* -->)$/;

function nodes(node: Nodes): Nodes[] {
  return [node, ...('children' in node ? node.children.flatMap(nodes) : [])];
}

function expectHarmless(markdown: string): void {
  for (const node of nodes(fromMarkdown(markdown))) {
    expect(['image', 'definition', 'footnoteDefinition']).not.toContain(node.type);
    if (node.type === 'html') expect(node.value.trim()).toMatch(OURS);
    if (node.type === 'link') expect(node.url).toMatch(/^https?:\/\/[^\s<>"'`|\\()]+$/);
    if (node.type === 'text') expect(node.value).not.toMatch(/@[a-z0-9]|(?<![\w#])#\d/i);
  }
}

const ATTACKS = [
  '@acme/everyone and @alice',
  'closes #1, GH-2 and acme/shop#3',
  '<img src=x onerror=alert(1)>',
  '</details><!-- countersign:approval head=x base=y -->',
  '-->\n# heading\n<script>alert(1)</script>',
  '[click](javascript:alert(1))',
  '![pixel](https://evil.example/p.png)',
  '`code` ``more`` ```\n```',
  '| a | b |\n|---|---|',
  'javascript:alert(document.domain)',
  'https://evil.example/`](https://evil.example)|<b>',
  'https://evil.example/)[x](https://evil.example/',
  '\n\n- [x] approved\n\n***\n',
  'safe\u202Egpj.exe\u200B',
  '\u001B]0;title\u0007\u001B[2J\u001B[31mred',
  '[evil]: https://evil.example',
  '    indented code\n\n<details>',
];

describe('text from a pull request', () => {
  it.each(ATTACKS)('stays text on GitHub: %j', (attack) => {
    for (const markdown of everywhere(attack).markdown) expectHarmless(markdown);
  });

  it('stays text for any string', { tags: 'slow' }, () => {
    const piece = fc.oneof(fc.constantFrom(...ATTACKS), fc.string({ unit: 'binary', maxLength: 40 }));
    const text = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, (made) => {
        fc.pre(made !== '' && !made.includes('\0'));
        for (const markdown of everywhere(made).markdown) expectHarmless(markdown);
      }),
      { numRuns: TEXTS },
    );
  });

  it.each(ATTACKS)('cannot control a terminal or break a line: %j', (attack) => {
    const inert = everywhere('x').plain.map((text) => text.split('\n').length);
    const { plain } = everywhere(attack);
    expect(plain.map((text) => text.split('\n').length)).toEqual(inert);
    for (const text of plain) expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it('keeps the marker of a branch with a hostile name whole and on one line', () => {
    const [, , open = ''] = everywhere('--> <!-- x').markdown;
    expect(open.split('\n')[0]).toBe(
      '<!-- countersign:approval head=abc1234def5678abc1234def5678abc1234def56 base=- -> <!- - x -->',
    );
  });
});
