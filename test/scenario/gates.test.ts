import { describe, expect, test } from 'vitest';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { REPO } from '../support/harness.ts';
import {
  A_RECHECK,
  approvalOf,
  approvals,
  checkLines,
  countersign,
  headline,
  open,
  ownCheck,
  ownChecks,
  pushAgain,
  react,
  start,
} from './support.ts';
import {
  commentBehind,
  comments,
  criterion,
  explanationText,
  gate,
  mergeBehind,
  stateOf,
  verdictLines,
  verdicts,
} from './support-gates.ts';
import { section } from './support-scene.ts';

const LONG = process.env.COUNTERSIGN_LONG === '1';

const PLACES = ['pre', 'post'] as const;

const LABELLED = criterion("'ready' in pr.labels");
const SMALL = criterion('pr.additions < 2');
const OWNERS = { '.github/CODEOWNERS': '* @max\n/src/ @will @octo/core\n' };

describe('a merge behind a gate', () => {
  test('is blocked, countersigned or not, and continues by itself once the gate passes', {
    tags: 'slow',
  }, async () => {
    const harness = await start({ chain: mergeBehind(gate(LABELLED)) });
    const { number, headSha } = await open(harness);
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    expect(checkLines(harness, headSha)).toEqual([
      `in_progress: Not merging: gate guard is not passed: 'ready' in pr.labels (pr.labels is [])`,
    ]);
    expect(headline(approvalOf(harness, number))).toBe('✍️ Approve this merge?');
    await harness.github.addLabel(REPO, number, 'will', 'ready');
    await harness.advance(A_RECHECK);
    expect(harness.github.merges).toMatchObject([{ headSha }]);
    expect(await verdictLines(harness)).toEqual(['guard: not passed', 'guard: passed']);
  });

  test('is not made if the gate passed when the maintainers were asked and fails at the countersign', {
    tags: 'slow',
  }, async () => {
    const harness = await start({ chain: mergeBehind(gate(LABELLED)) });
    const { number } = await open(harness);
    await harness.github.addLabel(REPO, number, 'will', 'ready');
    await harness.advance(A_RECHECK);
    expect(await verdictLines(harness)).toContain('guard: passed');
    // No event reports it: the attempt itself must check.
    harness.github.holdDeliveries();
    await harness.github.removeLabel(REPO, number, 'will', 'ready');
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    expect(await explanationText(harness)).toContain('✘ gate guard is not passed');
  });

  test('continues with a warning wherever people read', { tags: 'slow' }, async () => {
    const harness = await start({ chain: mergeBehind(gate(SMALL, 'warn')) });
    const { number, headSha } = await open(harness);
    await harness.advance(A_RECHECK);
    expect(approvalOf(harness, number).body).toContain('⚠️ **Gate guard:** a warning: pr.additions');
    expect(section(ownCheck(harness, headSha).summary, 'Gates')).toContain(
      '⚠️ **guard**, before `merge`: a warning',
    );
    await countersign(harness, number);
    expect(harness.github.merges).toHaveLength(1);
  });

  test('needs the owners of the changed files, for this head, and none of them twice', {
    tags: 'slow',
  }, async () => {
    const harness = await start({
      chain: mergeBehind(gate('{ id: owners, codeowners: approved }')),
      files: OWNERS,
    });
    const { number } = await open(harness);
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    expect(await explanationText(harness)).toContain('no owner approves src/greet.ts (will or octo/core)');
    await harness.github.review(REPO, number, 'max', 'APPROVED');
    await harness.advance(A_RECHECK);
    expect(harness.github.merges).toEqual([]);
    await harness.github.review(REPO, number, 'will', 'APPROVED');
    await harness.advance(A_RECHECK);
    expect(harness.github.merges).toHaveLength(1);
  });

  const lost: [string, (scenario: Scenario) => Promise<unknown>][] = [
    ['that was dismissed', (h) => h.harness.github.dismissReview(REPO, h.number, h.review, 'max')],
    ['of a head before', (h) => pushAgain(h.harness)],
    ['that was taken back', (h) => h.harness.github.review(REPO, h.number, 'will', 'CHANGES_REQUESTED')],
    ['of somebody who lost write access', async (h) => h.harness.github.setPermission(REPO, 'will', 'read')],
  ];
  // The tables of the facts have the other cases; the long form plays them here.
  test.each(LONG ? lost : lost.slice(0, 1))('does not count an owner’s approval %s', async (_, happens) => {
    const harness = await start({
      chain: mergeBehind(gate('{ id: owners, codeowners: approved }')),
      files: OWNERS,
    });
    const { number } = await open(harness);
    const review = await harness.github.review(REPO, number, 'will', 'APPROVED');
    await happens({ harness, number, review });
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
  });

  test('counts a member of the team that owns the file, and never an author', { tags: 'slow' }, async () => {
    const harness = await start({
      chain: mergeBehind(gate('{ id: owners, codeowners: approved }')),
      files: { '.github/CODEOWNERS': '* @ada @octo/core\n' },
    });
    harness.github.addTeam('octo', 'core', ['max', 'ada']);
    const { number } = await open(harness);
    await harness.github.review(REPO, number, 'ada', 'APPROVED');
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    await harness.github.review(REPO, number, 'max', 'APPROVED');
    await harness.advance(A_RECHECK);
    expect(harness.github.merges).toHaveLength(1);
  });

  test('asks the owners that the base branch names, not those of the head', { tags: 'slow' }, async () => {
    const harness = await start({
      chain: mergeBehind(gate('{ id: owners, codeowners: approved }')),
      files: OWNERS,
    });
    const { number } = await open(harness, {
      files: { '.github/CODEOWNERS': '* @will\n', 'README.md': 'Mine now\n' },
    });
    await harness.github.review(REPO, number, 'will', 'APPROVED');
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    expect(await explanationText(harness)).toContain(
      'no owner approves .github/CODEOWNERS (max), README.md (max)',
    );
  });

  test('waits for the end of a freeze', { tags: 'slow' }, async () => {
    const harness = await start({
      chain: mergeBehind(
        gate(
          '{ id: holidays, freeze: { from: 2026-03-01, until: "2026-03-02T10:01", time_zone: Europe/Berlin, reason: The shop is closed } }',
        ),
      ),
    });
    const { number, headSha } = await open(harness);
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    expect(ownCheck(harness, headSha).title).toContain('The shop is closed');
    await harness.advance(55_000);
    expect(harness.github.merges).toHaveLength(1);
    expect(harness.github.merges[0]?.at.getTime()).toBeGreaterThanOrEqual(Date.parse('2026-03-02T09:01Z'));
  });

  test('is not made while a fact cannot be read, also if the criterion says "not"', {
    tags: 'slow',
  }, async () => {
    const harness = await start({ chain: mergeBehind(gate(criterion('not pr.changes_requested'))) });
    const restore = harness.github.fail(({ path }) => path.includes('/reviews'), { status: 403 });
    const { number } = await open(harness);
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    expect(await explanationText(harness)).toContain(
      'pr.changes_requested is not known: GitHub refuses to tell',
    );
    restore();
    await harness.advance(A_RECHECK);
    expect(harness.github.merges).toHaveLength(1);
  });

  test('needs verified commits if a gate requires them', { tags: 'slow' }, async () => {
    const harness = await start({ chain: mergeBehind(gate(criterion('pr.signed and pr.commits == 1'))) });
    const { number, headSha } = await open(harness);
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    harness.github.vouchFor(headSha);
    await harness.advance(A_RECHECK);
    expect(harness.github.merges).toHaveLength(1);
  });

  test.runIf(LONG)('with on_failure: require_human needs no person besides its countersign', async () => {
    const harness = await start({ chain: mergeBehind(gate(SMALL, 'require_human')) });
    const { number } = await open(harness);
    await harness.advance(A_RECHECK);
    expect(approvalOf(harness, number).body).toContain('✋ **Gate guard:** a person is asked');
    await countersign(harness, number);
    expect(harness.github.merges).toHaveLength(1);
  });

  test('writes a verdict only when its inputs change', { tags: 'slow' }, async () => {
    const harness = await start({ chain: mergeBehind(gate(LABELLED)) });
    const { number } = await open(harness);
    await harness.advance(2 * A_RECHECK);
    expect(await verdictLines(harness)).toEqual(['guard: not passed']);
    await harness.github.addLabel(REPO, number, 'will', 'other');
    await harness.advance(A_RECHECK);
    expect((await verdicts(harness)).map(({ criteria }) => criteria[0]?.evidence)).toEqual([
      'pr.labels is []',
      'pr.labels is ["other"]',
    ]);
  });
});

interface Scenario {
  harness: Awaited<ReturnType<typeof start>>;
  number: number;
  review: number;
}

describe('gates of the organisation', () => {
  const organisation = async (gates: string, setting: Parameters<typeof start>[0] = {}) => {
    const harness = await start({ chain: mergeBehind(gate(criterion('true'))), ...setting });
    harness.github.addRepository({
      owner: 'octo',
      name: '.github',
      // The stand-in knows no symbolic HEAD, so a branch has that name.

      files: { '.github/countersign.yml': `gates:\n  - ${gates}\n` },
    });
    return harness;
  };

  test('apply beside those of the repository and the step, which cannot replace them by their id', {
    tags: 'slow',
  }, async () => {
    const harness = await organisation(`{ uses: gh-merge, pre: [${gate(LABELLED)}] }`, {
      settings: `gates:\n  - { uses: gh-merge, pre: [${gate(criterion('true'), 'warn')}] }\n`,
    });
    const { number } = await open(harness);
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    expect(await explanationText(harness)).toContain('✘ gate guard (organisation) is not passed');
    expect((await verdicts(harness)).map(({ scope }) => scope)).toEqual([
      'organisation',
      'repository',
      'step',
    ]);
    await harness.github.addLabel(REPO, number, 'will', 'ready');
    await harness.advance(A_RECHECK);
    expect(harness.github.merges).toHaveLength(1);
  });

  test('that are added after the maintainers were asked void the approval', { tags: 'slow' }, async () => {
    const harness = await start({ chain: mergeBehind(gate(criterion('true'))) });
    const { number } = await open(harness);
    await harness.github.push({
      repo: REPO,
      branch: 'main',
      author: 'max',
      files: { '.github/countersign.yml': `gates: [{ uses: "*", pre: [${gate(LABELLED)}] }]\n` },
    });
    await harness.advance(A_RECHECK);
    expect(approvals(harness, number).map(headline)).toEqual(['replaced', '✍️ Approve this merge?']);
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
  });
});

describe('any other step behind a gate', () => {
  test('waits for what people can change, and is judged again at once when they do', {
    tags: 'slow',
  }, async () => {
    const harness = await start({ chain: commentBehind(gate(LABELLED)) });
    const { number, headSha } = await open(harness);
    await harness.advance(A_RECHECK);
    expect(comments(harness, REPO, number)).toEqual([]);
    expect(checkLines(harness, headSha)[0]).toContain(
      'in_progress: Step say waits: gate guard is not passed',
    );
    await harness.github.addLabel(REPO, number, 'will', 'ready');
    await harness.settle();
    expect(comments(harness, REPO, number)).toEqual(['Hello']);
  });

  test('fails at once if only a new commit could change the result', async () => {
    const harness = await start({ chain: commentBehind(gate(SMALL)) });
    const { number } = await open(harness);
    expect(comments(harness, REPO, number)).toEqual([]);
    expect((await stateOf(harness)).invocations[0]?.reason).toMatchObject({
      code: 'gate.blocked.policy',
      summary: 'gate guard is not passed: pr.additions < 2 (pr.additions is 3)',
      evidence: [{ kind: 'gate', id: 'guard' }],
    });
  });

  test('does nothing while the pull request is paused, although its gate passes meanwhile', {
    tags: 'slow',
  }, async () => {
    const harness = await start({ chain: commentBehind(gate(LABELLED)) });
    const { number } = await open(harness);
    await harness.github.comment(REPO, number, 'mia', '/countersign pause');
    await harness.github.addLabel(REPO, number, 'will', 'ready');
    await harness.advance(60_000);
    expect(comments(harness, REPO, number)).toEqual([]);
    await harness.github.comment(REPO, number, 'mia', '/countersign resume');
    await harness.settle();
    expect(comments(harness, REPO, number)).toEqual(['Hello']);
  });

  test.each(LONG ? PLACES : PLACES.slice(0, 1))(
    'counts as not passed if a %s gate degrades it',
    async (at) => {
      const harness = await start({
        chain: commentBehind(
          gate(SMALL, 'degrade'),
          at,
          '  - { id: then, action: gh-label, with: { labels: [done] }, condition: "{{ steps.say.outcome.passed }}" }\n',
        ),
      });
      const { number } = await open(harness);
      expect(comments(harness, REPO, number)).toEqual(['Hello']);
      expect(harness.github.labels(REPO, number)).toEqual([]);
      expect((await stateOf(harness)).invocations[0]?.outcome).toMatchObject({
        passed: false,
        summary: `counts as not passed, because of the gate guard: commented on #${number}`,
      });
    },
  );

  eachFirstQuick(['pre', 'post'] as const)(
    'asks a person if a %s gate requires one, and continues with a countersign of this head',
    async (at) => {
      const harness = await start({ chain: commentBehind(gate(SMALL, 'require_human'), at) });
      const { number } = await open(harness);
      await harness.advance(A_RECHECK);
      expect(comments(harness, REPO, number)).toEqual([]);
      expect(headline(approvalOf(harness, number))).toBe('✍️ Approve the step `say`?');
      await react(harness, number, 'ada');
      await harness.advance(A_RECHECK);
      expect(comments(harness, REPO, number)).toEqual([]);
      await countersign(harness, number);
      expect(comments(harness, REPO, number)).toEqual(['Hello']);
      expect(harness.github.merges).toEqual([]);
    },
  );

  test('counts as not passed also when a merge reads its outcome again', { tags: 'slow' }, async () => {
    const harness = await start({
      chain: `name: pr-review
trigger: { event: pr.opened }
steps:
  - { id: ci, skill: ci, gates: { post: [${gate(SMALL, 'degrade')}] } }
  - { id: merge, action: gh-merge, requires_approval: true, condition: "{{ steps.ci.outcome.head_sha is defined }}" }
`,
    });
    const { number, headSha } = await open(harness);
    await harness.github.setStatus(REPO, headSha, { context: 'test', state: 'success' });
    await harness.advance(A_RECHECK);
    await countersign(harness, number);
    expect(harness.github.merges).toEqual([]);
    expect(await explanationText(harness)).toContain('ci: counts as not passed, because of the gate guard');
  });

  test('has no effect if a gate after it blocks', async () => {
    const harness = await start({
      chain: commentBehind(gate(criterion('not steps.say.outcome.passed')), 'post'),
    });
    const { number } = await open(harness);
    expect(comments(harness, REPO, number)).toEqual([]);
    expect((await stateOf(harness)).invocations[0]).toMatchObject({
      status: 'failed',
      outcome: null,
      reason: { code: 'gate.blocked.policy' },
    });
  });

  test('can have a skill as its gate, whose outcome is kept as evidence', { tags: 'slow' }, async () => {
    const harness = await start({ chain: commentBehind('{ id: green, skill: ci }') });
    const { number, headSha } = await open(harness);
    await harness.github.setStatus(REPO, headSha, { context: 'test', state: 'pending' });
    await harness.advance(A_RECHECK);
    expect(comments(harness, REPO, number)).toEqual([]);
    await harness.github.setStatus(REPO, headSha, { context: 'test', state: 'success' });
    await harness.advance(A_RECHECK);
    expect(comments(harness, REPO, number)).toEqual(['Hello']);
    const { run } = await stateOf(harness);
    const kinds = (await harness.app.storage.read.artifacts.ofRun(run.id)).map(({ kind }) => kind);
    expect(kinds).toContain('ci_result');
  });

  test('costs no request for facts that no criterion names', { tags: 'slow' }, async () => {
    const harness = await start({ chain: commentBehind(gate(criterion("repo.name == 'app'"))) });
    const { number } = await open(harness);
    expect(comments(harness, REPO, number)).toEqual(['Hello']);
    const asked = harness.github.requests.map(({ path }) => path);
    expect(asked.filter((path) => /\/(reviews|commits)(\?|$)/.test(path))).toEqual([]);
  });
});

test('errors in gates are all reported at once in the check run for the configuration', async () => {
  const harness = await start({ chain: mergeBehind(gate(criterion('true'))) });
  const settings = `gates:
  - uses: gh-marge
    pre:
      - { id: a, criteria: [{ id: b, if: "{{ pr.label }}" }, { id: b, freeze: { from: 2026-12-24, until: 2026-12-20, reason: x } }] }
`;
  const { headSha } = await open(harness, { files: { '.github/countersign.yml': settings } });
  const told = ownChecks(harness, headSha).find(({ name }) => name.includes('configuration'))?.summary ?? '';
  expect(told).toContain('there is no skill or action "gh-marge": did you mean "gh-merge"?');
  expect(told).toContain('a pull request has no "label": did you mean "labels"?');
  expect(told).toContain('the id "b" is used here twice');
  expect(told).toContain('"until" must come after "from"');
});
