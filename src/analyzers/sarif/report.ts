import { z } from 'zod';

const MAX_RUNS = 20;
const MAX_RESULTS = 20_000;
const text = z.string().max(20_000);
const uri = z.string().max(2_000);

const place = z.object({
  uri: uri.optional(),
  uriBaseId: z.string().max(200).optional(),
  index: z.int().optional(),
});
export type SarifPlace = z.infer<typeof place>;

const level = z.enum(['none', 'note', 'warning', 'error']);
export type SarifLevel = z.infer<typeof level>;

const rule = z.object({
  id: z.string().max(500).optional(),
  defaultConfiguration: z.object({ level: level.optional() }).optional(),
  properties: z
    .object({ 'security-severity': z.union([z.string().max(20), z.number()]).optional() })
    .optional(),
});
export type SarifRule = z.infer<typeof rule>;
const component = z.object({
  name: z.string().max(200).optional(),
  rules: z.array(rule).max(20_000).optional(),
});

const position = z.int().min(1).optional();
const artifactChange = z.object({
  artifactLocation: place.optional(),
  replacements: z
    .array(
      z.object({
        deletedRegion: z.object({
          startLine: position,
          startColumn: position,
          endLine: position,
          endColumn: position,
        }),
        insertedContent: z.object({ text: text.optional() }).optional(),
      }),
    )
    .max(100),
});
export type SarifChange = z.infer<typeof artifactChange>;

const result = z.object({
  ruleId: z.string().max(500).optional(),
  ruleIndex: z.int().optional(),
  rule: z
    .object({
      id: z.string().max(500).optional(),
      index: z.int().optional(),
      /** The extension that has the rule; without it, the tool itself. */
      toolComponent: z.object({ index: z.int().optional(), name: z.string().max(200).optional() }).optional(),
    })
    .optional(),
  kind: z.string().max(50).optional(),
  level: level.optional(),
  baselineState: z.string().max(50).optional(),
  message: z.object({ text: text.optional(), markdown: text.optional() }).optional(),
  suppressions: z
    .array(z.object({ status: z.string().max(50).optional() }))
    .max(100)
    .nullish(),
  /** Section 3.55. A fix that we cannot read is none: the finding counts without it. */
  fixes: z
    .array(z.object({ artifactChanges: z.array(artifactChange).max(100) }))
    .max(100)
    .optional()
    .catch(undefined),
  locations: z
    .array(
      z.object({
        physicalLocation: z
          .object({
            artifactLocation: place.optional(),
            region: z
              .object({ startLine: z.int().min(1).optional(), endLine: z.int().min(1).optional() })
              .optional(),
          })
          .optional(),
      }),
    )
    .max(1_000)
    .optional(),
});

/**
 * The part of SARIF 2.1.0 that findings are made from. A report that differs in it is rejected.
 * https://docs.oasis-open.org/sarif/sarif/v2.1.0
 */
const reportSchema = z.object({
  version: z.literal('2.1.0'),
  runs: z
    .array(
      z.object({
        tool: z.object({ driver: component, extensions: z.array(component).max(100).optional() }),
        originalUriBaseIds: z.record(z.string().max(200), place).optional(),
        artifacts: z
          .array(z.object({ location: place.optional() }))
          .max(50_000)
          .optional(),
        results: z.array(result).max(MAX_RESULTS).nullish(),
        invocations: z
          .array(z.object({ executionSuccessful: z.boolean().optional() }))
          .max(100)
          .optional(),
      }),
    )
    .min(1)
    .max(MAX_RUNS),
});

export type SarifRun = z.infer<typeof reportSchema>['runs'][number];
export type SarifResult = NonNullable<SarifRun['results']>[number];

/**
 * Reads a report. A run whose tool failed, or which has no list of results, does not count as a run without
 * findings.
 * @throws SyntaxError that says what is wrong
 */
export function readReport(json: string): SarifRun[] {
  const read = reportSchema.safeParse(JSON.parse(json.replace(/^\uFEFF/, '')));
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new SyntaxError(`${issue?.path.join('.') || 'the report'}: ${issue?.message ?? 'another shape'}`);
  }
  for (const { results, invocations = [] } of read.data.runs) {
    if (!results) throw new SyntaxError('a run in it has no list of results');
    if (invocations.some(({ executionSuccessful }) => executionSuccessful === false)) {
      throw new SyntaxError('a run in it says that the tool did not succeed');
    }
  }
  return read.data.runs;
}
