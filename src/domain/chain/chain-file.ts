import { z } from 'zod';
import { MAX_EXPECTED } from '../artifact/contract.ts';
import { MIME_TYPES } from '../artifact/mime-type.ts';
import { ARTIFACT_ID, unfitGlobReason, unfitPathReason } from '../artifact/place.ts';
import { SLOTS, type Slot } from '../expression/state-slot.ts';
import { writtenStepGatesSchema } from '../gate/gate.ts';
import { outcomeKindSchema } from '../outcome/outcome.ts';
import { stepApprovalSchema } from '../policy/countersign-rules.ts';
import { MAX_RULES, writtenRuleSchema } from '../rule/rule.ts';
import { CHAIN_NAME, MAX_STEPS, PARALLEL_STEPS, STEP_ID } from './chain.ts';
import { chainInputsSchema } from './chain-inputs.ts';
import { chainCheckName, isReservedChainName } from './check-name.ts';
import { duration, listOrOne } from './shape.ts';
import { MAX_TRIGGERS, triggerInFileSchema } from './trigger-schema.ts';

const trigger = listOrOne(triggerInFileSchema, { most: MAX_TRIGGERS });

/** By key of GitHub Actions, what to write instead. */
const ELSEWHERE = {
  chain: {
    on: 'a chain has no "on"; write what starts it as "trigger: { event: pr.opened }"',
    jobs: 'a chain has no "jobs"; its steps are a list under "steps", in order',
  },
  step: {
    if: 'a step has no "if"; write the expression as "condition: ..."',
    needs: 'a step has no "needs"; write the ids of the steps to wait for as "depends_on: [...]"',
    uses: 'a step has no "uses"; write "skill: <name>" or "action: <name>"',
    run: 'a step has no "run"; commands are "action: shell" and "with: { run: ... }"',
    name: 'a step has no "name"; write "id: ..."',
    'timeout-minutes': 'a step has no "timeout-minutes"; write "timeout: 30m"',
    'continue-on-error': 'a step has no "continue-on-error"; write "on_failure: continue"',
  },
};

const retry = z.strictObject({
  attempts: z.int().min(1).max(10).default(1).describe('All attempts, the first one included.'),
  backoff: duration('1d').optional().describe('The pause before the second attempt, such as 30s.'),
});

const rules = z.array(writtenRuleSchema).min(1).max(MAX_RULES);
/** A text that names files. `unfit` says why it cannot. */
const fileName = (what: string, unfit: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const because = unfit(text);
    if (because !== undefined)
      context.addIssue({ code: 'custom', message: `this cannot be a ${what}: ${because}` });
  });

const fileCount = z.int().min(1).max(1_000);

/** One entry of a step's `artifacts: {expected: […]}`. Rules across keys are in `check-artifacts.ts`. */
export const expectedInFileSchema = z.strictObject({
  id: z
    .string()
    .regex(ARTIFACT_ID, { error: 'an artifact id has 1 to 50 letters, digits, "-" and "_"' })
    .describe("Takes the place of the skill's own entry with this id."),
  kind: z.enum(['file', 'outcome']).optional().describe('Left out, a file, or several by glob.'),
  path: fileName('path', unfitPathReason)
    .optional()
    .describe("A file, relative to the session's own folder."),
  glob: fileName('glob', unfitGlobReason).optional().describe('Several files, instead of a path.'),
  count: z
    .union([fileCount, z.strictObject({ min: fileCount, max: fileCount })], {
      error: 'a count is a whole number from 1 to 1000, or {min: …, max: …} of such numbers',
    })
    .optional()
    .describe('How many files the glob must match.'),
  outcome: outcomeKindSchema.optional().describe('With kind: outcome, the kind that the step must have.'),
  required: z.boolean().optional().describe('Left out, true: the step fails when it is missing.'),
  description: z.string().max(500).optional(),
  min_size: z.int().min(1).max(1_000_000_000).optional().describe('In bytes.'),
  mime_type: z.enum(MIME_TYPES).optional().describe("Told by the file's bytes, not by its name."),
  schema: z.record(z.string(), z.json()).optional().describe('A JSON Schema that the content must fit.'),
});

const artifacts = z.strictObject({ expected: z.array(expectedInFileSchema).min(1).max(MAX_EXPECTED) });

const outputMapping = z.strictObject(
  Object.fromEntries(SLOTS.map((slot) => [slot, z.string().optional()])) as Record<
    Slot,
    z.ZodOptional<z.ZodString>
  >,
);

const step = z
  .strictObject({
    id: z
      .string()
      .max(50)
      .regex(STEP_ID, {
        error: 'a step id starts with a small letter and goes on with small letters, digits, "-" and "_"',
      })
      .optional()
      .describe('Left out, it is the name of the skill or action.'),
    skill: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('The skill to run. A step has a skill or an action.'),
    action: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('The action to take. A step has a skill or an action.'),
    depends_on: listOrOne(z.string(), { least: 0 })
      .optional()
      .describe('Ids of steps to wait for. Left out, the step before; [] starts at once.'),
    condition: z.string().optional().describe('An expression; the step is skipped unless it is true.'),
    with: z.record(z.string(), z.json()).optional().describe('Inputs; texts may hold {{ expressions }}.'),
    timeout: duration('7d')
      .optional()
      .describe(
        'The longest the whole step may take from its first start, waiting and retries included, such as 30m.',
      ),
    retry: retry.optional(),
    on_failure: z
      .enum(['fail', 'continue'])
      .optional()
      .describe('Whether a failure of this step fails the run.'),
    requires_approval: z
      .union([z.boolean(), stepApprovalSchema])
      .optional()
      .describe(
        'Waits for a countersign. gh-merge always needs it. A mapping asks for more than the settings do: teams, users, permission, count, question.',
      ),
    validate: rules.optional().describe('Rules on the inputs; the step fails before it does anything.'),
    expect: rules.optional().describe('Rules on the outcome; the step fails when one does not hold.'),
    artifacts: artifacts.optional().describe('What the step must leave.'),
    output_mapping: outputMapping
      .optional()
      .describe("By slot of the run's working memory, an expression over the step's outcome."),
    gates: writtenStepGatesSchema.optional().describe('What must be passed before and after the step.'),
  })
  .meta({ elsewhere: ELSEWHERE.step });

/** A chain as people write it in YAML. Rules across keys and steps are in `check.ts`. */
export const chainFileSchema = z
  .strictObject({
    name: z
      .string()
      .regex(CHAIN_NAME, {
        error: 'a chain name starts with a small letter and has at most 50 small letters, digits and "-"',
      })
      .refine((name) => !isReservedChainName(name), {
        error: ({ input }) =>
          `a chain cannot be named "${input}": the app has a check run "${chainCheckName(String(input))}" of its own`,
      }),
    description: z.string().max(500).optional(),
    trigger,
    inputs: chainInputsSchema
      .optional()
      .describe('What people give when they fire the chain; expressions read inputs.<name>.'),
    max_parallel: z
      .int()
      .min(1)
      .max(PARALLEL_STEPS.most)
      .optional()
      .describe(
        `How many steps of a run work at the same time; ${PARALLEL_STEPS.usual} by default. Steps that wait do not count.`,
      ),
    steps: z.array(step).min(1).max(MAX_STEPS),
  })
  .meta({ elsewhere: ELSEWHERE.chain });

export type ChainFile = z.infer<typeof chainFileSchema>;
export type ExpectedInFile = z.infer<typeof expectedInFileSchema>;
