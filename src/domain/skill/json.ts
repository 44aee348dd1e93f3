import { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import { messageOf } from '../../core/errors.ts';
import type { Diagnostic } from '../../core/fault.ts';
import { memberDiagnostic } from '../../core/json-members.ts';
import { checkShape } from '../chain/shape.ts';
import { MAX_PACKAGE_BYTES } from './check-files.ts';
import { filesOf, type ParsedPackage, type SkillPackage } from './package.ts';
import { parsePackage } from './parse.ts';

const FORMAT = 'countersign-skill/1';
const NO_PACKAGE =
  'this is no exported package: that is one JSON document, as countersign skill export writes it';
/** A control character takes six bytes in JSON; what is longer cannot be a package. */
const MAX_JSON_LENGTH = 6 * MAX_PACKAGE_BYTES;

const packageJsonSchema = z.strictObject({
  format: z.literal(FORMAT),
  name: z.string(),
  /** Every file as it is, by its path in the package's folder. */
  files: z.record(z.string(), z.string()),
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
 * Reads such a document. Faults inside one of its files are told as `<file>#<name>/<path>:line:column`, those of the document itself at
 * its beginning. Never throws, whatever the text. Rejected: reading it as YAML, which tells places, as the JSON inside of packages is
 * read: YAML has no place for some characters that a file may hold, and would not give back every package that was written.
 */
export function packageFromJson(text: string, file: string): ParsedPackage {
  const at = (message: string): Diagnostic => ({ file, line: 1, column: 1, message });
  const no = (...diagnostics: Diagnostic[]): ParsedPackage => ({ folder: file, name: '', diagnostics });
  if (text.length > MAX_JSON_LENGTH) return no(at('the file is too large to be a skill package'));
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const isObject = text.trimStart().startsWith('{');
    return no(at(isObject ? `this is not valid JSON: ${messageOf(error)}` : NO_PACKAGE));
  }
  const odd = memberDiagnostic(text);
  if (odd !== undefined) return no(at(odd));
  const read = checkShape(packageJsonSchema, { value, diagnostic: (_, message) => at(message) });
  if (!read.value) return no(...read.diagnostics);
  const { name, files } = read.value;
  return parsePackage(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    `${file}#${name}`,
    name,
  );
}
