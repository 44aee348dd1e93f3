import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ListeningApp, startListening } from '../crash/app-process.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';

export interface AppAndGitHub {
  github: GitHubStandIn;
  /** The process that runs now; a test that starts another one stores it here. */
  app: ListeningApp;
  /** Where its database is. */
  folder: string;
}

/**
 * The real app in its own process, and GitHub, for one test; what still runs at its end is ended.
 * @param atEnd Tests that run side by side pass their own `onTestFinished`.
 */
export async function startApp(
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
  how: { endlessPatience?: boolean } = {},
): Promise<AppAndGitHub> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-load-'));
  const github = await startGitHub();
  const world: AppAndGitHub = {
    github,
    folder,
    app: await startListening(github, folder, { program: { kind: 'real', ...how } }),
  };
  // GitHub sends nothing, now or later, to an app without an address, so the address comes first.
  github.setWebhookUrl(world.app.webhookUrl);
  atEnd(async () => {
    world.app.kill();
    await world.app.gone;
    await github.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return world;
}
