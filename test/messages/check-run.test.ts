import { describe, expect, it } from 'vitest';
import { checkRunContentSchema } from '../../src/domain/effect/effect.ts';
import { reason } from '../../src/domain/explanation/reason.ts';
import { makeOutcome } from '../../src/domain/outcome/outcome.ts';
import { isRunOver } from '../../src/domain/run/run.ts';
import { commandOfButton } from '../../src/entrypoints/webhook/event/button.ts';
import { checkRunContent } from '../../src/messages/check-run/check-run.ts';
import { at, check, done, finding, makeCi, makeReview, makeState, NOWHERE } from './builders.ts';
import { SCENES, type Scene } from './scenes.ts';

const contentOf = ({ state, approval }: Scene) =>
  checkRunContent({ state, approval, pages: NOWHERE, now: at('13:00') });

describe('a check run', () => {
  it('describes the state and ends with a fitting conclusion', () => {
    const lines = Object.entries(SCENES).map(([name, scene]) => {
      const { state, title, actions } = contentOf(scene);
      const ending = state.status === 'completed' ? state.conclusion : state.status;
      return `${name} → ${ending} · ${title} · [${actions.map(({ identifier }) => identifier).join(' ')}]`;
    });
    expect(lines.join('\n')).toMatchInlineSnapshot(`
      "queued → in_progress · Waiting to start · [cancel pause]
      reviewing → in_progress · Reviewing 3 files · [cancel pause]
      waiting for CI → in_progress · Waiting for CI: 2 of 5 checks are done · [ci cancel pause]
      waiting for a countersign → in_progress · Waiting for a maintainer to countersign · [review cancel pause]
      no checks, two countersigns needed → in_progress · Waiting for maintainers to countersign: 1 of 2 did · [review cancel pause]
      just asked → in_progress · Waiting for a maintainer to countersign · [review cancel pause]
      countersigned, but GitHub cannot merge it yet → in_progress · Not merging: GitHub says: merge conflict · [review cancel pause]
      it conflicts, and nobody is asked → in_progress · Conflicts with main: resolve them by merging or rebasing · [cancel pause]
      countersigned, and GitHub wants a break → in_progress · Countersigned by alice: continuing · [cancel pause]
      countersigned, but GitHub fails → in_progress · Countersigned by alice: waiting for GitHub, which does not answer · [cancel pause]
      asked, and GitHub fails → in_progress · Waiting for GitHub, which does not answer · [cancel pause]
      waiting for CI, and GitHub fails → in_progress · Waiting for GitHub, which does not answer · [cancel pause]
      paused → in_progress · Paused · [resume cancel]
      retrying → in_progress · Trying review again soon · [cancel pause]
      merged → success · Merged: countersigned by alice · []
      changes requested → failure · Changes requested: 1 critical, 1 high, 1 medium · [review]
      review incomplete → failure · Review incomplete: oxlint timed out · [review]
      CI failed → failure · CI has not passed: 1 of 2 checks failed · [ci review]
      no checks, and the settings ask for some → neutral · Not merged: no checks ran, and the settings ask for some · [ci]
      rejected → failure · Rejected by alice · [rerun]
      GitHub refused the merge → failure · GitHub refused the merge (403): a rule of the branch forbids it · [rerun]
      a step broke → failure · Step review failed: the analyzers could not be started · [rerun]
      CI took too long → failure · CI has not passed: gave up waiting for CI: 1 of 2 checks are done · [ci review]
      timed out → timed_out · Step review timed out · [rerun]
      a merge held up by a gate → in_progress · Not merging: gate owners is not passed · [review cancel pause]
      a step waits for a gate → in_progress · Step changes waits: gate freeze is not passed: no freeze: Nobody is on call (frozen until 2025-03-03 (Europe/Berlin)) · [review cancel pause]
      a step waits until an expression holds → in_progress · Step changes waits: until 'ready' in pr.labels (pr.labels is []) · [review cancel pause]
      a step waits for its run of another chain → in_progress · Step changes waits: until its run of the chain deploy has ended · [review cancel pause]
      a step that merges nothing asks → in_progress · Waiting for a maintainer to countersign · [approve:b9d07109d693 cancel pause]
      a gate blocked a step → failure · Step review failed: gate odd (repository) is not passed: judging the gate (it failed inside Countersign) · [rerun]
      superseded by a push → cancelled · Superseded by a newer push · []
      superseded before the next look → cancelled · Superseded by a newer push · []
      superseded by a newer run → cancelled · Replaced by a newer run of this chain, started by mia · []
      rollout raised → cancelled · Stopped: rollout is enforce for this repository, and was observe when the run began · []
      withheld by the rollout → neutral · Would have asked a maintainer to countersign, and then merged into main (squash) · [rerun]
      closed → cancelled · Stopped: the pull request was closed · []
      merged by hand → cancelled · Stopped: somebody merged the pull request by hand · []
      merged by another chain → cancelled · Stopped: the chain ship merged the pull request, countersigned by mia, max · []
      back to draft → skipped · Stopped: the pull request is a draft · []
      retargeted → cancelled · Stopped: the pull request has a new base branch · []
      no longer triggered → skipped · Stopped: this chain no longer applies to the pull request · []
      settings changed → cancelled · Stopped: the settings on the governing branch changed · []
      chain changed → cancelled · Stopped: the chain changed on the governing branch · []
      the step that ran it ended → cancelled · Stopped: the step sub of outer, which ran it, has ended · []
      cancelled by a person → cancelled · Cancelled by alice · [review]
      app shut out → cancelled · Stopped: GitHub refuses this app here · [review]
      app removed → cancelled · Stopped: the app was removed from this repository · []"
    `);
  });

  it.each(Object.entries(SCENES))(
    'fits the effect’s schema, with buttons that GitHub accepts: %s',
    (_, scene) => {
      const content = contentOf(scene);
      expect(() => checkRunContentSchema.parse(content)).not.toThrow();
      for (const { label, description, identifier } of content.actions) {
        expect(label.length).toBeLessThanOrEqual(20);
        expect(description.length).toBeLessThanOrEqual(40);
        expect(identifier.length).toBeLessThanOrEqual(20);
        const [verb] = identifier.split(':');
        expect(commandOfButton(identifier)).toBe(`/countersign ${verb}`);
      }
    },
  );

  it.each(Object.entries(SCENES))('is completed exactly when the run is over: %s', (_, scene) => {
    expect(contentOf(scene).state.status === 'completed').toBe(isRunOver(scene.state.run.status));
  });

  it('is the same at any later moment, so that it is not sent again', () => {
    for (const { state, approval } of Object.values(SCENES)) {
      const later = checkRunContent({ state, approval, pages: NOWHERE, now: at('23:59') });
      expect(later).toEqual(contentOf({ state, approval }));
    }
  });

  it('never ends as a success when a step had a negative outcome or no verdict', () => {
    for (const passed of [false, null]) {
      const state = makeState(
        {
          status: 'completed',
          reason: reason('run.completed', 'every step is done'),
          finishedAt: at('12:09'),
        },
        { review: done(makeReview({ passed, verdict: passed === null ? null : 'REQUEST_CHANGES' })) },
      );
      expect(contentOf({ state, approval: null }).state).toMatchObject({ conclusion: 'failure' });
    }
  });

  it('ends as a failure when a step has a negative outcome of a kind without its own text', () => {
    const no = makeOutcome<'action_result'>({
      outcome_kind: 'action_result',
      summary: 'the licence is not allowed',
      passed: false,
      action: 'licence',
      details: {},
    });
    const state = makeState(
      { status: 'completed', reason: reason('run.completed', 'every step is done'), finishedAt: at('12:09') },
      { review: done(makeReview()), ci: done(makeCi([])), changes: done(no) },
    );
    expect(contentOf({ state, approval: null })).toMatchObject({
      title: 'Step changes did not pass: the licence is not allowed',
      state: { conclusion: 'failure' },
    });
  });

  it('ends as a success when a chain that merges nothing did everything', () => {
    const state = makeState(
      { status: 'completed', reason: reason('run.completed', 'every step is done'), finishedAt: at('12:09') },
      { review: done(makeReview()), ci: done(makeCi([])) },
    );
    expect(contentOf({ state, approval: null })).toMatchObject({
      title: 'Done',
      state: { conclusion: 'success' },
    });
  });

  it('puts file-level findings at line 1 and keeps the range of the others', () => {
    const { line: _, ...wholeFile } = finding({ severity: 'info', file: 'b.ts', end_line: 9 });
    const findings = [finding({ severity: 'medium', file: 'a.ts', line: 3, end_line: 5 }), wholeFile];
    const state = makeState({}, { review: done(makeReview({ findings })) });
    expect(
      contentOf({ state, approval: null }).annotations.map(({ path, start_line, end_line, level }) => [
        path,
        start_line,
        end_line,
        level,
      ]),
    ).toEqual([
      ['a.ts', 3, 5, 'warning'],
      ['b.ts', 1, 1, 'notice'],
    ]);
  });

  it('does not link a check to an address that is not on the web', () => {
    const ci = makeCi([check('sly', { url: 'javascript:alert(1)' })]);
    const { summary } = contentOf({ state: makeState({}, { ci: done(ci) }), approval: null });
    expect(summary).toContain('| ✅ | sly | success | 1 min |');
  });
});
