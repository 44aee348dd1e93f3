import { openBlobs } from '../../../src/composition/blobs.ts';
import type { Settings } from '../../../src/domain/chain/settings.ts';
import type { Effect } from '../../../src/domain/effect/effect.ts';
import type { Explanation } from '../../../src/domain/explanation/explanation.ts';
import { type Reason, reason } from '../../../src/domain/explanation/reason.ts';
import { withHash } from '../../../src/domain/outcome/base.ts';
import { knownOutcomeSchema } from '../../../src/domain/outcome/outcome.ts';
import { approvalKey } from '../../../src/domain/policy/approval.ts';
import type { Run, RunState } from '../../../src/domain/run/run.ts';
import { outcomesOfEachKind } from '../../messages/studio/outcomes.ts';
import type { Harness } from '../harness.ts';
import { approval, invocation, run, session } from '../rows.ts';

/** Where something hostile is shown: values for the parameters of Studio's paths, by their names. */
export interface HostilePlace {
  text: string;
  number: string;
  run: string;
  /** Its steps. */
  steps: string[];
  /** Outcomes of each kind, of unknown ones, and files. */
  artifacts: string[];
  chain: string;
  skill: string;
  guid: string;
  /** What somebody asked for. */
  command: string;
}

export interface WhereToStore {
  id: number;
  installationId: number;
  /** Who asked for something. */
  personId: number;
  /** `app` if absent. */
  name?: string;
  /** Of the chain; one of its own if absent. */
  chain?: string;
}

const SECOND = 1_000;

/** What every image of that type begins with. */
const PNG = Buffer.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/**
 * Stores the text wherever the database has room for a text of somebody else: also where GitHub or a check before it would refuse
 * it, because a page must not depend on that.
 * @param at makes the places differ
 */
export async function storeEverywhere(
  { app: { storage }, clock, config }: Pick<Harness, 'app' | 'clock' | 'config'>,
  repository: WhereToStore,
  text: string,
  at: number,
): Promise<HostilePlace> {
  const now = clock.now();
  const later = (seconds: number) => new Date(now.getTime() + seconds * SECOND);
  const id = `run_hostile${at}`;
  const number = 1_000 + at;
  const { name = 'app', chain = `hostile-${at}` } = repository;
  const fullName = `octo/${name}`;
  const headSha = at.toString(16).padStart(40, 'f');
  const guid = `${text.slice(0, 200).toWellFormed()} ${at}`;
  // It is in an address.
  const skill = text.slice(0, 500);
  const because = hostileReason(text);
  const place = { installation_id: repository.installationId, owner: 'octo', repo: name };
  const outcomes = outcomesOfEachKind(text.slice(0, 1_000));
  const review = knownOutcomeSchema.parse(outcomes[0]);
  const name60 = text.slice(0, 200);
  const steps = [`${name60} one`, `${name60} two`, 'three'];
  const definition = {
    name: chain,
    description: text,
    trigger: { event: 'pr.opened', filter: { base: text } },
    steps: steps.map((step, index) => ({
      ...run(id).definition.steps[0],
      id: step,
      index,
      uses: { kind: index === 2 ? 'action' : 'skill', name: index === 2 ? 'gh-merge' : text },
      dependsOn: steps.slice(0, index),
      condition: text,
      with: { [text]: text, deep: { [text]: [text] } },
      requiresApproval: index === 2,
      ...(index === 2 && { approval: { question: text, users: [text], teams: [text] } }),
    })),
  } as unknown as Run['definition'];

  const blobs = openBlobs(config.artifactsUrl);
  const files = [`hostile/${at}/log`, `hostile/${at}/file`, `hostile/${at}/image`] as const;
  for (const [file, path] of files.entries())
    await blobs.put(path, Buffer.concat([file === 2 ? PNG : Buffer.of(), Buffer.from(`${text}\n${text}\n`)]));

  await storage.transaction(async (tx) => {
    const [delivery] = await tx.deliveries.record([
      {
        guid,
        event: text,
        action: text,
        installationId: repository.installationId,
        body: Buffer.from(JSON.stringify({ text })),
        receivedAt: now,
        queueKey: null,
      },
    ]);
    const deliveryId = delivery?.id ?? null;
    if (deliveryId !== null) await tx.deliveries.setStatus(deliveryId, 'failed', now, text);
    await tx.pullRequests.upsert(
      {
        repositoryId: repository.id,
        number,
        repository: fullName,
        installationId: repository.installationId,
        pausedBy: text,
        headSha,
        previousHeadSha: null,
        headSeenAt: now,
        updatedAt: now,
        about: { title: text, author: { id: 90_000 + at, login: text } },
      },
      { state: 'open', at: now },
    );
    const begun: RunState = {
      run: run(id, {
        installationId: repository.installationId,
        repositoryId: repository.id,
        repository: fullName,
        pullRequest: number,
        headSha,
        baseRef: text,
        chain,
        definition,
        settings: {
          noise: 'quiet',
          countersign: {
            permission: 'maintain',
            teams: [text],
            users: [text],
            count: 1,
            approve: ['rocket'],
            reject: ['-1'],
          },
          note: text,
        } as unknown as Settings,
        facts: {
          trigger: { pr_number: number, title: text, labels: [text], author: text, body: text },
          repo: { full_name: fullName, owner: 'octo', name, default_branch: text },
          inputs: { [text]: text },
          governed: { branch: text, because: text },
          parent: { run: id, chain: text, step: text, above: [] },
        },
        event: {
          kind: 'command.issued',
          installation_id: repository.installationId,
          repository: { id: repository.id, owner: 'octo', name },
          pull_request: number,
          actor: text,
          text,
          via: { kind: 'comment', comment_id: 1, created_at: text },
        },
        deliveryId,
        createdAt: now,
        updatedAt: now,
      }),
      invocations: steps.map((stepId, index) => invocation(id, index, { stepId })),
    };
    await tx.runs.insert(begun);
    const [first, second, third] = begun.invocations;
    if (!first || !second || !third) throw new Error('there are three steps');
    for (const step of begun.invocations)
      await tx.runs.insertSession(
        session(`ses_${step.id}`, step.id, {
          status: step === third ? 'waiting' : 'failed',
          reason: because,
          startedAt: now,
          finishedAt: step === third ? null : later(1),
        }),
      );
    await tx.runs.save(
      {
        run: { ...begun.run, status: 'waiting_approval', reason: because, updatedAt: later(3) },
        invocations: [
          {
            ...first,
            status: 'completed',
            reason: because,
            sessionId: `ses_${first.id}`,
            outcome: review,
            outcomeArtifactId: `art_hostile${at}_0`,
            startedAt: now,
            finishedAt: later(1),
          },
          { ...second, status: 'failed', reason: because, startedAt: now, finishedAt: later(2) },
          {
            ...third,
            status: 'waiting_approval',
            reason: because,
            sessionId: `ses_${third.id}`,
            startedAt: later(2),
          },
        ],
      },
      { kind: 'person', login: text },
    );
    await tx.sessionLogs.append({
      runId: id,
      sessionId: `ses_${third.id}`,
      begunAt: now,
      text: `${text}\n`,
      isFirst: true,
    });
    const asked = approval(`apr_hostile${at}`, id, {
      invocationId: third.id,
      headSha,
      baseRef: text,
      askedAt: later(2),
      countersignedBy: [text],
      rejectedBy: [{ id: 1, login: text }],
      answers: [{ person: { id: 1, login: text }, says: 'approve', at: now.toISOString() }],
      decision: hostileExplanation(text),
    });
    await tx.approvals.insert(asked);
    await tx.approvals.save(asked);

    const kinds = [
      ...outcomes,
      {
        outcome_kind: 'octo/own',
        summary: text,
        passed: false,
        data: { [text]: text, list: [[text]] },
      },
      { outcome_kind: text, [text]: { [text]: [text, { [text]: null }] } },
    ].map((one) => withHash(one));
    await tx.artifacts.insert(
      ...kinds.map((content, kind) => ({
        id: `art_hostile${at}_${kind}`,
        runId: id,
        invocationId: kind % 2 === 0 ? first.id : second.id,
        sessionId: `ses_${first.id}`,
        createdAt: now,
        kind: content.outcome_kind,
        name: text,
        content: JSON.stringify(content),
        filePath: null,
      })),
      ...files.map((filePath, file) => ({
        id: `art_hostile${at}_file${file}`,
        runId: id,
        invocationId: third.id,
        sessionId: `ses_${third.id}`,
        createdAt: now,
        kind: file === 0 ? 'log' : 'file',
        name: text,
        content: null,
        filePath,
      })),
    );
    for (const [kind, effect] of hostileEffects(text, place, number).entries()) {
      const key = `${text}:${third.id}:${kind}`;
      await tx.effects.request({ id: `eff_hostile${at}_${kind}`, key, effect, runId: id, at: now });
      const row = await tx.effects.get(key);
      if (row)
        await tx.effects.saveProgress({
          ...row,
          status: kind % 2 === 0 ? 'failed' : 'done',
          error: text,
          progress: { url: text, result: text },
        });
    }
    await tx.effects.request({
      id: `eff_hostile${at}_question`,
      key: approvalKey(asked.id),
      effect: { kind: 'comment', ...place, issue: number, marker: text, body: text, approval_id: asked.id },
      runId: id,
      at: now,
    });
    await tx.chains.put({
      id: `chn_hostile${at}`,
      owner: 'octo',
      repository: at % 2 === 0 ? name : null,
      name: chain,
      definition: `name: ${chain}\n# ${text}\ndescription: ${JSON.stringify(text)}\n`,
      status: 'paused',
      createdAt: now,
      updatedAt: now,
    });
    await tx.schedules.put({
      repositoryId: repository.id,
      chain,
      trigger: text,
      installationId: repository.installationId,
      repository: fullName,
      schedule: { cron: text, tz: text } as never,
      nextAt: later(86_400),
    });
    await tx.firings.insert({
      id: `fir_hostile${at}`,
      repositoryId: repository.id,
      chain: `skipped-${at}`,
      trigger: text,
      occasion: `${at}`,
      installationId: repository.installationId,
      repository: fullName,
      status: 'skipped',
      reason: 'too_old',
      summary: text,
      count: 1,
      runId: `run_none${at}`,
      pullRequest: number,
      dueAt: now,
      updatedAt: now,
    });
    await tx.skills.keep({
      id: `skl_hostile${at}`,
      name: skill,
      description: text,
      version: text,
      tags: [text],
      // That of a repository is known only to those who see a run with it.
      source: name === 'app' ? 'community' : 'user',
      author: text,
      intentPatterns: [text],
      triggerPhrases: [text],
      marketplaceId: text,
      syncEtag: text,
      createdAt: now,
      updatedAt: now,
      artifacts: [],
    });
    await tx.skillTraces.insert({
      of: { runId: id, sessionId: `ses_${first.id}` },
      skill,
      skillId: `skl_hostile${at}`,
      artifact: text,
      kind: 'prompt_template',
      inputPath: files[0],
      outputPath: null,
      error: text,
      startedAt: now,
      completedAt: later(1),
      tokens: { input: 1, output: 1 },
      model: text,
      cost: 1,
      assertionsRun: 0,
      assertionsPassed: 0,
    });
    const call = await tx.modelCalls.begin({
      runId: id,
      sessionId: `ses_${first.id}`,
      repositoryId: repository.id,
      pullRequest: number,
      skill: text,
      artifact: text,
      model: text,
      tokens: 1,
      cost: 1,
      startedAt: now,
    });
    await tx.modelCalls.end(call, { tokens: null, cost: 1, completedAt: now, error: text });
    for (const what of ['waited', 'countersigned', 'rejected'] as const)
      tx.insight.add({ what, repositoryId: repository.id, name: text, at: now, amount: 5 });
    await tx.studioCommands.insert({
      id: `cmd_hostile${at}`,
      personId: repository.personId,
      repositoryId: repository.id,
      askedAt: now,
    });
    await tx.studioCommands.answer(`cmd_hostile${at}`, { ok: at % 2 === 0, text });
    await tx.apiTokens.insert({
      id: `tok_hostile${at}`,
      name: text,
      hash: at.toString(16).padStart(64, '0'),
      scopes: ['read'],
      repositoryIds: [repository.id],
      owner: { id: repository.personId, login: text },
      createdAt: now,
      expiresAt: later(86_400),
      revokedAt: null,
      usedAt: null,
    });
  });

  return {
    text,
    number: String(number),
    run: id,
    steps,
    artifacts: [
      ...Array.from({ length: outcomes.length + 2 }, (_, kind) => `art_hostile${at}_${kind}`),
      `art_hostile${at}_file0`,
      `art_hostile${at}_file1`,
      `art_hostile${at}_file2`,
    ],
    chain,
    skill,
    guid,
    command: `cmd_hostile${at}`,
  };
}

function hostileReason(whole: string): Reason {
  // Each is there many times.
  const text = whole.slice(0, 2_000);
  return {
    ...reason('step.failed.error' as Reason['code'], text, [
      { kind: 'url', id: text, label: text, url: text },
      { kind: 'check', id: text, label: text, url: `https://ci.example/${text}` },
      { kind: 'person', id: text, label: text },
      { kind: 'commit', id: text, label: text },
      { kind: 'run', id: text, label: text },
      { kind: 'artifact', id: text, label: text },
      { kind: 'comment', id: text, label: text },
    ]),
    summary: text,
    decision: hostileExplanation(text),
  };
}

function hostileExplanation(text: string): Explanation {
  const leaf = {
    status: 'unmet',
    summary: text,
    evidence: [text, { kind: 'url', id: text, label: text, url: text }],
    reasons: [],
  } satisfies Explanation;
  return { ...leaf, reasons: [leaf, { ...leaf, status: 'pending', reasons: [leaf] }] };
}

function hostileEffects(
  text: string,
  place: { installation_id: number; owner: string; repo: string },
  issue: number,
): Effect[] {
  return [
    { kind: 'comment', ...place, issue, marker: text, body: text },
    { kind: 'label', ...place, issue, labels: [text] },
    { kind: 'assignment', ...place, issue, people: [text] },
    { kind: 'milestone', ...place, issue, milestone: { number: 1, title: text } },
    { kind: 'branch_deletion', ...place, branch: text, sha: text },
    { kind: 'webhook', ...place, webhook: text, text },
    { kind: 'review_request', ...place, pull_request: issue, people: [text], teams: [text] },
    {
      kind: 'status',
      ...place,
      sha: text,
      context: text,
      state: 'error',
      description: text,
      target_url: text,
    },
    {
      kind: 'dispatch',
      ...place,
      workflow: text,
      branch: text,
      inputs: { [text]: text },
      requested_at: '2026-01-01T00:00:00Z',
    },
    {
      kind: 'release',
      ...place,
      tag: text,
      sha: text,
      name: text,
      body: text,
      draft: false,
      prerelease: false,
    },
    {
      kind: 'merge',
      ...place,
      pull_request: issue,
      head_sha: text,
      base_ref: text,
      method: 'squash',
      countersigned_by: [text],
    },
  ];
}
