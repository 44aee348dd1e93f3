import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ListeningApp, startListening } from '../crash/app-process.ts';
import { type GitHubStandIn, startGitHub } from '../support/github/stand-in.ts';

export interface World {
  github: GitHubStandIn;
  /** The one that runs now; a test that starts another puts it here. */
  app: ListeningApp;
  /** Where its database is. */
  folder: string;
}

/**
 * The real app in a process of its own, and GitHub, for one test; whatever runs at its end is ended.
 * @param atEnd Tests that run side by side hand in their own `onTestFinished`.
 */
export async function startApp(
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
  how: { endlessPatience?: boolean } = {},
): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-load-'));
  const github = await startGitHub();
  const world: World = { github, folder, app: await startListening(github, folder, how) };
  // An app without an address is told of nothing, now or later: it comes before anything happens.
  github.setWebhookUrl(world.app.webhookUrl);
  atEnd(async () => {
    world.app.kill();
    await world.app.gone;
    await github.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return world;
}
