import { describe, expect, it } from 'vitest';
import { defaultSettings } from '../../src/domain/chain/settings.ts';
import { approvalComment } from '../../src/messages/comments/approval-comment.ts';
import { statusComment } from '../../src/messages/comments/status-comment.ts';
import { makeApproval, makeState, NOWHERE } from './builders.ts';
import { SCENES, type Scene } from './scenes.ts';

function scene(name: string): Scene {
  const found = SCENES[name];
  if (!found) throw new Error(`no scene ${name}`);
  return found;
}

describe('the status comment', () => {
  it('has one card per chain', () => {
    const second = makeState({ chain: 'docs', id: 'run_02' });
    expect(
      statusComment([
        { ...scene('merged'), checkRunUrl: null },
        { state: second, approval: null, checkRunUrl: null },
      ]),
    ).toMatchInlineSnapshot(`
      "<!-- countersign:status -->
      ### 🎉 Merged: countersigned by alice

      - ✅ \`review\` 1 medium finding in 3 files, and nothing that stands in the way of merging.
      - ✅ \`ci\` all 2 checks passed
      - ✅ \`merge\` merged into main as 1112223, countersigned by alice

      <sub>Chain \`pr-review\` for \`abc1234\`</sub>

      ### ⚪ Waiting to start

      - ⚪ \`review\` not started
      - ⚪ \`ci\` not started
      - ⚪ \`merge\` not started
      - ⚪ \`changes\` not started

      **Next:** Nothing to do: this continues by itself.

      <sub>Chain \`docs\` for \`abc1234\`</sub>"
    `);
  });

  it('is one line if the repository sets noise: quiet', () => {
    const { state, approval } = scene('waiting for a countersign');
    const quiet = {
      run: { ...state.run, settings: { ...defaultSettings, noise: 'quiet' as const } },
      invocations: state.invocations,
    };
    expect(
      statusComment([{ state: quiet, approval, checkRunUrl: 'https://github.com/acme/shop/runs/1' }]),
    ).toMatchInlineSnapshot(`
      "<!-- countersign:status -->
      **✍️ Waiting for a maintainer to countersign** <sub>Chain \`pr-review\` for \`abc1234\` · [details](https://github.com/acme/shop/runs/1)</sub>"
    `);
  });
});

describe('the approval comment', () => {
  it('mentions nobody', () => {
    for (const { state, approval } of Object.values(SCENES)) {
      if (approval)
        expect(approvalComment({ state, approval, pages: NOWHERE, checkRunUrl: null })).not.toContain('@');
    }
  });

  it('says how the app will merge: by the step’s method, otherwise by that of the settings', () => {
    const state = makeState({
      settings: { ...defaultSettings, merge: { method: 'rebase', by: 'app', changes_requested: 'block' } },
    });
    const plain = structuredClone(state);
    for (const step of plain.run.definition.steps) step.with = {};
    expect(approvalComment({ state, pages: NOWHERE, checkRunUrl: null, approval: makeApproval() })).toContain(
      '**squash-merged** into `main`',
    );
    expect(
      approvalComment({ state: plain, pages: NOWHERE, checkRunUrl: null, approval: makeApproval() }),
    ).toContain('**rebased and merged** into `main`');
  });

  it('says that nobody can answer if the settings leave no approving reaction', () => {
    const settings = {
      ...defaultSettings,
      countersign: { ...defaultSettings.countersign, approve: [], reject: [] },
    };
    expect(
      approvalComment({
        state: makeState({ settings }),
        pages: NOWHERE,
        checkRunUrl: null,
        approval: makeApproval(),
      }),
    ).toContain('React to this comment with no reaction (the settings allow none) to merge.');
  });

  it('is written again when somebody edited it', () => {
    const { state } = scene('waiting for a countersign');
    expect(
      approvalComment({
        state,
        pages: NOWHERE,
        checkRunUrl: null,
        approval: makeApproval({ status: 'void', decision: null }),
      }),
    ).toContain('A newer request replaces it.');
  });
});
