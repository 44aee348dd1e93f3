import { expect, onTestFinished, test } from 'vitest';
import type { Shell, ShellEnd } from '../../src/ports/shell.ts';
import { countersign, open, start } from '../scenario/support.ts';
import { only } from '../scenario/support-scene.ts';
import { eachFirstQuick } from '../support/each-first-quick.ts';
import { startStudio } from '../support/served-studio.ts';

const TRY = `
name: flow
trigger: { event: pr.opened }
steps:
  - { id: try, action: shell, requires_approval: true, with: { run: npm test } }
`;

const SHELL_IS_ALLOWED = 'shell: allow\n';

function ending(end: ShellEnd): Shell {
  return { unusable: async () => undefined, run: async () => end };
}

async function opened(shell: Shell) {
  const harness = await start({ files: only({ flow: TRY }, SHELL_IS_ALLOWED), shell });
  const studio = await startStudio(harness);
  onTestFinished(() => studio.stop());
  const { number } = await open(harness);
  await countersign(harness, number);
  const [run] = await harness.app.storage.read.runs.list({ chain: 'flow' });
  if (!run) throw new Error('no run began');
  return { harness, studio, run };
}

/** The lines of the logs that a page shows. */
function linesIn(page: string): string[] {
  return [...page.matchAll(/<pre[^>]*aria-label="Lines of[^>]*>([^<]*)<\/pre>/g)].map(
    ([, text = '']) => text,
  );
}

test('the page of a run shows the last 200 lines of a step’s log without its colours, and links the whole', {
  tags: 'slow',
}, async () => {
  const red = '\u001b[31m';
  const lines = Array.from({ length: 500 }, (_, index) => `${red}line ${index}\u001b[0m\n`);
  const log = `${lines.join('')}<script>\u001b]0;title\u0007\u202e`;
  const { studio, run, harness } = await opened(ending({ kind: 'exited', code: 1, files: [], log }));
  const page = await studio.text(`/runs/${run.id}`);
  const [shown = ''] = linesIn(page);
  expect(shown.split('\n')).toEqual([
    ...Array.from({ length: 199 }, (_, index) => `line ${index + 301}`),
    '&lt;script&gt;⟨U+001B⟩]0;title⟨U+0007⟩⟨U+202E⟩',
  ]);
  const artifacts = await harness.app.storage.read.artifacts.ofRun(run.id);
  const stored = artifacts.find(({ kind }) => kind === 'log');
  expect(page).toContain(`<a href="/artifacts/${stored?.id}">The whole log</a>`);
});

eachFirstQuick([
  ['no line break', 'x'.repeat(200_000), 64_000],
  ['letters of three bytes', '€'.repeat(100_000), 21_333],
  ['only line breaks', '\n'.repeat(1_000), 200],
])('the page of a run shows a bounded end of a log with %s', async (_, log, letters) => {
  const { studio, run } = await opened(ending({ kind: 'exited', code: 0, files: [], log }));
  const [shown = ''] = linesIn(await studio.text(`/runs/${run.id}`));
  expect([shown.length, shown.includes('\ufffd')]).toEqual([letters, false]);
});
