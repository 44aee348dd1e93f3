import { describe, expect, it } from 'vitest';
import { explain, explainText } from '../../src/domain/run/explain.ts';
import { checkRunContent } from '../../src/messages/check-run/check-run.ts';
import { approvalComment } from '../../src/messages/comments/approval-comment.ts';
import { statusComment } from '../../src/messages/comments/status-comment.ts';
import { at, NOWHERE } from './builders.ts';
import { SCENES, type Scene } from './scenes.ts';

/**
 * Everything that people see of a run at one moment, on one page for a reader. Kept as .txt, because formatters rewrite the
 * tables of .md files.
 */
function page({ state, approval }: Scene): string {
  const check = checkRunContent({
    state,
    approval,
    pages: { github: 'https://github.com' },
    now: at('13:00'),
  });
  const ending = check.state.status === 'completed' ? check.state.conclusion : check.state.status;
  return [
    '=== STATUS COMMENT ===',
    statusComment([{ state, approval, checkRunUrl: 'https://github.com/acme/shop/runs/1' }]),
    ...(approval === null
      ? []
      : [
          '=== APPROVAL COMMENT ===',
          approvalComment({
            state,
            approval,
            checkRunUrl: 'https://github.com/acme/shop/runs/1',
            pages: NOWHERE,
          }),
        ]),
    `=== CHECK RUN: ${check.name} · ${ending} · ${check.title} ===`,
    check.summary,
    ...(check.text === '' ? [] : ['--- text ---', check.text]),
    `--- buttons: ${check.actions.map(({ label }) => label).join(', ') || 'none'} ---`,
    ...check.annotations.map(
      (note) => `--- ${note.path}:${note.start_line} ${note.level} · ${note.title}\n${note.message}`,
    ),
    '=== WHY ===',
    explainText(explain(state, approval)),
    '',
  ].join('\n');
}

describe('what people read', () => {
  it.each(Object.entries(SCENES))('is unchanged for the scene: %s', async (name, scene) => {
    await expect(page(scene)).toMatchFileSnapshot(`snapshots/${name.replaceAll(/[^A-Za-z]+/g, '-')}.txt`);
  });
});
