// @module-tag slow
import { expect, onTestFinished, test } from 'vitest';
import { startAppProcess } from '../crash/app-process.ts';
import { startGitHub } from '../support/github/stand-in.ts';
import { temporaryFolders } from '../support/temp.ts';

const newFolder = temporaryFolders();

async function started(prepare: (github: Awaited<ReturnType<typeof startGitHub>>) => void) {
  const github = await startGitHub();
  onTestFinished(() => github.stop());
  prepare(github);
  const app = startAppProcess(github, newFolder(), { kind: 'real' });
  onTestFinished(() => app.stop());
  await app.webhookUrl;
  return app;
}

test('an app that starts names what is wrong with its set-up, and what to do', async () => {
  const app = await started(() => {});
  await expect.poll(() => app.log.join('\n')).toContain('The App is installed nowhere.');
  expect(app.log.find((line) => line.includes('installed nowhere'))).toMatch(/"todo":"Install it: http/);
});

test('an app that starts says that nothing is wrong with its set-up', async () => {
  const app = await started((github) => {
    github.addOrganization('octo');
    github.addRepository({ owner: 'octo', name: 'app', files: { 'README.md': '# App\n' } });
    github.installApp('octo');
    github.setWebhookUrl('http://127.0.0.1:9/');
    github.requireChecks('octo/app', 'main', [{ context: 'countersign: main', app: github.app.slug }]);
  });
  await expect.poll(() => app.log.join('\n')).toContain('the check of the set-up found nothing wrong');
});
