import { z } from 'zod';
import { MAX_EXPECTED } from '../artifact/contract.ts';
import { expectedInFileSchema } from '../chain/chain-file.ts';
import { listOrOne } from '../chain/shape.ts';
import { globSchema } from '../chain/trigger-schema.ts';
import { slotSchema } from '../expression/state-slot.ts';
import { kindSchema, type OwnKind } from '../outcome/own-outcome.ts';
import { STATED_KINDS, type StatedKind } from '../outcome/stated.ts';
import { TRUST_LEVELS } from '../policy/trust.ts';
import { assertionsSchema } from './assertion.ts';
import { producesSchema } from './produces.ts';

export const SKILL_NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
export const MAX_NAME_LENGTH = 64;
const MAX_SEQUENCE = 10;

/**
 * The outcomes that a package can have. Not `ci_result` and `action_result`: those report what GitHub and
 * this app did, and conditions and the merge gate rely on that. A package could only claim it.
 */
export const SKILL_OUTCOMES = ['review_verdict', 'gate_verdict', ...STATED_KINDS] as const;
export type KnownSkillOutcome = 'review_verdict' | 'gate_verdict' | StatedKind;
/** One of those, or a kind that the package registers. */
export type SkillOutcome = KnownSkillOutcome | OwnKind;

const phrases = (longest: number) => listOrOne(z.string().min(1).max(longest)).optional();

/**
 * The frontmatter of a SKILL.md: `name` and `description` as in the Agent Skills convention, its optional
 * keys, which are allowed but unused here, and our own keys.
 */
export const manifestSchema = z.strictObject({
  name: z
    .string()
    .max(MAX_NAME_LENGTH)
    .regex(SKILL_NAME, {
      error: 'a skill name starts with a small letter and goes on with small letters, digits and single "-"',
    })
    .describe('The name of the package’s folder, and what a chain calls it by.'),
  description: z
    .string()
    .min(1)
    .max(1_024)
    .describe('What the skill does and when to use it; read by whoever selects a skill.'),
  version: z
    .string({ error: 'a version is a text such as 1.2.0' })
    .regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}(-[0-9A-Za-z.-]{1,50})?$/, {
      error: 'a version is a text such as 1.2.0',
    })
    .optional(),
  author: z.string().min(1).max(100).optional(),
  tags: listOrOne(z.string().min(1).max(50)).optional().describe('Words by which the skill is found.'),
  intent_patterns: listOrOne(z.string().min(1).max(200))
    .optional()
    .describe(
      'Regular expressions (RE2 syntax, case ignored); one that is found in a question speaks for the skill.',
    ),
  trigger_phrases: phrases(100).describe('Words that, in this order, speak strongly for the skill.'),
  paths: listOrOne(globSchema)
    .optional()
    .describe('Globs; a changed file that matches one speaks for the skill.'),
  outcome: kindSchema(SKILL_OUTCOMES)
    .optional()
    .describe(
      'The kind of the skill’s outcome; without it no step can run it. A kind of its own is two words with a "/".',
    ),
  outcome_schema: z
    .record(z.string(), z.json())
    .optional()
    .describe('With a kind of its own: the JSON Schema of the outcome’s data.'),
  trust: z
    .enum(TRUST_LEVELS)
    .optional()
    .describe('The least trust a run needs for this skill. Left out, sandbox.'),
  artifact_defaults: z
    .array(expectedInFileSchema)
    .max(MAX_EXPECTED)
    .optional()
    .describe('The files that the skill always leaves, beside its outcome.'),
  cognitive_hints: z
    .strictObject({ produces: listOrOne(slotSchema) })
    .optional()
    .describe('What of the run’s working memory the skill’s outcome fills.'),
  sequence: z
    .array(z.string())
    .min(2)
    .max(MAX_SEQUENCE)
    .optional()
    .describe('Files that a step executes one after another; each gets the result of the one before it.'),
  uses: listOrOne(z.string().regex(SKILL_NAME)).optional().describe('The skills that its programs may run.'),
  artifacts: z
    .record(
      z.string(),
      z
        .object({ assert: assertionsSchema.optional(), produces: producesSchema.optional() })
        .catchall(z.json()),
    )
    .optional()
    .describe('Metadata of files, by path. Files that are named here come first, in this order.'),
  license: z.string().max(500).optional(),
  compatibility: z.string().max(500).optional(),
  'allowed-tools': z.string().max(1_000).optional(),
  metadata: z.record(z.string(), z.json()).optional(),
});
export type Manifest = z.infer<typeof manifestSchema>;
