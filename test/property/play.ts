import { react } from '../scenario/support.ts';
import { type Harness, REPO, startHarness } from '../support/harness.ts';
import { type DeliveryFate, DeliveryShuffler } from './delivery-order.ts';
import { type EndState, readEndState } from './end-state.ts';
import { type Act, open, perform, type Subject } from './story.ts';

const CHAIN = `name: pr-review
trigger: { event: pr.opened, filter: { draft: false } }
steps:
  - skill: ci
  - action: gh-merge
    condition: "{{ steps[0].outcome.passed }}"
    requires_approval: true
`;

/** More than the wait for a first check, less than the interval at which CI is read without a webhook. */
const TO_SETTLE = 40_000;
/** An approval that has been open for some minutes is polled every ten seconds. */
const A_RECHECK = 12_000;

export interface PlayResult {
  /** When everything was delivered; after all of it was delivered again; and once a maintainer has countersigned. */
  ends: EndState[];
  /** The differences between the app and GitHub. */
  contradictions: string[];
  /**
   * The pull request waits for a maintainer. For others, what people read of the way there differs: a run that would have been
   * superseded may never have started, and checks that are red by now may have been green in between.
   */
  waits: boolean;
}

/** Plays a story to the app with the real deliveries, each by its fate; then again, and somebody countersigns. */
export async function play(story: readonly Act[], fates: readonly DeliveryFate[]): Promise<PlayResult> {
  const harness = await startHarness({ files: { '.github/countersign/chains/pr-review.yaml': CHAIN } });
  const { github, advance } = harness;
  try {
    await github.push({ repo: REPO, branch: 'release', author: 'max' });
    await harness.settle();
    const shuffler = new DeliveryShuffler(harness, fates);
    const subject = await open(harness);
    for (const act of story) {
      await shuffler.goRound();
      await advance(1_500);
      await perform(harness, subject, act);
    }
    while (await shuffler.goRound()) await advance(1_500);
    await advance(TO_SETTLE);
    const delivered = await readEndState(harness, subject.number);
    const waits = shouldWait(harness, subject);
    const contradictions = contradictionsOf(delivered, waits);

    await github.releaseDeliveries('reverse');
    await advance(A_RECHECK);
    const repeated = await readEndState(harness, subject.number);
    if (delivered.question !== undefined) await react(harness, subject.number, 'mia');
    await advance(A_RECHECK);
    const countersigned = await readEndState(harness, subject.number);
    return { ends: [delivered, repeated, countersigned], contradictions, waits };
  } finally {
    await harness.stop();
  }
}

/** Whether, by GitHub's state, only a maintainer's countersign is missing. */
function shouldWait({ github }: Harness, { number, ci }: Subject): boolean {
  const { state, draft, headSha } = github.pullRequest(REPO, number);
  return state === 'open' && !draft && (ci.get(headSha) ?? 'success') === 'success';
}

/** Where the app's state differs from GitHub's. */
function contradictionsOf(
  { pullRequest, run, checkRun, question, leftOver }: EndState,
  waits: boolean,
): string[] {
  const said = [...leftOver];
  if (pullRequest.state === 'closed' || pullRequest.draft) {
    if (run && !run.isOver) said.push(`the pull request is closed or a draft, and a run is ${run.status}`);
    if (question !== undefined) said.push('the pull request is closed or a draft, and a question is open');
    return said;
  }
  if (!run?.isAboutHead || !run.isAboutBase) said.push('no run is about the head and the base');
  if (waits && (run?.status !== 'waiting_approval' || question === undefined)) said.push('nobody is asked');
  if (!waits && checkRun?.conclusion === 'success') said.push('CI is not green, and the check run is');
  return said;
}
