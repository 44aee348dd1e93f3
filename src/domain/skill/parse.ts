import type { Json } from '../../core/canonical.ts';
import { type Diagnostic, nearest, notAllowed } from '../../core/diagnostic.ts';
import { isMapping, memberOf } from '../../core/mapping.ts';
import { schemaDiagnostics } from '../artifact/json-schema.ts';
import { checkExpected } from '../chain/check-artifacts.ts';
import { toContract } from '../chain/expected.ts';
import { readYaml, type YamlSource } from '../chain/positions.ts';
import { checkShape, inFileOrder } from '../chain/shape.ts';
import { isOwnKind } from '../outcome/own-outcome.ts';
import { highestOf, KIND_CAPABILITIES } from '../policy/capability.ts';
import type { TrustLevel } from '../policy/trust.ts';
import { compilePattern, PatternError } from '../rule/pattern.ts';
import { checkAssertions } from './check-assertions.ts';
import { checkFiles, MAX_FILES } from './check-files.ts';
import { checkProduces } from './check-produces.ts';
import { compileIntent } from './intent.ts';
import { type Manifest, manifestSchema } from './manifest.ts';
import { checkModules, parseModule } from './module.ts';
import {
  filesOf,
  type PackageFile,
  type ParsedPackage,
  packageId,
  type SkillDescription,
  type SkillPackage,
} from './package.ts';
import { isTestFile, pathOf, placeOf, SKILL_FILE } from './place.ts';
import type { SkillArtifact } from './skill.ts';

/**
 * Reads the files of a package's folder. Returns a package, or all diagnostics of all files. Never throws,
 * for any content.
 * @param folder its location, for diagnostics
 * @param name the name that the SKILL.md must have: that of the folder
 */
export function parsePackage(
  files: readonly PackageFile[],
  folder: string,
  name = nameOf(folder),
): ParsedPackage {
  const file = files.find(({ path }) => path === SKILL_FILE);
  // A document with a hundred thousand files must be refused quickly, so nothing else is checked.
  if (!file || files.length > MAX_FILES) {
    return { folder, name, diagnostics: checkFiles(files, folder, undefined) };
  }

  const source = readYaml(frontmatterOf(file.text), `${folder}/${SKILL_FILE}`);
  const read = readManifest(source, name, files);
  const fileDiagnostics = checkFiles(files, folder, read.manifest?.outcome);
  const moduleDiagnostics = checkModules(files, read.manifest?.outcome, folder);
  const diagnostics = [...inFileOrder(read.diagnostics), ...fileDiagnostics, ...moduleDiagnostics];
  if (!read.manifest || diagnostics.length > 0) return { folder, name, diagnostics };
  const skill = toPackage(read.manifest, files);
  const inTheWay = skill.sequence.length === 0 ? checkFirst(skill.artifacts, source) : [];
  return inTheWay.length === 0
    ? { folder, name, skill, diagnostics }
    : { folder, name, diagnostics: inTheWay };
}

/** Without this, a step would execute the fallback and never the module. */
function checkFirst(artifacts: readonly SkillArtifact[], source: YamlSource): Diagnostic[] {
  const first = artifacts.find(({ kind }) => kind !== 'description');
  const modules = artifacts.filter(({ kind }) => kind === 'dspy_module');
  const module = modules.find(
    ({ content }) => first !== undefined && parseModule(content).fallback_artifact === pathOf(first),
  );
  if (!first || !module) return [];
  const message = `${pathOf(first)} is the fallback of ${pathOf(module)}, and a step would execute it, as the first file: put ${pathOf(module)} first in artifacts`;
  return [source.diagnostic(['artifacts'], message, { part: 'key' })];
}

/**
 * Reads a package whose files ship with this program and are known to be valid. To check them as others takes most of
 * the time of a short command.
 */
export function parseShippedPackage(files: readonly PackageFile[], folder: string): ParsedPackage {
  const text = files.find(({ path }) => path === SKILL_FILE)?.text ?? '';
  const source = readYaml(frontmatterOf(text), `${folder}/${SKILL_FILE}`);
  const { value, diagnostics } = checkShape(manifestSchema, source);
  return { folder, name: nameOf(folder), ...(value && { skill: toPackage(value, files) }), diagnostics };
}

/**
 * The names in `uses` that the package's programs could not run.
 * @param others the packages that a step here can run, whose names these can be
 * @param mayExist whether a package of the name may exist where it cannot be seen; that is only a warning
 */
export function unknownUses(
  skill: SkillPackage,
  folder: string,
  others: readonly string[],
  mayExist: (name: string) => boolean = () => false,
): Diagnostic[] {
  const text = filesOf(skill).find(({ path }) => path === SKILL_FILE)?.text ?? '';
  const source = readYaml(frontmatterOf(text), `${folder}/${SKILL_FILE}`);
  const allowed = others.filter((name) => name !== skill.name);
  return skill.uses.flatMap((name, index): Diagnostic[] => {
    if (others.includes(name)) return [];
    const at = Array.isArray(memberOf(source.value, 'uses')) ? ['uses', index] : ['uses'];
    if (!mayExist(name))
      return [
        source.diagnostic(
          at,
          notAllowed(`there is no skill "${name}" that a program can run`, allowed, name),
        ),
      ];
    const meant = nearest(name, allowed);
    const unless = `there is no skill "${name}" here, so only the organisation or an index can have it`;
    const message = meant === undefined ? unless : `${unless}: did you mean "${meant}"?`;
    return [{ ...source.diagnostic(at, message), severity: 'warning' }];
  });
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('/') + 1);
}

function readManifest(
  source: YamlSource,
  name: string,
  files: readonly PackageFile[],
): { manifest?: Manifest | undefined; diagnostics: readonly Diagnostic[] } {
  const { value } = source;
  if (value === undefined) return { diagnostics: source.diagnostics };
  if (value === null) {
    return {
      diagnostics: [
        source.diagnostic([], 'the frontmatter is missing: name and description between two lines ---'),
      ],
    };
  }
  const shape = checkShape(manifestSchema, source);
  const diagnostics = [
    ...shape.diagnostics,
    ...checkName(source, name, memberOf(value, 'name')),
    ...checkPatterns(source, memberOf(value, 'intent_patterns')),
    ...checkOwnKind(source, value),
    ...checkDefaults(source, value),
    ...checkNamedFiles(source, memberOf(value, 'artifacts'), files),
    ...checkAssertions(source, memberOf(value, 'artifacts')),
    ...checkSequence(source, memberOf(value, 'sequence'), files),
    ...checkProduces(source, memberOf(value, 'artifacts'), files),
  ];
  return { manifest: shape.value, diagnostics };
}

function checkName(source: YamlSource, folder: string, name: Json | undefined): Diagnostic[] {
  if (typeof name !== 'string' || name === folder) return [];
  return [source.diagnostic(['name'], `a skill is called by its folder, so this must be "${folder}"`)];
}

function checkPatterns(source: YamlSource, written: Json | undefined): Diagnostic[] {
  const patterns = Array.isArray(written) ? written : [written];
  return patterns.flatMap((pattern, index) => {
    if (typeof pattern !== 'string') return [];
    try {
      // The pattern as written first, so that an error message quotes what the author wrote.
      compilePattern(pattern);
      compileIntent(pattern);
      return [];
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      const place = Array.isArray(written) ? ['intent_patterns', index] : ['intent_patterns'];
      return [source.diagnostic(place, error.message)];
    }
  });
}

/** A kind of its own needs a schema, and the known kinds have theirs. */
function checkOwnKind(source: YamlSource, manifest: Json): Diagnostic[] {
  const outcome = memberOf(manifest, 'outcome');
  const schema = memberOf(manifest, 'outcome_schema');
  const isOwn = typeof outcome === 'string' && isOwnKind(outcome);
  if (schema === undefined)
    return isOwn
      ? [
          source.diagnostic(
            ['outcome'],
            'a kind of your own needs an outcome_schema: a JSON Schema of its data',
          ),
        ]
      : [];
  if (!isOwn)
    return [
      source.diagnostic(['outcome_schema'], 'only a kind of your own has an outcome_schema', { part: 'key' }),
    ];
  const type = memberOf(schema, 'type');
  if (type !== 'object')
    return [source.diagnostic(['outcome_schema'], 'the data of an outcome is an object: write type: object')];
  return schemaDiagnostics(schema).map(({ path, message }) =>
    source.diagnostic(['outcome_schema', ...path], message),
  );
}

function checkDefaults(source: YamlSource, manifest: Json): Diagnostic[] {
  const defaults = memberOf(manifest, 'artifact_defaults');
  if (!Array.isArray(defaults)) return [];
  const declared = memberOf(manifest, 'outcome');
  const others = defaults.flatMap((entry, index) => {
    const outcome = memberOf(entry, 'outcome');
    const isOther = memberOf(entry, 'kind') === 'outcome' && outcome !== undefined && outcome !== declared;
    if (!isOther) return [];
    const valid = manifestSchema.shape.outcome.safeParse(declared).data;
    const allowed = valid === undefined ? [] : [valid];
    const message = notAllowed('the skill has another outcome', allowed, '');
    return [source.diagnostic(['artifact_defaults', index, 'outcome'], message)];
  });
  return [...checkExpected(source, ['artifact_defaults'], defaults), ...others];
}

/** Only existing files can have metadata. The SKILL.md's own is its frontmatter. */
function checkNamedFiles(
  source: YamlSource,
  artifacts: Json | undefined,
  files: readonly PackageFile[],
): Diagnostic[] {
  if (!isMapping(artifacts)) return [];
  const paths = files.map(({ path }) => path).filter((path) => path !== SKILL_FILE);
  return Object.keys(artifacts)
    .filter((path) => !paths.includes(path))
    .map((path) => {
      const message = notAllowed(`the package has no file "${path}"`, paths, path);
      return source.diagnostic(['artifacts', path], message, { part: 'key' });
    });
}

/** Analyzers can wait for CI, and would repeat what ran before them. */
function checkSequence(
  source: YamlSource,
  sequence: Json | undefined,
  files: readonly PackageFile[],
): Diagnostic[] {
  if (!Array.isArray(sequence)) return [];
  const paths = files
    .map(({ path }) => path)
    .filter((path) => path !== SKILL_FILE && placeOf(path)?.modelVariant === null);
  return sequence.flatMap((path, index) => {
    const at = ['sequence', index];
    if (typeof path !== 'string') return [];
    if (!paths.includes(path)) {
      return [source.diagnostic(at, notAllowed(`the package has no file "${path}"`, paths, path))];
    }
    if (sequence.indexOf(path) < index) return [source.diagnostic(at, `"${path}" is in the sequence twice`)];
    return index > 0 && placeOf(path)?.kind === 'analyzer'
      ? [source.diagnostic(at, 'only the first file of a sequence can be an analyzer')]
      : [];
  });
}

/**
 * The description in a SKILL.md whose package was valid when it was stored, without the package's other
 * files.
 * @returns `undefined` if this version cannot read it
 */
export function describedIn(text: string): SkillDescription | undefined {
  const { value } = checkShape(manifestSchema, readYaml(frontmatterOf(text), SKILL_FILE));
  return value && toDescription(value);
}

function toPackage(manifest: Manifest, files: readonly PackageFile[]): SkillPackage {
  const id = packageId(manifest.name, files);
  const artifacts = toArtifacts(manifest, files);
  return {
    id,
    ...toDescription(manifest),
    trust: trustFor(manifest, artifacts),
    artifacts,
    tests: files.filter(({ path }) => isTestFile(path)).toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  };
}

function toDescription(manifest: Manifest): SkillDescription {
  const defaults = toContract(manifest.artifact_defaults ?? []).expected;
  return {
    name: manifest.name,
    description: manifest.description,
    version: manifest.version ?? null,
    author: manifest.author ?? null,
    tags: manifest.tags ?? [],
    intentPatterns: manifest.intent_patterns ?? [],
    triggerPhrases: manifest.trigger_phrases ?? [],
    paths: manifest.paths ?? [],
    outcome: manifest.outcome ?? null,
    outcomeSchema: manifest.outcome_schema ?? null,
    artifactDefaults: defaults.map((entry) => ({ ...entry, source: 'skill' })),
    cognitiveHints: { produces: manifest.cognitive_hints?.produces ?? [] },
    sequence: manifest.sequence ?? [],
    uses: manifest.uses ?? [],
  };
}

/** A package can require more trust than its kinds need, but not less. */
function trustFor({ trust = 'sandbox' }: Manifest, artifacts: readonly SkillArtifact[]): TrustLevel {
  const kinds = artifacts.map(({ kind }) => kind).filter((kind) => kind !== 'description');
  return highestOf([trust, ...kinds.map((kind) => KIND_CAPABILITIES[kind].minimumTrust)]);
}

/** The SKILL.md first, then the files that it names in that order, then the others by path. */
function toArtifacts({ artifacts = {} }: Manifest, files: readonly PackageFile[]): SkillArtifact[] {
  const named = [SKILL_FILE, ...Object.keys(artifacts)];
  const rank = ({ path }: PackageFile) => (named.includes(path) ? named.indexOf(path) : named.length);
  const inOrder = files.toSorted((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1));
  return inOrder.flatMap((file, ordinal) => {
    const place = placeOf(file.path);
    const named = Object.hasOwn(artifacts, file.path) ? artifacts[file.path] : undefined;
    // The value was parsed from JSON, and the schema adds no defaults.
    const metadata = (named ?? {}) as SkillArtifact['metadata'];
    return place ? [{ ...place, ordinal, content: file.text, metadata }] : [];
  });
}

/**
 * The YAML between the first line `---` and the next. The first line is replaced by an empty one, so that
 * positions in it are positions in the file. Empty if there is no frontmatter.
 */
function frontmatterOf(text: string): string {
  return /^---[ \t]*(\r?\n[\s\S]*?\r?\n)---[ \t]*(?:\r?\n|$)/.exec(text)?.[1] ?? '';
}
