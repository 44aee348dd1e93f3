import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { readBaseConfig } from '../../config/config.ts';
import { messageOf } from '../../core/errors.ts';
import { neverShow, redact } from '../../core/redact/redact.ts';
import type { RunState } from '../../domain/run/run.ts';
import { shownDryRun, shownSteps } from '../../messages/studio/shown-dry-run.ts';
import type { DryRunAsked, DryRunEnd, DryRunFailure } from '../../ports/dry-runs.ts';
import { GitHubError, type GitHubErrorKind, SignInRefused } from '../../ports/github.ts';
import { killStartedBy } from '../../sandbox/started.ts';
import { dryRun } from '../dry-run.ts';
import type { DryRunOrder, FromDryRun } from './dry-run-messages.ts';

const FAILURES: Readonly<Record<GitHubErrorKind, DryRunFailure>> = {
  not_found: 'hidden',
  forbidden: 'github_refuses',
  rate_limited: 'rate_limited',
  invalid: 'github_refuses',
  unavailable: 'no_answer',
};

/** Pages and the engine come first. */
const NICENESS = 15;

/**
 * The process of a dry run in Studio: it knows the token of the person who asked, and no secret of the app. What the
 * dry run leaves dies with it.
 */
export async function runDryRun(input: Readable, output: Writable): Promise<void> {
  setPriority(NICENESS);
  const stop = new AbortController();
  const lines = createInterface({ input });
  const order = new Promise<DryRunOrder>((resolve, reject) => {
    lines.once('line', (line) => {
      resolve(JSON.parse(line));
      lines.once('line', () => stop.abort());
    });
    lines.once('close', () => {
      stop.abort();
      reject(new Error('nothing was asked'));
    });
  });
  const send = (message: FromDryRun) => void output.write(`${JSON.stringify(message)}\n`);
  send({ kind: 'ended', end: await played(await order, stop.signal, send) });
  // What a step started and did not end, such as a program of a skill.
  killStartedBy(process.pid);
}

async function played(
  { asked, token, settings }: DryRunOrder,
  signal: AbortSignal,
  send: (message: FromDryRun) => void,
): Promise<DryRunEnd> {
  neverShow('GitHub token', token);
  const read = readBaseConfig(settings);
  if (!read.ok) throw new Error(read.diagnostics.join(' '));
  try {
    const [one] = await dryRun(read.config, token, {
      ...requestOf(asked),
      onProgress: changes(send),
      signal,
    });
    if (!one) throw new Error('nothing was played');
    return { kind: 'done', shown: shownDryRun(one) };
  } catch (error) {
    if (signal.aborted) return { kind: 'failed', because: 'stopped' };
    if (error instanceof SignInRefused) return { kind: 'failed', because: 'token_refused' };
    if (error instanceof GitHubError) return { kind: 'failed', because: FAILURES[error.kind] };
    send({ kind: 'broken', detail: redact(messageOf(error)) });
    return { kind: 'failed', because: 'broken' };
  }
}

function requestOf({ repo, pullRequest, chain, text, fire, stored }: DryRunAsked) {
  return {
    repo,
    pullRequests: { numbers: [pullRequest] },
    chain: { name: chain, ...(text !== undefined && { files: [{ name: chain, text }] }) },
    ...(fire && { fire }),
    stored: stored.map((row) => ({
      ...row,
      createdAt: new Date(row.createdAt),
      updatedAt: new Date(row.updatedAt),
    })),
  };
}

/** Sends all steps when one of them changed. */
function changes(send: (message: FromDryRun) => void): (state: RunState) => void {
  const states = new Map<string, RunState>();
  let last = '';
  return (state) => {
    states.set(state.run.id, state);
    const steps = shownSteps([...states.values()]);
    const text = JSON.stringify(steps);
    if (text !== last) send({ kind: 'steps', steps });
    last = text;
  };
}
