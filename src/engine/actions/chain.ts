import { z } from 'zod';
import { CHAIN_NAME } from '../../domain/chain/chain.ts';
import { readFired } from '../../domain/chain/fired-inputs.ts';
import { MAX_DEPTH } from '../../domain/chain/firing-cycle.ts';
import { cannotWorkOn, workingOfStep } from '../../domain/chain/subject.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { childRunId, childrenAmong, MAX_AMONG } from '../../domain/run/child.ts';
import { isRunOver, type Run, type RunState } from '../../domain/run/run.ts';
import {
  chainEnded,
  tooDeepForChain,
  tooManyForChain,
  waitsForChain,
} from '../../messages/run/chain-step.ts';
import type { StepContext, StepResult } from '../steps/step.ts';
import { type Plan, plainAction } from './action.ts';
import { invalidInput } from './inputs.ts';

/** The end of the run wakes the step. In case that was lost, it looks by itself, in milliseconds. */
const LOOK_AGAIN_MS = 3_600_000;

const value = z.union([z.string(), z.number(), z.boolean()], {
  error: 'the value of an input is a text, a number, true or false',
});

export const chain = plainAction({
  name: 'chain',
  about:
    'Runs another chain, for the same commit and with the same settings, and waits until that run has ended. The other chain must be in force, and its triggers do not matter. The outcome has passed if the run completed, merged if it has a merge, and each outcome of its steps has passed.',
  permissions: [],
  input: z.strictObject({
    chain: z
      .string()
      .regex(CHAIN_NAME, { error: 'a chain is named with small letters, digits and "-"' })
      // Otherwise a title could choose which chain runs.
      .meta({ literal: true })
      .describe('The name of the other chain. Not an expression.'),
    inputs: z.record(z.string(), value).optional().describe('Its [inputs](chains.md#inputs).'),
  }),
  once: 'one run for each attempt at the step',
  async plan(context, { chain: name, inputs = {} }) {
    const begun = await context.childRun();
    if (begun) return isRunOver(begun.run.status) ? ended(begun) : waits(context, begun.run.chain);
    const { run } = context.state;
    if ((run.facts.depth ?? 0) >= MAX_DEPTH) return invalidInput('chain', tooDeepForChain(name, MAX_DEPTH));
    if (childrenAmong(run) > MAX_AMONG) return invalidInput('chain', tooManyForChain(name, MAX_AMONG));
    const found = await context.chainInForce(name);
    if ('because' in found) return invalidInput('chain', found.because);
    const unfit = cannotWorkOn(subjectOf(run), found.chain.steps.map(workingOfStep));
    if (unfit !== undefined) return invalidInput('chain', `in the chain "${name}", ${unfit}`);
    const given = readFired(found.chain, inputs);
    if ('problem' in given)
      return invalidInput('chain', `the chain "${name}" cannot run with these inputs: ${given.problem}`);
    return { ...waits(context, name), begins: { chain: found.chain, ...given } };
  },
});

function subjectOf({ pullRequest, facts }: Run): 'pull request' | 'issue' | 'commit' {
  if (pullRequest !== null) return 'pull request';
  return facts.trigger.issue_number == null ? 'commit' : 'issue';
}

function waits({ clock, session }: StepContext, name: string): Extract<StepResult, { kind: 'waits' }> {
  return {
    kind: 'waits',
    for: 'until',
    until: new Date(clock.now().getTime() + LOOK_AGAIN_MS),
    reason: reason('step.waiting.chain', waitsForChain(name), [
      { kind: 'run', id: childRunId(session.id), label: name },
    ]),
  };
}

function ended(state: RunState): Plan {
  const { run, invocations } = state;
  const outcomes = invocations.flatMap(({ outcome }) => outcome ?? []);
  const isWell = run.status === 'completed' && DONE.includes(run.reason?.code ?? '');
  return {
    kind: 'does',
    summary: chainEnded(run),
    // A missing verdict is none that passed.
    passed: isWell && outcomes.every(({ passed }) => passed === true),
    details: {
      chain: run.chain,
      run_id: run.id,
      status: run.status,
      outcomes: outcomes.map(({ summary }) => summary.slice(0, MAX_SUMMARY)),
    },
    effects: [],
  };
}

/** Not `run.completed.not_merged`, for example. */
const DONE: readonly string[] = ['run.completed', 'run.completed.ended_early'];

/** In UTF-16 units; what is kept of each summary. */
const MAX_SUMMARY = 300;
