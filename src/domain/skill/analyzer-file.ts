import { z } from 'zod';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { memberOf } from '../../core/mapping.ts';
import { readYaml } from '../chain/positions.ts';
import { checkShape, inFileOrder, listOrOne } from '../chain/shape.ts';
import { globSchema } from '../chain/trigger-schema.ts';
import { categorySchema, SEVERITIES, severitySchema } from '../outcome/finding.ts';
import { type AnalyzerName, RULES } from './analyzer-rules.ts';

const paths = listOrOne(globSchema)
  .optional()
  .describe('Globs of the files that it checks. If left out, all that it can read.');
/** One schema for all rules: they are many, and each schema takes time and memory. */
const severityOrOff = z.enum([...SEVERITIES, 'off']).optional();
const others = z
  .enum(['on', 'off'])
  .optional()
  .describe('What becomes of the rules that are not named. Left out, on.');

/** The keys of every analyzer. `rules` accepts exactly the rules that the analyzer has. */
function common<Name extends AnalyzerName>(name: Name) {
  const rules = Object.fromEntries(RULES[name].map((rule) => [rule, severityOrOff]));
  return { analyzer: z.literal(name), paths, rules: z.strictObject(rules).optional(), others };
}

/**
 * A match of ast-grep, with the keys of ast-grep's own YAML: https://ast-grep.github.io/reference/rule.html
 */
const match = z.lazy(() => z.strictObject(matchKeys));
const relation = z.lazy(() =>
  z.strictObject({
    ...matchKeys,
    stopBy: z.union([z.enum(['end', 'neighbor']), match]).optional(),
    field: z.string().max(100).optional(),
  }),
);
const matchKeys: { [key: string]: z.ZodType } = {
  pattern: z
    .union([
      z.string().min(1).max(2_000),
      z.strictObject({
        context: z.string().max(2_000),
        selector: z.string().max(100).optional(),
        strictness: z.enum(['cst', 'smart', 'ast', 'relaxed', 'signature']).optional(),
      }),
    ])
    .optional(),
  kind: z.string().min(1).max(100).optional(),
  regex: z.string().min(1).max(500).optional(),
  nthChild: z.union([z.int().min(1), z.string().max(50)]).optional(),
  inside: relation.optional(),
  has: relation.optional(),
  precedes: relation.optional(),
  follows: relation.optional(),
  all: z.array(match).min(1).max(20).optional(),
  any: z.array(match).min(1).max(20).optional(),
  not: match.optional(),
};

const OWN_RULE = /^[a-z][a-z0-9-]{0,59}$/;

const ownRule = z.strictObject({
  severity: severitySchema,
  severity_in_tests: severitySchema.optional().describe('In test and example code.'),
  category: categorySchema.describe('Any word; docs/review.md lists the known ones.'),
  description: z.string().min(1).max(500).describe('What is wrong, as one sentence.'),
  suggestion: z.string().min(1).max(500).describe('What to do about it.'),
  languages: listOrOne(z.enum(['javascript', 'typescript', 'tsx', 'python'])),
  match: match.refine((value) => Object.keys(value).length > 0, {
    error: 'an empty match finds everything',
  }),
});

const ownRules = z
  .record(z.string().regex(OWN_RULE, { error: 'a rule is called by small letters, digits and "-"' }), ownRule)
  .refine((rules) => Object.keys(rules).length <= 50, { error: 'there are at most 50 rules in a file' })
  .optional()
  .describe('Rules of the package’s own, as ast-grep writes them.');

/** A file of `analyzers/`: which analyzer, on which files, with which rules and severities. */
export const analyzerFileSchema = z.discriminatedUnion('analyzer', [
  z.strictObject({ ...common('ast-grep'), own_rules: ownRules }),
  z.strictObject(common('secrets')),
  z.strictObject(common('oxlint')),
  z.strictObject(common('data-flow')),
  z.strictObject(common('actionlint')),
  z.strictObject(common('ruff')),
  z.strictObject(common('dockerfilelint')),
  z.strictObject(common('infrastructure')),
  z.strictObject(common('markdownlint')),
  z.strictObject(common('sql-migrations')),
  z.strictObject(common('dependencies')),
  z.strictObject(common('workflow-security')),
  z.strictObject(common('doc-links')),
  z.strictObject({
    analyzer: z.literal('sarif'),
    artifact: z
      .string()
      .min(1)
      .max(200)
      .describe(
        'The name under which a workflow leaves the report behind, as actions/upload-artifact has it.',
      ),
    paths,
    levels: z
      .strictObject({
        error: severityOrOff,
        warning: severityOrOff,
        note: severityOrOff,
        none: severityOrOff,
      })
      .optional()
      .describe('How much the levels of the report weigh.'),
  }),
]);
export type AnalyzerFile = z.infer<typeof analyzerFileSchema>;
/** A report that CI produces. */
export type ReportFile = Extract<AnalyzerFile, { analyzer: 'sarif' }>;
/** An analyzer that this app runs. */
export type RunFile = Exclude<AnalyzerFile, ReportFile>;

/** Never throws, for any text. */
export function readAnalyzerFile(
  text: string,
  file: string,
): { value: AnalyzerFile; diagnostics: [] } | { value?: undefined; diagnostics: readonly Diagnostic[] } {
  const source = readYaml(text, file);
  if (source.value === undefined) return { diagnostics: source.diagnostics };
  const { value, diagnostics } = checkShape(analyzerFileSchema, source);
  if (!value) return { diagnostics: inFileOrder(diagnostics) };
  const known: readonly string[] = RULES['ast-grep'];
  const taken = Object.keys(ownRulesOf(value)).filter((name) => known.includes(name));
  if (taken.length === 0) return { value, diagnostics: [] };
  const message = 'this is the name of a rule that ships; a rule of your own needs another';
  return {
    diagnostics: taken.map((name) => source.diagnostic(['own_rules', name], message, { part: 'key' })),
  };
}

export function ownRulesOf(file: AnalyzerFile): Readonly<Record<string, z.infer<typeof ownRule>>> {
  return (file.analyzer === 'ast-grep' && file.own_rules) || {};
}

/**
 * Diagnostics of a file of `analyzers/`. A rule book (`book: <tool>`) is not for a step: it sets the
 * severities of a tool's rules for the built-in review, which reads and checks it itself.
 */
export function analyzerDiagnostics(text: string, file: string): readonly Diagnostic[] {
  const source = readYaml(text, file);
  const isBook = source.value !== undefined && memberOf(source.value, 'book') !== undefined;
  return isBook ? [] : readAnalyzerFile(text, file).diagnostics;
}
