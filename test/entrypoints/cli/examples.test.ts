import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTools } from '../../../src/cli-tools.ts';
import { openStorage } from '../../../src/composition/storage.ts';
import { verify } from '../../../src/domain/artifact/verification.ts';
import { parseChain } from '../../../src/domain/chain/parse.ts';
import { defaultSettings } from '../../../src/domain/chain/settings.ts';
import { actorOf } from '../../../src/domain/run/actor.ts';
import { completedReason, doneReason } from '../../../src/domain/run/completed.ts';
import { newRun } from '../../../src/domain/run/new-run.ts';
import type { Session } from '../../../src/domain/run/run.ts';
import { runCli } from '../../../src/entrypoints/cli/command-line.ts';
import { makeReview } from '../../messages/builders.ts';
import { countingIds, pullRequestEvent } from '../../support/builders.ts';
import { ManualClock } from '../../support/clock.ts';
import { eachFirstQuick } from '../../support/each-first-quick.ts';

const docs = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');

/** The examples of the page: each a command line with its whole output. */
const examples = [...docs('cli.md').matchAll(/^```console\n\$ countersign (.+)\n([\s\S]*?)^```$/gm)].map(
  ([, line = '', answer = '']) => ({ line, answer }),
);

/** The chain that docs/contracts.md explains. */
const [, reviewYaml = ''] = /^```yaml chain\n([\s\S]*?)^```$/m.exec(docs('contracts.md')) ?? [];

const FAULTY_YAML = `name: deploy
trigger: { event: pr.merged }
steps:
  - { id: note, action: gh-coment, with: { pr: "{{ trigger.pr_number }}", body: Deployed. } }
`;

const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
const databaseUrl = `sqlite:${join(folder, 'countersign.db')}`;
const clock = new ManualClock('2026-03-02T09:00:00.000Z');
const tools = createTools({ DATABASE_URL: databaseUrl });

beforeAll(async () => {
  const chains = join(folder, '.github/countersign/chains');
  mkdirSync(chains, { recursive: true });
  writeFileSync(join(chains, 'deploy.yaml'), FAULTY_YAML);
  writeFileSync(join(chains, 'review.yaml'), reviewYaml);
  await playRun();
  clock.advance(180_000);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A run of that chain that produces everything except what is optional. */
async function playRun(): Promise<void> {
  const known = await tools.chains();
  const { chain } = parseChain(reviewYaml, 'review.yaml', known.known);
  if (!chain) throw new Error('the chain of docs/contracts.md has errors');
  const storage = await openStorage(databaseUrl, { clock });
  await storage.transaction(async ({ acceptedFindings, deliveries, runs }) => {
    const head = { repositoryId: 70, pullRequest: 7, headSha: 'a'.repeat(40) };
    const more = { severity: 'high', because: 'the table is empty', by: { id: 10, login: 'mia' } } as const;
    const rule = 'sql/drop-column';
    for (const finding of ['f1', 'f2'])
      await acceptedFindings.put({ ...head, ...more, finding, rule, at: clock.now() });
    await acceptedFindings.countFound(
      { repositoryId: 70, pullRequest: 3 },
      new Map([[rule, 3]]),
      clock.now(),
    );
    const [delivery] = await deliveries.record([
      {
        guid: 'g1',
        event: 'pull_request',
        action: 'opened',
        installationId: 1,
        body: new Uint8Array(),
        receivedAt: clock.now(),
        queueKey: 'pr:70#3',
      },
    ]);
    const event = pullRequestEvent();
    const state = newRun(
      {
        id: 'run_01k2x7',
        chain: known.foldContracts(chain, []),
        settings: defaultSettings,
        event,
        deliveryId: delivery?.id ?? null,
        pullRequest: 7,
        headSha: 'abc1234'.padEnd(40, '0'),
        baseRef: 'main',
        baseSha: '0'.repeat(40),
        facts: {
          trigger: {},
          repo: { full_name: 'acme/shop', owner: 'acme', name: 'shop', default_branch: 'main' },
        },
        paused: false,
      },
      countingIds(),
      clock.now(),
    );
    const [step] = state.invocations;
    const contract = state.run.definition.steps[0]?.artifacts ?? null;
    if (!step || !contract) throw new Error('the chain of docs/contracts.md has no contract');
    await runs.insert(state);
    const session: Session = {
      id: 'ses_01k2x8',
      invocationId: step.id,
      attempt: 1,
      status: 'running',
      reason: null,
      contract,
      verification: null,
      startedAt: clock.now(),
      finishedAt: null,
    };
    await runs.insertSession(session);
    Object.assign(step, { status: 'running', sessionId: session.id, startedAt: clock.now() });
    await runs.save(state, actorOf(event, state.run.deliveryId));

    clock.advance(42_000);
    const finishedAt = clock.now();
    const outcome = makeReview({ summary: 'nothing to complain about in 3 files' });
    const log = { path: 'analyzers.log', bytes: Buffer.from('oxlint: 3 files, no findings\n'.repeat(50)) };
    const reason = doneReason({ outcome, artifactId: 'art_01k2x9' });
    const done = { status: 'completed', reason, finishedAt } as const;
    const verification = verify(contract, [log], [outcome], finishedAt);
    await runs.saveSession({ ...session, ...done, verification }, { kind: 'session', id: session.id });
    Object.assign(step, { ...done, outcome });
    Object.assign(state.run, {
      status: 'completed',
      reason: completedReason(state),
      updatedAt: finishedAt,
      finishedAt,
    });
    await runs.save(state, { kind: 'session', id: session.id });
  });
  await storage.close();
}

describe('docs/cli.md', () => {
  eachFirstQuick(examples)('shows the output of `countersign $line`', async ({ line, answer }) => {
    let said = '';
    const hear = (text: string) => {
      said += text;
    };
    await runCli(line.split(' '), { cwd: folder, clock, tools, out: hear, err: hear });
    // An example that begins with `…` shows only the end, because the page shows the rest above.
    const [, end] = /^…\n([\s\S]+)$/.exec(answer) ?? [];
    if (end === undefined) expect(said).toBe(answer);
    else expect(said.endsWith(end)).toBe(true);
  });

  it.each(['run list', 'run show', 'run show run_01k2x7 --history', 'run why', 'chain lint', 'chain show'])(
    'has an example of `countersign %s`',
    (line) => {
      expect(examples.map((example) => example.line)).toContainEqual(expect.stringMatching(`^${line}`));
    },
  );
});
