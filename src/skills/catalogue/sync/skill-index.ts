import { z } from 'zod';
import { addressOf } from '../../../domain/skill/index-address.ts';
import { MAX_NAME_LENGTH, manifestSchema, SKILL_NAME } from '../../../domain/skill/manifest.ts';

const INDEX_FORMAT = 'countersign-index/1';
export const MAX_INDEX_BYTES = 1_000_000;
const MAX_SKILLS = 500;
/**
 * In bytes, for a package as one JSON document: 512 KB of text, in which a control character takes six bytes.
 */
const MAX_DOCUMENT_BYTES = 3_200_000;

const indexSchema = z.strictObject({
  format: z.literal(INDEX_FORMAT),
  skills: z.array(z.unknown()).max(MAX_SKILLS),
});

const entrySchema = z.strictObject({
  name: z.string().max(MAX_NAME_LENGTH).regex(SKILL_NAME),
  version: manifestSchema.shape.version.unwrap(),
  /** The address of its document, in the format of `skill export`. May be relative to the index. */
  url: z.string().min(1).max(2_000),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** In bytes. */
  size: z.int().positive().max(MAX_DOCUMENT_BYTES),
});

/** One package in an index. */
export interface IndexEntry extends Omit<z.infer<typeof entrySchema>, 'url'> {
  url: URL;
}

export interface SkillIndex {
  entries: IndexEntry[];
  /** Entries that are invalid, with their names as far as they have one. */
  refused: { name: string; because: string }[];
}

/**
 * Reads an index. Invalid entries do not affect the others; an invalid document is reported as a whole. Never
 * throws, whatever the text.
 * @param at the address that it was read from
 */
export function readIndex(text: string, at: URL): SkillIndex | { because: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { because: 'it is not valid JSON' };
  }
  const read = indexSchema.safeParse(value);
  if (!read.success) {
    return {
      because: `an index is {"format": "${INDEX_FORMAT}", "skills": […]}, with at most ${MAX_SKILLS} skills`,
    };
  }
  const index: SkillIndex = { entries: [], refused: [] };
  for (const [position, written] of read.data.skills.entries()) {
    const entry = readEntry(written, at);
    if ('because' in entry) index.refused.push({ name: nameIn(written, position), because: entry.because });
    else index.entries.push(entry);
  }
  return withoutDuplicates(index);
}

function readEntry(written: unknown, at: URL): IndexEntry | { because: string } {
  const read = entrySchema.safeParse(written);
  if (!read.success) {
    const [issue] = read.error.issues;
    const path = issue?.path.map(String).join('.') ?? '';
    return { because: `its entry is wrong: ${path === '' ? '' : `${path}: `}${issue?.message ?? ''}` };
  }
  const url = addressOf(read.data.url, at);
  return 'because' in url ? url : { ...read.data, url };
}

function nameIn(written: unknown, position: number): string {
  const named = z.looseObject({ name: z.string().min(1).max(MAX_NAME_LENGTH) }).safeParse(written);
  return named.success ? named.data.name : `skills[${position}]`;
}

/** If two packages have the same name, both are rejected, because it is unclear which one is meant. */
function withoutDuplicates({ entries, refused }: SkillIndex): SkillIndex {
  const count = Map.groupBy(entries, ({ name }) => name);
  const twins = [...count].filter(([, all]) => all.length > 1).map(([name]) => name);
  return {
    entries: entries.filter(({ name }) => !twins.includes(name)),
    refused: [...refused, ...twins.map((name) => ({ name, because: 'the index names it more than once' }))],
  };
}
