import { z } from 'zod';
import { type Diagnostic, notAllowed } from '../../core/diagnostic.ts';
import { readYaml, type YamlSource } from '../chain/positions.ts';
import { checkShape, inFileOrder } from '../chain/shape.ts';
import { isOwnKind } from '../outcome/own-outcome.ts';
import type { KnownSkillOutcome, SkillOutcome } from './manifest.ts';
import type { PackageFile } from './package.ts';
import { placeOf } from './place.ts';

export const MODULE_TEMPLATES = ['predict', 'chain_of_thought', 'react'] as const;

/** The tools that a `react` module can call. All of them only read. */
export const MODULE_TOOLS = ['search', 'get_file', 'get_files', 'get_diff', 'get_history'] as const;
export type ModuleTool = (typeof MODULE_TOOLS)[number];

export const INPUT_TYPES = ['string', 'number', 'boolean', 'string[]', 'json'] as const;
const OUTPUT_TYPES = [...INPUT_TYPES, 'class'] as const;
type OutputType = (typeof OUTPUT_TYPES)[number];

/** The output with the reasoning of a module, before all others. */
export const REASONING = 'reasoning';

/** The inputs that every run provides. Inputs with other names come from the step's `with:`. */
export const KNOWN_INPUTS = {
  repository: 'string',
  pull_request: 'number',
  head_sha: 'string',
  base_branch: 'string',
  round: 'number',
  title: 'string',
  body: 'string',
  author: 'string',
  branch: 'string',
  labels: 'string[]',
  paths: 'string[]',
  diff: 'string',
} as const satisfies Readonly<Record<string, (typeof INPUT_TYPES)[number]>>;

/** The outputs that each known kind of outcome requires. */
const NEEDED_OUTPUTS = {
  gate_verdict: { summary: 'string', passed: 'boolean', criteria: 'json' },
  review_verdict: { summary: 'string', verdict: 'string', findings: 'json' },
  lint_result: {
    summary: 'string',
    passed: 'boolean',
    tool: 'string',
    errors: 'number',
    warnings: 'number',
    messages: 'json',
  },
  test_result: {
    summary: 'string',
    passed: 'boolean',
    total: 'number',
    failed: 'number',
    skipped: 'number',
    duration_ms: 'number',
    coverage: 'number',
    failures: 'json',
  },
  research_analysis: {
    summary: 'string',
    passed: 'boolean',
    question: 'string',
    conclusions: 'json',
    sources: 'json',
    open_questions: 'string[]',
  },
  impact_report: {
    summary: 'string',
    passed: 'boolean',
    risk: 'string',
    areas: 'json',
    breaking_changes: 'string[]',
    recommendations: 'string[]',
  },
  flow_plan: { summary: 'string', passed: 'boolean', goal: 'string', steps: 'json' },
  show_plan: { summary: 'string', passed: 'boolean', topic: 'string', plays: 'json' },
  flow_control_verdict: {
    summary: 'string',
    passed: 'boolean',
    should_continue: 'boolean',
    reason: 'string',
    next_steps: 'string[]',
  },
} as const satisfies Readonly<Record<KnownSkillOutcome, Readonly<Record<string, OutputType>>>>;

/** The kinds of files that a module can fall back to. */
const FALLBACK_KINDS = ['prompt_template', 'code_template'] as const;

const OWN_OUTPUTS = { summary: 'string', passed: 'boolean', data: 'json' } as const;

/** The outputs that an outcome of this kind requires. */
export function neededOutputs(outcome: SkillOutcome): Readonly<Record<string, OutputType>> {
  return isOwnKind(outcome) ? OWN_OUTPUTS : NEEDED_OUTPUTS[outcome];
}

/** The field names that the module engine accepts. */
const fieldName = z
  .string()
  .min(2)
  .max(50)
  .regex(/^[a-z]+(_[a-z0-9]+)*$/);
const description = z.string().trim().min(1).max(2_000);
const fields = <Field extends z.ZodType>(field: Field) =>
  z
    .record(fieldName, field, {
      error: ({ code }) =>
        code === 'invalid_key'
          ? 'a field is called by 2 to 50 small letters, such as changed_files; digits may follow a "_"'
          : undefined,
    })
    .refine((all) => Object.keys(all).length >= 1 && Object.keys(all).length <= 20, {
      error: 'there must be 1 to 20 fields',
    });

const inputSchema = z.strictObject({
  type: z.enum(INPUT_TYPES),
  description: description.optional(),
  optional: z.boolean().optional().describe('Whether the step may leave it out.'),
});

const outputSchema = z.strictObject({
  type: z.enum(OUTPUT_TYPES),
  description: description.optional(),
  options: z
    .array(
      z.string().regex(/^[\w][\w .-]{0,49}$/, { error: 'an option has letters, digits, spaces, _, . and -' }),
    )
    .min(2)
    .max(50)
    .optional()
    .describe('What a class can be.'),
});

/** A file of `modules/`: which shipped template answers which question. It contains no code. */
const moduleSchema = z.strictObject({
  template: z.enum(MODULE_TEMPLATES),
  signature: z.strictObject({
    instruction: z.string().trim().min(1).max(8_000).describe('What is to be done, in words for the model.'),
    inputs: fields(inputSchema),
    outputs: fields(outputSchema),
  }),
  tools: z.array(z.enum(MODULE_TOOLS)).max(MODULE_TOOLS.length).optional().describe('For react alone.'),
  fallback_artifact: z
    .string({ error: 'a module names its fallback: a prompt or a program of the package' })
    .describe(
      'The prompt or program of this package that is used where modules cannot run, such as prompts/ask.md.',
    ),
  limits: z
    .strictObject({
      model_calls: z.int().min(1).max(50).optional(),
      max_output_tokens: z.int().min(16).max(32_000).optional(),
      timeout_seconds: z.int().min(1).max(600).optional(),
    })
    .optional(),
});
export type Module = z.infer<typeof moduleSchema>;

/** @throws Error if the text is not a valid module; a parsed package has only valid ones */
export function parseModule(text: string): Module {
  return moduleSchema.parse(JSON.parse(text));
}

/** Diagnostics of all modules of a package, with positions. */
export function checkModules(
  files: readonly PackageFile[],
  outcome: SkillOutcome | undefined,
  folder: string,
): Diagnostic[] {
  return files
    .filter(({ path, text }) => placeOf(path)?.kind === 'dspy_module' && isJson(text))
    .flatMap(({ path, text }) =>
      inFileOrder(checkModule(readYaml(text, `${folder}/${path}`), files, outcome)),
    );
}

/** Reads JSON as YAML, because the YAML reader knows positions. Invalid JSON already has a diagnostic. */
function checkModule(
  source: YamlSource,
  files: readonly PackageFile[],
  outcome: SkillOutcome | undefined,
): Diagnostic[] {
  if (source.value === undefined) return [...source.diagnostics];
  const { value, diagnostics } = checkShape(moduleSchema, source);
  if (!value) return diagnostics;
  return [
    ...checkInputs(value, source),
    ...checkOutputs(value, source),
    ...checkTools(value, source),
    ...(outcome ? checkNeeded(value, source, outcome) : []),
    ...checkFallback(value, source, files),
  ];
}

function checkInputs({ signature: { inputs, outputs } }: Module, source: YamlSource): Diagnostic[] {
  return Object.entries(inputs).flatMap(([name, { type, optional }]) => {
    const at = ['signature', 'inputs', name];
    if (Object.hasOwn(outputs, name))
      return [source.diagnostic(at, `"${name}" is an output too`, { part: 'key' })];
    if (!Object.hasOwn(KNOWN_INPUTS, name)) return [];
    const known = KNOWN_INPUTS[name as keyof typeof KNOWN_INPUTS];
    return [
      ...(type === known
        ? []
        : [source.diagnostic([...at, 'type'], `"${name}" is known of the run, as ${known}`)]),
      ...(optional ? [source.diagnostic([...at, 'optional'], `"${name}" is known of every run`)] : []),
    ];
  });
}

function checkOutputs({ template, signature: { outputs } }: Module, source: YamlSource): Diagnostic[] {
  return Object.entries(outputs).flatMap(([name, { type, options }]) => {
    const at = ['signature', 'outputs', name];
    if (name === REASONING && template !== 'predict')
      return [source.diagnostic(at, `${template} adds "${REASONING}" itself`, { part: 'key' })];
    if (type !== 'class')
      return options
        ? [source.diagnostic([...at, 'options'], 'only a class has options', { part: 'key' })]
        : [];
    if (!options) return [source.diagnostic(at, 'a class needs options')];
    const spelled = new Set(options.map((option) => option.trim().toLowerCase()));
    return spelled.size === options.length
      ? []
      : [source.diagnostic([...at, 'options'], 'an option is here twice')];
  });
}

function checkTools({ template, tools = [] }: Module, source: YamlSource): Diagnostic[] {
  if (template !== 'react') {
    return tools.length > 0
      ? [source.diagnostic(['tools'], `${template} calls no tools; react does`, { part: 'key' })]
      : [];
  }
  if (tools.length === 0)
    return [source.diagnostic(['template'], 'react needs tools; without them, it is chain_of_thought')];
  return new Set(tools).size === tools.length ? [] : [source.diagnostic(['tools'], 'a tool is here twice')];
}

function checkNeeded({ signature }: Module, source: YamlSource, outcome: SkillOutcome): Diagnostic[] {
  return Object.entries(neededOutputs(outcome)).flatMap(([name, type]) => {
    const output = signature.outputs[name];
    const at = ['signature', 'outputs'];
    if (!output)
      return [source.diagnostic(at, `a ${outcome} needs the output "${name}", as ${type}`, { part: 'key' })];
    return output.type === type
      ? []
      : [source.diagnostic([...at, name, 'type'], `a ${outcome} has "${name}" as ${type}`)];
  });
}

function checkFallback(
  { fallback_artifact: fallback }: Module,
  source: YamlSource,
  files: readonly PackageFile[],
): Diagnostic[] {
  const usable = files
    .map(({ path }) => path)
    .filter((path) => FALLBACK_KINDS.some((kind) => kind === placeOf(path)?.kind));
  if (usable.includes(fallback)) return [];
  return [
    source.diagnostic(
      ['fallback_artifact'],
      notAllowed(`the package has no prompt or program "${fallback}"`, usable, fallback),
    ),
  ];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
