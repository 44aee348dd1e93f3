import { z } from 'zod';
import { unfitPathReason } from '../../domain/artifact/place.ts';
import { listOrOne } from '../../domain/chain/shape.ts';
import { reason } from '../../domain/explanation/reason.ts';
import { placeOfEffect } from '../runs/run-view.ts';
import type { StepContext } from '../steps/step.ts';
import { workflowArchive, workflowFiles } from '../steps/workflow-files.ts';
import { failedWrite, keyOf, plainAction } from './action.ts';
import { invalidInput, pullRequestInput } from './inputs.ts';

/** https://docs.github.com/en/rest/actions/workflows#create-a-workflow-dispatch-event, and …/events-that-trigger-workflows */
const MAX_INPUTS = 25;
const MAX_INPUT_LETTERS = 65_535;
const MAX_ARTIFACTS = 5;

/** How often the run is read: often while it could end soon, in milliseconds. An unchanged answer costs nothing of GitHub's limit. */
const SOON_MS = 120_000;
const OFTEN_MS = 10_000;
const SELDOM_MS = 120_000;

const file = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9_-][A-Za-z0-9._-]*\.ya?ml$/, {
    error: 'a workflow is named by its file, such as deploy.yml',
  });
const artifact = z
  .string()
  .max(100)
  .refine((name) => unfitPathReason(name) === undefined && !name.includes('/'), {
    error: 'an artifact is named without folders',
  });

export const ghDispatch = plainAction({
  name: 'gh-dispatch',
  about:
    'Starts a workflow of GitHub Actions (`on: workflow_dispatch`), waits until it has ended, and takes its artifacts. The outcome has passed if the workflow succeeded. It runs on the base branch or the default branch, because it has the repository’s secrets.',
  permissions: ['actions: write'],
  input: z.strictObject({
    ...pullRequestInput,
    workflow: file
      .describe('Its file in `.github/workflows`, such as `deploy.yml`. Not an expression.')
      .meta({ literal: true }),
    branch: z
      .enum(['base', 'default'])
      .optional()
      .describe('Where it runs: the run’s base branch, or the default branch, which is used if left out.'),
    inputs: z
      .record(
        z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_-]{0,99}$/, { error: 'an input has a name like an identifier' }),
        z.union([z.string().max(MAX_INPUT_LETTERS), z.number(), z.boolean()], {
          error: 'the value of an input is a text, a number, true or false',
        }),
      )
      .refine((inputs) => Object.keys(inputs).length <= MAX_INPUTS, { error: `at most ${MAX_INPUTS} inputs` })
      .optional()
      .describe(
        'The inputs that the workflow declares, at most 25. A workflow must not put a value from a pull request into a script.',
      ),
    artifacts: listOrOne(artifact, { most: MAX_ARTIFACTS })
      .optional()
      .describe(
        'The artifacts of the workflow whose files the step keeps, as `<artifact>/<path>`. At most 5.',
      ),
  }),
  once: 'one run of the workflow for each attempt at the step; if GitHub’s answer is lost and there is a run that could be it, the step fails and says so',
  async plan(context, { workflow, branch: which = 'default', inputs = {} }) {
    const { state, step, repo, reader, clock } = context;
    const { run } = state;
    // Otherwise a title could choose which workflow runs with the secrets.
    if (/\{[{%]/.test(String(step.with.workflow)))
      return invalidInput('gh-dispatch', '"workflow" is written in full, not as an expression');
    const given = Object.entries(inputs).map(([name, value]) => [name, String(value)] as const);
    const letters = given.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
    if (letters > MAX_INPUT_LETTERS)
      return invalidInput(
        'gh-dispatch',
        `the inputs have ${letters} characters, and ${MAX_INPUT_LETTERS} are allowed`,
      );
    const branch = which === 'base' ? run.baseRef : run.facts.repo.default_branch;
    if ((await reader.branchTip(repo, branch)) === undefined)
      return invalidInput('gh-dispatch', `there is no branch ${branch}`);
    const [known] = await ownEffect(context);
    return {
      kind: 'does',
      summary: `starts ${workflow} on ${branch}`,
      details: { workflow, branch },
      effects: [
        {
          key: keyOfSession(context),
          effect: {
            kind: 'dispatch',
            ...placeOfEffect(run),
            workflow,
            branch,
            inputs: Object.fromEntries(given),
            // The same for an attempt that is made again.
            requested_at:
              known?.effect.kind === 'dispatch' ? known.effect.requested_at : clock.now().toISOString(),
          },
        },
      ],
    };
  },
  async finish(context, rows, { artifacts = [] }) {
    const { reader, repo, clock, session } = context;
    const row = rows.find(({ key }) => key === keyOfSession(context));
    const failure = failedWrite('gh-dispatch', row);
    // Not retryable: another attempt would start it again, and this one may be running.
    if (failure) return { ...failure, retryable: false };
    if (row?.effect.kind !== 'dispatch' || row.githubId === null)
      throw new Error('the run of a workflow that was started is not known');
    const { workflow, branch } = row.effect;
    const id = row.githubId;
    const { conclusion, url } = await reader.workflowRun(repo, id);
    if (conclusion === null) {
      const now = clock.now().getTime();
      const isNew = now - session.startedAt.getTime() < SOON_MS;
      return {
        kind: 'waits',
        for: 'until',
        until: new Date(now + (isNew ? OFTEN_MS : SELDOM_MS)),
        reason: reason('step.waiting.workflow', `waits for ${workflow}: ${url}`),
      };
    }
    const blobs = artifacts.length === 0 ? [] : await filesOf(context, id, artifacts);
    return {
      kind: 'does',
      passed: conclusion === 'success',
      summary: `${workflow} on ${branch} ended with ${conclusion}`,
      details: { workflow, branch, run_id: id, conclusion, url },
      effects: [],
      blobs,
    };
  },
});

/** Each attempt at the step starts the workflow, but not each poll of it. */
function keyOfSession(context: Pick<StepContext, 'state' | 'step' | 'session'>): string {
  return `${keyOf('dispatch', context)}:${context.session.id}`;
}

function ownEffect(context: StepContext) {
  return context.requested(keyOfSession(context));
}

async function filesOf({ reader, repo }: StepContext, runId: number, names: readonly string[]) {
  const all = await reader.artifactsOfRun(repo, runId);
  return workflowFiles(names, async (name) => {
    const found = all.find((one) => one.name === name);
    return found && workflowArchive(reader, repo, found.id);
  });
}
