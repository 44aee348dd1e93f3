import { describe, expect, it } from 'vitest';
import type { EvidenceRef } from '../../src/domain/explanation/evidence.ts';
import { reason } from '../../src/domain/explanation/reason.ts';
import { checkRunContent } from '../../src/messages/check-run/check-run.ts';
import { runJson } from '../../src/messages/cli/run-json.ts';
import { statusComment } from '../../src/messages/comments/status-comment.ts';
import { evidenceUrl, type Pages } from '../../src/messages/run/evidence.ts';
import { at, HEAD, makeState, NEWER, NOWHERE } from './builders.ts';

const PAGES: Pages = { github: 'https://git.example' };
const PULL_REQUEST = { repository: 'acme/shop', pullRequest: 7 };
const CHECK = 'https://ci.example/build/9';

const urlOf = (kind: EvidenceRef['kind'], id: string, pages = PAGES, about = PULL_REQUEST) =>
  evidenceUrl({ kind, id, label: id }, about, pages);

describe('the link to evidence', () => {
  it.each([
    ['commit', HEAD, `https://git.example/acme/shop/commit/${HEAD}`],
    ['person', 'mia', 'https://git.example/mia'],
    ['person', 'mia_acme', 'https://git.example/mia_acme'],
    ['comment', '41', 'https://git.example/acme/shop/pull/7#issuecomment-41'],
    ['url', CHECK, CHECK],
  ] as const)('leads to a %s with the id %s at %s', (kind, id, url) => {
    expect(urlOf(kind, id)).toBe(url);
  });

  it.each(['artifact', 'check', 'effect', 'rule', 'run', 'step'] as const)(
    'is missing for a %s without a page',
    (kind) => {
      expect(urlOf(kind, 'one')).toBeNull();
    },
  );

  it.each(['commit', 'person', 'comment'] as const)('is missing for a %s if no site is known', (kind) => {
    const id = { commit: HEAD, person: 'mia', comment: '41' }[kind];
    expect([urlOf(kind, id), urlOf(kind, id, NOWHERE)]).toEqual([expect.any(String), null]);
  });

  it('leads to the address that a check gives', () => {
    const check = { kind: 'check', id: 'build', label: 'build', url: CHECK } as const;
    expect(evidenceUrl(check, PULL_REQUEST, NOWHERE)).toBe(CHECK);
  });
});

describe('hostile evidence has no link', () => {
  it.each([
    ['commit', `${HEAD}/../../../evil`],
    ['commit', 'main'],
    ['person', 'mia/../evil'],
    ['person', '//evil.example'],
    ['person', 'mia?tab=x'],
    ['comment', '41"><b>'],
    ['url', 'javascript:alert(1)'],
    ['url', 'https://github.com@evil.example/'],
  ] as const)('for a %s with the id %s', (kind, id) => {
    expect(urlOf(kind, id)).toBeNull();
  });

  it('for a check whose address is not a web page', () => {
    const check = { kind: 'check', id: 'a', label: 'a', url: 'javascript:alert(1)' } as const;
    expect(evidenceUrl(check, PULL_REQUEST, PAGES)).toBeNull();
  });
});

describe('a link to evidence', () => {
  const evidence: EvidenceRef[] = [
    { kind: 'check', id: 'build', label: 'build', url: CHECK },
    { kind: 'check', id: 'lint', label: 'lint' },
    { kind: 'commit', id: NEWER, label: 'fed9876' },
  ];
  const waiting = reason('step.waiting.ci', '1 of 3 checks is done', evidence);
  const state = makeState({ status: 'waiting_ci' }, { ci: { status: 'waiting_ci', reason: waiting } });

  it('is in the explanation of the check run', () => {
    const { summary } = checkRunContent({ state, approval: null, pages: PAGES, now: at('13:00') });
    expect(summary).toContain(
      `([\`build\`](${CHECK}), \`lint\`, [\`fed9876\`](https://git.example/acme/shop/commit/${NEWER}))`,
    );
  });

  it('is in the status comment if the evidence names its own page', () => {
    const comment = statusComment([{ state, approval: null, checkRunUrl: null }]);
    expect(comment).toContain(`waiting for CI: 1 of 3 checks is done ([\`build\`](${CHECK}))`);
  });

  it('is beside each reference of the JSON, or null', () => {
    const urls = runJson(state, PAGES).steps[1]?.reason?.evidence.map(({ label, url }) => [label, url]);
    expect(urls).toEqual([
      ['build', CHECK],
      ['lint', null],
      ['fed9876', `https://git.example/acme/shop/commit/${NEWER}`],
    ]);
  });
});
