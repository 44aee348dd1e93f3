import type { Json } from '../../../core/canonical.ts';
import type { KNOWN_INPUTS, Module } from '../../../domain/skill/module.ts';
import type { StepContext } from '../../../engine/steps/step.ts';
import type { ModuleFault } from '../../../messages/skills/module.ts';
import type { PullRequestFile } from '../../../ports/github.ts';
import { knownOf, pullRequestFields } from '../../runtime/pull-request.ts';
import { unifiedDiff } from '../code/diff.ts';
import type { Fences } from './fences.ts';
import { inputsSchema, type Values } from './shape.ts';

type Known = { [name in keyof typeof KNOWN_INPUTS]: Json };

/** What this app itself knows. Everything else is untrusted or can quote untrusted text. */
const TRUSTED_INPUTS: readonly string[] = ['repository', 'pull_request', 'head_sha', 'base_branch', 'round'];

/**
 * The values of a module's inputs: facts of the run, and for other names the step's `with:`. After another
 * file of a sequence, `previous` is that file's result.
 */
export async function inputsOf(
  { signature, ...module }: Module,
  step: StepContext,
  files: readonly PullRequestFile[],
  previous?: Json,
): Promise<{ inputs: Values } | { fault: ModuleFault }> {
  const known: Values = {
    ...(await knownInputs(step, files)),
    ...(previous === undefined ? {} : { previous }),
  };
  const inputs: Values = {};
  for (const [name, { type, optional }] of Object.entries(signature.inputs)) {
    const value = Object.hasOwn(known, name) ? known[name] : stepInput(step.inputs, name);
    if (value === undefined && !optional) return { fault: { kind: 'no_such_input', name } };
    if (value === undefined) continue;
    const one = inputsSchema({ ...module, signature: { ...signature, inputs: { [name]: { type } } } });
    if (!one.safeParse({ [name]: value }).success) return { fault: { kind: 'wrong_input', name, type } };
    inputs[name] = value;
  }
  return { inputs };
}

/**
 * The inputs as the sidecar sees them. Its engine treats empty values as missing, and descriptions and labels
 * often are empty.
 */
export function hideUntrusted(inputs: Values, fences: Fences): Values {
  const shown = ([name, value]: [string, Json]): [string, Json] => {
    const seen = TRUSTED_INPUTS.includes(name) ? value : fences.hide(value);
    if (Array.isArray(seen)) return [name, seen.length === 0 ? ['(none)'] : seen];
    return [name, seen === '' ? '(empty)' : seen];
  };
  return Object.fromEntries(Object.entries(inputs).map(shown));
}

async function knownInputs(step: StepContext, files: readonly PullRequestFile[]): Promise<Known> {
  const { title = '', body = '', author = '', branch = '', labels = [] } = await pullRequestFields(step);
  return {
    ...(await knownOf(step)),
    title,
    body,
    author,
    branch,
    labels,
    paths: files.map(({ path }) => path),
    diff: unifiedDiff(files),
  };
}

function stepInput(values: Values, name: string): Json | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
