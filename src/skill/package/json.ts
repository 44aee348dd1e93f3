import { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import type { Fault } from '../../core/fault.ts';
import { MAX_FILES, MAX_PACKAGE_BYTES } from './check-files.ts';
import { filesOf, type ParsedPackage, type SkillPackage } from './package.ts';
import { parsePackage } from './parse.ts';

const FORMAT = 'countersign-skill/1';
/** A control character takes six bytes in JSON; what is longer cannot be a package. */
const MAX_JSON_LENGTH = 6 * MAX_PACKAGE_BYTES;

const packageJsonSchema = z.strictObject({
  format: z.literal(FORMAT),
  name: z.string(),
  /** Every file as it is, by its path in the package's folder. */
  files: z.record(z.string(), z.string()).refine((files) => Object.keys(files).length <= MAX_FILES),
});

/**
 * The package as one JSON document: its files, word by word, so that nothing is lost on the way there and back. Rejected: a
 * field for each thing a SKILL.md says, beside that file, because the two could then say different things.
 */
export function packageToJson(skill: SkillPackage): string {
  const files = Object.fromEntries(filesOf(skill).map(({ path, text }) => [path, text]));
  return `${JSON.stringify({ format: FORMAT, name: skill.name, files }, null, 2)}\n`;
}

/**
 * Reads such a document. Faults inside one of its files are told as `<file>#<name>/<path>:line:column`. Never throws, whatever
 * the text.
 */
export function packageFromJson(text: string, file: string): ParsedPackage {
  const no = (message: string): ParsedPackage => {
    const fault: Fault = { file, line: 1, column: 1, message };
    return { folder: file, name: '', faults: [fault] };
  };
  if (text.length > MAX_JSON_LENGTH) return no('the file is too large to be a skill package');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return no(`this is not valid JSON: ${messageOf(error)}`);
  }
  const read = packageJsonSchema.safeParse(value);
  if (!read.success) {
    return no(`a skill package is {"format": "${FORMAT}", "name": "…", "files": {"SKILL.md": "…", …}}`);
  }
  const { name, files } = read.data;
  return parsePackage(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    `${file}#${name}`,
    name,
  );
}
