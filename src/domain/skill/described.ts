import { stringify } from 'yaml';
import { z } from 'zod';
import { MODULE_TEMPLATES, neededOutputs } from './module.ts';
import type { PackageFile } from './package.ts';
import { SKILL_FILE } from './place.ts';

/** A package as one JSON document with typed artifacts, as other skill systems exchange them. */
const describedSchema = z.looseObject({
  name: z.string().min(1).max(200),
  description: z.string().min(1),
  version: z.string().optional(),
  author: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  intent_patterns: z.array(z.string()).nullish(),
  trigger_phrases: z.array(z.string()).nullish(),
  artifacts: z
    .array(
      z.looseObject({
        kind: z.string(),
        name: z.string().min(1).max(200),
        ordinal: z.number().optional(),
        content: z.string(),
        model_variant: z.string().nullish(),
        state_blob: z.unknown().optional(),
        metadata: z.record(z.string(), z.json()).nullish(),
      }),
    )
    .min(1)
    .max(50),
});
type Described = z.infer<typeof describedSchema>;
type Artifact = Described['artifacts'][number];

const MAX_LENGTH = 3_200_000;

interface ReadDescription {
  name: string;
  files: PackageFile[];
  /** What could not be used, as sentences without a full stop. */
  unused: string[];
}

const USED = new Set([
  'name',
  'description',
  'version',
  'author',
  'tags',
  'intent_patterns',
  'trigger_phrases',
  'artifacts',
]);
const FOLDERS: Readonly<Record<string, string>> = {
  prompt_template: 'prompts',
  code_template: 'code',
  dspy_module: 'modules',
};
const OUTCOME = 'gate_verdict';
/** The names that every prompt can use, apart from a template's own. */
const KNOWN = new Set(
  'repository pull_request base_branch head_sha round pr files diff state inputs previous loop'.split(' '),
);

/**
 * Reads such a document as the files of a package. It has no outcome, so the package gets a `gate_verdict`.
 * @returns `undefined` if the text is no such document
 */
export function readDescribed(text: string): ReadDescription | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const { data } = describedSchema.safeParse(parsed(text));
  if (!data) return undefined;
  const unused = Object.keys(data)
    .filter((key) => !USED.has(key))
    .map((key) => `"${key}" is not used`);
  unused.push(
    `the package names no outcome, so its SKILL.md says ${OUTCOME}: change it if it produces another`,
  );
  const paths = new Map<Artifact, string>();
  for (const artifact of data.artifacts.toSorted((a, b) => (a.ordinal ?? 0) - (b.ordinal ?? 0))) {
    const folder = Object.hasOwn(FOLDERS, artifact.kind) ? FOLDERS[artifact.kind] : undefined;
    if (folder !== undefined) paths.set(artifact, pathFor(artifact, folder, [...paths.values()]));
    else if (artifact.kind !== 'description')
      unused.push(`"${artifact.name}" is of the kind ${artifact.kind}, which does not exist here`);
  }
  // A module comes first: a step executes the first file, and the module's fallback must not be that.
  const inOrder = [...paths].toSorted(([a], [b]) => rank(a) - rank(b));
  const files = inOrder.map(([artifact, path]) => ({ path, text: textOf(artifact, path, paths, unused) }));
  const asserted = Object.fromEntries(
    inOrder.map(([artifact, path]) => [path, assertionsOf(artifact, unused)]),
  );
  const name = slug(data.name);
  const front = {
    name,
    description: data.description,
    ...(data.version === undefined ? {} : { version: data.version }),
    ...(data.author ? { author: data.author } : {}),
    ...(data.tags?.length ? { tags: data.tags } : {}),
    ...(data.intent_patterns?.length ? { intent_patterns: data.intent_patterns } : {}),
    ...(data.trigger_phrases?.length ? { trigger_phrases: data.trigger_phrases } : {}),
    outcome: OUTCOME,
    ...(inOrder.length === 0 ? {} : { artifacts: asserted }),
  };
  const body = data.artifacts.filter(({ kind }) => kind === 'description').map(({ content }) => content);
  const skillFile = `---\n${stringify(front)}---\n\n# ${data.name}\n\n${body.join('\n\n')}\n`;
  return { name, files: [{ path: SKILL_FILE, text: skillFile }, ...files], unused };
}

const rank = ({ kind }: Artifact) => (kind === 'dspy_module' ? 0 : 1);

function slug(name: string): string {
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return (/^[a-z]/.test(words) ? words : `skill-${words}`).slice(0, 60).replace(/-$/, '');
}

function pathFor({ kind, name, content, model_variant }: Artifact, folder: string, taken: string[]): string {
  const isScript = /\b(?:const|let|function)\s/.test(content) && !/^\s*(?:import|def|from)\s/m.test(content);
  const extension =
    kind === 'prompt_template' ? 'md' : kind === 'dspy_module' ? 'json' : isScript ? 'js' : 'py';
  const variant = !model_variant || model_variant === 'default' ? '' : `@${slug(model_variant)}`;
  const path = (n: string) => `${folder}/${slug(name)}${n}${variant}.${extension}`;
  let count = 1;
  while (taken.includes(path(count === 1 ? '' : `-${count}`))) count += 1;
  return path(count === 1 ? '' : `-${count}`);
}

function textOf(
  artifact: Artifact,
  path: string,
  paths: ReadonlyMap<Artifact, string>,
  unused: string[],
): string {
  const { kind, content } = artifact;
  if (kind === 'dspy_module') return moduleOf(artifact, path, paths, unused);
  if (kind === 'prompt_template') {
    const foreign = namesIn(content);
    if (foreign.length > 0)
      unused.push(
        `${path} names ${foreign.join(', ')}, which a run does not know: pass them in the step's with, and write inputs.${foreign[0]}`,
      );
  } else {
    const [, host] = /^\s*import\s+(\w+)\s*$/m.exec(content) ?? [];
    if (host !== undefined)
      unused.push(
        `${path} imports ${host}, which may not exist here: use the functions of docs/code-templates.md`,
      );
    if (content.includes('{{'))
      unused.push(`${path} has template tags, and programs are not templates: use input['inputs']`);
  }
  return content;
}

/** The names of a template that neither a run nor its own loops provide. */
function namesIn(template: string): string[] {
  const own = new Set(
    [...template.matchAll(/\{%-?\s*(?:for|set)\s+(\w+)(?:\s*,\s*(\w+))?/g)].flatMap(([, a, b]) => [a, b]),
  );
  const named = [
    ...template.matchAll(/\{\{-?\s*([A-Za-z_]\w*)/g),
    ...template.matchAll(/\{%-?\s*(?:for\s+[\w, ]+\s+in|if|elif)\s+(?:not\s+)?([A-Za-z_]\w*)/g),
  ].map(([, name = '']) => name);
  return [...new Set(named)].filter((name) => !KNOWN.has(name) && !own.has(name));
}

const moduleContent = z.looseObject({ template_id: z.string(), signature: z.string() });

function moduleOf(
  artifact: Artifact,
  path: string,
  paths: ReadonlyMap<Artifact, string>,
  unused: string[],
): string {
  const { content, state_blob, metadata } = artifact;
  if (state_blob !== undefined && state_blob !== null)
    unused.push(`the optimized state of ${path} is not used: run countersign skill optimize`);
  const read = moduleContent.safeParse(parsed(content));
  if (!read.success) {
    unused.push(`${path} has no template_id and signature`);
    return content;
  }
  const { template_id: template, signature } = read.data;
  const known = MODULE_TEMPLATES.find((one) => one === template && one !== 'react');
  if (!known) unused.push(`${path} uses the template ${template}, which is taken as chain_of_thought`);
  const [inputs = [], outputs = []] = signature
    .split('->')
    .map((side) => side.split(',').flatMap((field) => /^\s*(\w+)/.exec(field)?.[1] ?? []));
  const named = String(metadata?.fallback_artifact ?? '');
  const fallback = [...paths].find(([one]) => one.name === named)?.[1];
  const fields = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, { type: 'json' }]));
  const needed = Object.entries(neededOutputs(OUTCOME)).map(([name, type]) => [name, { type }]);
  return `${JSON.stringify(
    {
      template: known ?? 'chain_of_thought',
      signature: {
        instruction: String(metadata?.instruction ?? `From ${inputs.join(', ')}, say ${outputs.join(', ')}.`),
        inputs: fields(inputs),
        outputs: { ...fields(outputs), ...Object.fromEntries(needed) },
      },
      ...(fallback === undefined ? {} : { fallback_artifact: fallback }),
    },
    null,
    2,
  )}\n`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const assertionSchema = z.looseObject({
  type: z.string(),
  min: z.number().optional(),
  max: z.number().optional(),
  prompt: z.string().optional(),
  expected: z.string().optional(),
  severity: z.string().optional(),
});

/** The metadata of a file in the SKILL.md: the assertions that mean the same here. */
function assertionsOf({ name, metadata }: Artifact, unused: string[]): { assert?: object[] } {
  const written = Array.isArray(metadata?.assertions) ? metadata.assertions : [];
  const assert = written.flatMap((one, index): object[] => {
    const { data } = assertionSchema.safeParse(one);
    const soft = data?.severity === 'soft' ? { on_failure: 'warn' } : {};
    if (data?.type === 'length') {
      const { min: min_characters, max: max_characters } = data;
      return [{ kind: 'length', min_characters, max_characters, ...soft }];
    }
    if (data?.type === 'semantic' && data.prompt && (data.expected ?? 'yes').toLowerCase() === 'yes')
      return [{ kind: 'semantic', question: data.prompt.slice(0, 500), ...soft }];
    unused.push(
      `assertion ${index + 1} of "${name}" is not used: write it in the SKILL.md, for a ${OUTCOME}`,
    );
    return [];
  });
  return assert.length === 0 ? {} : { assert };
}
