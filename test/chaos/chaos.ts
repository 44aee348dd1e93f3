import { WEBHOOK_PATH } from '../../src/config/webhook-path.ts';
import { withoutReview } from '../crash/stories.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type Actors, openWithActors } from './actors.ts';
import { problemsOf } from './compare.ts';
import { type DeliveryProxy, startDeliveryProxy } from './delivery-proxy.ts';
import { draw } from './draw.ts';
import { injectFaults } from './github-faults.ts';
import { STORIES, type StoryName } from './story.ts';

export interface ChaosOptions {
  seed: number;
  pullRequests: number;
  /** Owners with a repository each, because GitHub's limits apply per installation. */
  owners: number;
  /** Shares, from 0 to 1. */
  failing: number;
  lost: number;
  doubled: number;
  delayed: number;
  /** How often the app is restarted on the way. */
  restarts: number;
  /** Interval at which pull requests open, in milliseconds of the simulation: many are open at the same time, and not all. */
  opensEveryMs: number;
  /** How long after the last fault everything must be correct, in minutes. */
  calmMinutes: number;
}

export interface ChaosReport {
  seed: number;
  /** What is not as it must be, as sentences. */
  wrong: string[];
  merged: number;
  requests: number;
  /** Those of them that were made while calls failed; afterwards no call fails. */
  stormy: number;
  failed: Record<string, number>;
  deliveries: number;
  mishaps: Record<string, number>;
  simulatedHours: number;
  seconds: number;
}

const MINUTE = 60_000;
const TICK_MS = 5_000;
/** How long calls still fail after the last pull request opens, in milliseconds. */
const LAST_MS = 5 * MINUTE;
/**
 * An answer that takes longer than this counts as missing, in the machine's milliseconds, so that hours of chaos take minutes.
 */
const GITHUB_TIMEOUT_MS = 250;

/** Lets people and CI act out their stories while calls fail and deliveries get lost, then stops the faults and compares. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const begun = performance.now();
  const harness = await startHarness({
    github: { timeoutMs: GITHUB_TIMEOUT_MS, mergeTimeoutMs: GITHUB_TIMEOUT_MS },
  });
  const { github, clock } = harness;
  const repositories = found(harness, options.owners);
  const deliveryProxy = await startDeliveryProxy({ ...options, clock });
  const connect = () => {
    deliveryProxy.forwardTo(`${harness.app.url}${WEBHOOK_PATH}`);
    github.setWebhookUrl(deliveryProxy.url);
  };
  connect();
  const start = clock.now().getTime();
  const allActors: Actors[] = [];
  const faults = injectFaults(github, { seed: options.seed, rate: options.failing, isYoung });

  /** GitHub's replicas may lag for some seconds; a pull request's own page is what the app reads first. */
  function isYoung(path: string): boolean {
    const [, repo, number] = /^\/repos\/([^/]+\/[^/]+)\/pulls\/(\d+)$/.exec(path) ?? [];
    const actors = allActors.find((one) => one.repo === repo && one.number === Number(number));
    return repo !== undefined && (!actors || clock.now().getTime() - actors.openedAt.getTime() < 10_000);
  }

  const restartAfter = Math.ceil(options.pullRequests / (options.restarts + 1));
  for (let index = 0; index < options.pullRequests; index++) {
    if (index > 0 && index % restartAfter === 0) {
      await harness.restart();
      connect();
    }
    allActors.push(
      await openWithActors(github, clock, {
        repo: repositories[index % repositories.length] ?? '',
        name: `part-${index}`,
        story: STORIES[storyOf(options.seed, index)],
      }),
    );
    await live(harness, deliveryProxy, allActors, options.opensEveryMs);
  }
  await live(harness, deliveryProxy, allActors, LAST_MS);

  faults.clear();
  const stormy = github.requests.length;
  deliveryProxy.stopFaults();
  await deliveryProxy.deliver('all');
  await live(harness, deliveryProxy, allActors, options.calmMinutes * MINUTE);

  const wrong = [
    ...(await Promise.all(allActors.map((actors) => problemsOf(harness, actors)))).flat(),
    ...harness.faultyRequests,
  ];
  const report: ChaosReport = {
    seed: options.seed,
    wrong,
    merged: github.merges.length,
    requests: github.requests.length,
    stormy,
    failed: faults.counts(),
    deliveries: github.deliveries.length,
    mishaps: deliveryProxy.counts(),
    simulatedHours: Number(((clock.now().getTime() - start) / 3_600_000).toFixed(1)),
    seconds: Math.round((performance.now() - begun) / 1_000),
  };
  await harness.stop();
  await deliveryProxy.stop();
  return report;
}

/** Each kind of story in turn from a drawn one on, so that few pull requests cover many of them. */
function storyOf(seed: number, index: number): StoryName {
  const names = Object.keys(STORIES) as StoryName[];
  const first = Math.floor(draw(seed, 'first story') * names.length);
  return names[(first + index) % names.length] ?? 'countersigned';
}

function found({ github }: Harness, owners: number): string[] {
  return Array.from({ length: owners }, (_, index) => {
    const owner = `owner-${index}`;
    github.addOrganization(owner);
    github.addRepository({
      owner,
      name: 'app',
      files: { 'README.md': '# App\n', ...withoutReview.base },
      collaborators: { mia: 'maintain', max: 'admin', ada: 'write', will: 'write' },
    });
    github.installApp(owner);
    return `${owner}/app`;
  });
}

/** Lets so much time pass, while everybody does what they can. */
async function live(
  harness: Harness,
  deliveryProxy: DeliveryProxy,
  allActors: readonly Actors[],
  ms: number,
): Promise<void> {
  const end = harness.clock.now().getTime() + ms;
  while (harness.clock.now().getTime() < end) {
    // One of hundreds of pull requests is always about to change: people and CI must not wait for a moment when none is.
    await harness.advance(TICK_MS, 0);
    await deliveryProxy.deliver('due');
    for (const actors of allActors) {
      if (actors.waitsFor()) await actors.goOn();
    }
  }
}
