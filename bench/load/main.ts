import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { databaseIn, startListening } from '../../test/crash/app-process.ts';
import { burst, GITHUB_WAITS_MS } from '../../test/load/burst.ts';
import { peakMemoryMb } from '../../test/load/process-facts.ts';
import { createRepositories, sendOtherEvents, signedDeliveries } from '../../test/load/repositories.ts';
import { readRows } from '../../test/load/rows.ts';
import { startGitHub } from '../../test/support/github/stand-in.ts';
import { until } from '../../test/support/until.ts';

/**
 * One burst against the real process: how long the last sender waits, how long until everything is processed,
 * how much memory it takes, and how long the shutdown takes. Fails if a sender waits longer than GitHub does,
 * or is refused. The reference is GitHub's time limit, not another server.
 */
const { values: options } = parseArgs({
  options: {
    deliveries: { type: 'string', default: '2000' },
    bytes: { type: 'string', default: String(24 * 1_024) },
    connections: { type: 'string', default: '200' },
    'pull-requests': { type: 'string', default: '0' },
  },
});
const count = Number(options.deliveries);
const folder = mkdtempSync(join(tmpdir(), 'countersign-load-'));
const github = await startGitHub();
const app = await startListening(github, folder);
try {
  github.setWebhookUrl(app.webhookUrl);
  const repositories = await createRepositories(github, {
    repositories: 20,
    pullRequests: Number(options['pull-requests']),
  });
  await sendOtherEvents(github, repositories, Math.max(0, count - github.deliveries.length));
  const deliveries = signedDeliveries(github, Number(options.bytes)).slice(0, count);

  const sent = await burst(app.webhookUrl, deliveries, { connections: Number(options.connections) });
  const answered = performance.now();
  const taken = sent.statuses[202] ?? 0;
  await until(
    'all deliveries to be done',
    () => (readRows(databaseIn(folder)).deliveries.done === taken ? true : undefined),
    { timeoutMs: 600_000 },
  );
  const processedMs = Math.round(performance.now() - answered);
  const peakMb = peakMemoryMb(app.pid);
  const stopSignalAt = performance.now();
  await app.stop();
  console.table({
    'answers by status': JSON.stringify(sent.statuses),
    'last answer after (ms)': sent.lastAnswerMs,
    'all processed after that (ms)': processedMs,
    'most memory, VmHWM (MB)': peakMb,
    'stopped after (ms)': Math.round(performance.now() - stopSignalAt),
  });
  process.exitCode = taken === deliveries.length && sent.lastAnswerMs < GITHUB_WAITS_MS ? 0 : 1;
} finally {
  app.kill();
  await github.stop();
  rmSync(folder, { recursive: true, force: true });
}
