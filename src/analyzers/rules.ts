import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../core/package-root.ts';
import { categorySchema, severitySchema } from '../domain/outcome/finding.ts';

const ruleSchema = z.strictObject({
  severity: severitySchema,
  /** The severity in test and example code, where invented values and shortcuts are normal. */
  severity_in_tests: severitySchema.optional(),
  category: categorySchema,
  description: z.string().min(1).max(1_000),
  suggestion: z.string().min(1).max(1_000),
});
/** The texts of a rule for people, and its severity. */
export type Rule = z.infer<typeof ruleSchema>;

const shapeSchema = z.record(z.string(), z.json());

/** A call that does harm with a value from outside, in Python or Go. All patterns are regular expressions; ast-grep reads `call`, and `holds` of a statement. */
const sinkSchema = z.strictObject({
  /** The name of the function that is called, as it is written. */
  call: z.string().optional(),
  /** Instead of a call, the kind of another statement that uses the value. */
  statement: z.string().optional(),
  /** The places of the values among the arguments, from 0. Without it, all of them. */
  arguments: z.array(z.int().min(0)).optional(),
  /** Named arguments that count instead of places. */
  named: z.string().optional(),
  /** Whether the value comes from a request, or is at least put together from text and something else. */
  origin: z.enum(['request', 'joined']),
  /** What else the text of the call must hold. */
  where: z.string().optional(),
  /** What the value's own fixed text must hold. */
  holds: z.string().optional(),
  /** How a text begins after which a value does no harm, such as a fixed host. */
  after: z.string().optional(),
  /** Expressions that count as a request, such as the entries of an archive. */
  also_from: z.string().optional(),
  /** A check in the function around the call that makes the value harmless, by its form. */
  unless: z.string().optional(),
});
export type Sink = z.infer<typeof sinkSchema>;

/** Marks a file in `analyzers/` as one of these, and not as the settings of an analyzer. */
const book = z.string();

const schemas = {
  secrets: z.strictObject({
    book,
    placeholders: z.array(z.string()),
    rules: z.record(
      z.string(),
      ruleSchema.extend({
        /** Absent for rules of the secretlint preset, which have their own. */
        pattern: z.string().optional(),
        ignore_case: z.boolean().optional(),
        /** The lowest Shannon entropy of the group `value`, in bits per character. */
        min_entropy: z.number().optional(),
        config_files_only: z.boolean().optional(),
      }),
    ),
  }),
  oxlint: z.strictObject({ book, rules: z.record(z.string(), ruleSchema) }),
  'ast-grep': z.strictObject({
    book,
    rules: z.record(
      z.string(),
      ruleSchema.extend({
        languages: z.array(z.enum(['javascript', 'typescript', 'tsx', 'python', 'go'])).min(1),
        /** A pattern that the text of every match contains, to skip parsing most files. */
        mentions: z.string(),
        match: shapeSchema.optional(),
        /** Corrections that are sure: a pattern for the whole text of the match, and what replaces it. The first that fits counts. */
        fixes: z.array(z.strictObject({ of: z.string(), by: z.string() })).optional(),
        sinks: z.array(sinkSchema).optional(),
      }),
    ),
  }),
  'data-flow': z.strictObject({ book, rules: z.record(z.string(), ruleSchema) }),
  workflow: z.strictObject({
    book,
    untrusted: z.array(z.string()),
    outdated: z.array(z.string()),
    rules: z.record(z.string(), ruleSchema),
  }),
  ruff: z.strictObject({ book, rules: z.record(z.string(), ruleSchema) }),
  dockerfile: z.strictObject({ book, rules: z.record(z.string(), ruleSchema) }),
  infrastructure: z.strictObject({
    book,
    rules: z.record(
      z.string(),
      ruleSchema.extend({ languages: z.array(z.enum(['shell', 'dockerfile', 'terraform', 'yaml'])).min(1) }),
    ),
  }),
  markdown: z.strictObject({ book, rules: z.record(z.string(), ruleSchema) }),
};

export type AnalyzerName = keyof typeof schemas;
type RuleFile<Name extends AnalyzerName> = z.infer<(typeof schemas)[Name]>;
/** The trusted rule files of the skill package, by analyzer. They never come from a pull request. */
export type RuleBook = { readonly [Name in AnalyzerName]: RuleFile<Name> };

let loaded: RuleBook | undefined;

/**
 * The shipped rule files in `skills/pr-review/analyzers/`, read once per process.
 * @throws ZodError or YAMLParseError if a shipped file is invalid, which the tests rule out
 */
export function shippedRules(): RuleBook {
  loaded ??= {
    secrets: read('secrets'),
    oxlint: read('oxlint'),
    'ast-grep': read('ast-grep'),
    'data-flow': read('data-flow'),
    workflow: read('workflow'),
    ruff: read('ruff'),
    dockerfile: read('dockerfile'),
    infrastructure: read('infrastructure'),
    markdown: read('markdown'),
  };
  return loaded;
}

function read<Name extends AnalyzerName>(name: Name): RuleFile<Name> {
  const file = `${PACKAGE_ROOT}skills/pr-review/analyzers/${name}.yml`;
  return schemas[name].parse(parse(readFileSync(file, 'utf8'))) as RuleFile<Name>;
}
