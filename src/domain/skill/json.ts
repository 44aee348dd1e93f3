import { z } from 'zod';
import type { Json } from '../../core/canonical.ts';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { messageOf } from '../../core/errors.ts';
import { memberDiagnostic } from '../../core/json-members.ts';
import { checkShape } from '../chain/shape.ts';
import { MAX_PACKAGE_BYTES } from './check-files.ts';
import { filesOf, type ParsedPackage, type SkillPackage } from './package.ts';
import { parsePackage } from './parse.ts';

const FORMAT = 'countersign-skill/1';
const NO_PACKAGE =
  'this is no exported package: that is one JSON document, as countersign skill export writes it';
/** JSON needs up to six bytes for a control character, so a longer document cannot be a package. */
const MAX_JSON_LENGTH = 6 * MAX_PACKAGE_BYTES;

const packageJsonSchema = z.strictObject({
  format: z.literal(FORMAT),
  name: z.string(),
  /** Every file's text, by its path in the package's folder. */
  files: z.record(z.string(), z.string()),
});

/**
 * The package as one JSON document with the text of each file, so that export and import lose nothing.
 * Rejected: fields for the contents of the SKILL.md beside the file itself, because the two could contradict
 * each other.
 */
export function packageToJson(skill: SkillPackage): string {
  const files = Object.fromEntries(filesOf(skill).map(({ path, text }) => [path, text]));
  return `${JSON.stringify({ format: FORMAT, name: skill.name, files }, null, 2)}\n`;
}

/**
 * Reads such a document. Diagnostics inside a file are at `<file>#<name>/<path>:line:column`, those of the
 * document at its start. Never throws, for any text. Rejected: reading it as YAML, which would give
 * positions, as for the JSON inside packages. YAML does not allow some characters that a file can contain, so
 * not every exported package could be imported.
 */
export function packageFromJson(text: string, file: string): ParsedPackage {
  const at = (message: string): Diagnostic => ({ file, line: 1, column: 1, message });
  const refused = (...diagnostics: Diagnostic[]): ParsedPackage => ({ folder: file, name: '', diagnostics });
  if (text.length > MAX_JSON_LENGTH) return refused(at('the file is too large to be a skill package'));
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const isObject = text.trimStart().startsWith('{');
    return refused(at(isObject ? `this is not valid JSON: ${messageOf(error)}` : NO_PACKAGE));
  }
  const ambiguity = memberDiagnostic(text);
  if (ambiguity !== undefined) return refused(at(ambiguity));
  const read = checkShape(packageJsonSchema, { value, diagnostic: (_, message) => at(message) });
  if (!read.value) return refused(...read.diagnostics);
  const { name, files } = read.value;
  return parsePackage(
    Object.entries(files).map(([path, text]) => ({ path, text })),
    `${file}#${name}`,
    name,
  );
}
