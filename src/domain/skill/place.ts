import type { SkillArtifact } from './skill.ts';

/** The file that makes a folder a package. */
export const SKILL_FILE = 'SKILL.md';

const FOLDERS = [
  { folder: 'prompts', extensions: ['md'], kind: 'prompt_template' },
  { folder: 'code', extensions: ['py', 'js'], kind: 'code_template' },
  { folder: 'modules', extensions: ['json'], kind: 'dspy_module' },
  { folder: 'analyzers', extensions: ['yml'], kind: 'analyzer' },
  { folder: 'agents', extensions: ['yml'], kind: 'agent' },
] as const satisfies readonly { folder: string; extensions: string[]; kind: SkillArtifact['kind'] }[];

/** Every path that a package's file can have, as people write it. */
export const PLACES: readonly string[] = [
  SKILL_FILE,
  ...FOLDERS.flatMap(({ folder, extensions }) => extensions.map((extension) => `${folder}/*.${extension}`)),
  'tests/*.yml',
];

/** The folders that a package can have. */
export const PACKAGE_FOLDERS: readonly string[] = [...FOLDERS.map(({ folder }) => folder), 'tests'];

const STEM = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const VARIANT = /^[a-z0-9][a-z0-9.-]{0,49}$/;

/** Cases for `skill test`. They are not artifacts: no run uses them. */
export function isTestFile(path: string): boolean {
  return /^tests\/[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.yml$/.test(path);
}

export type Place = Pick<SkillArtifact, 'kind' | 'name' | 'modelVariant'>;

/**
 * The kind, name and variant of a package's file, derived from its path: `prompts/review@gpt.md` is the
 * prompt `review.md` in the variant for `gpt`. `undefined` if a package cannot have such a file. Each path
 * has one spelling, so `pathOf` is the inverse.
 */
export function placeOf(path: string): Place | undefined {
  if (path === SKILL_FILE) return { kind: 'description', name: SKILL_FILE, modelVariant: null };
  const [, folder, stem = '', variant, extension = ''] =
    /^([a-z]+)\/([^/@]+)(?:@([^/@]*))?\.([a-z]+)$/.exec(path) ?? [];
  const found = FOLDERS.find((one) => one.folder === folder);
  const isKnown = found?.extensions.some((one) => one === extension);
  if (!found || !isKnown || !STEM.test(stem) || (variant !== undefined && !VARIANT.test(variant))) {
    return undefined;
  }
  return { kind: found.kind, name: `${stem}.${extension}`, modelVariant: variant ?? null };
}

/** The path of an artifact in its package's folder. */
export function pathOf({ kind, name, modelVariant }: Place): string {
  const folder = FOLDERS.find((one) => one.kind === kind)?.folder;
  if (folder === undefined) return name;
  if (modelVariant === null) return `${folder}/${name}`;
  const dot = name.lastIndexOf('.');
  return `${folder}/${name.slice(0, dot)}@${modelVariant}${name.slice(dot)}`;
}
