import { z } from 'zod';
import { shown } from '../../../../analyzers/mask.ts';
import type { Json } from '../../../../core/canonical.ts';
import {
  KNOWN_CATEGORIES,
  type KnownCategory,
  SEVERITIES,
  type Severity,
} from '../../../../domain/outcome/finding.ts';
import type { RememberedFinding } from '../../../../domain/outcome/model-memory.ts';
import { anchorOf } from './anchor.ts';
import { type Piece, printOfFile } from './piece.ts';

/** A file as one question shows it. The answer refers to it by number. */
export interface ShownFile {
  path: string;
  /** The pieces of it that the question shows. */
  pieces: readonly Piece[];
  /** All its pieces. */
  all: readonly Piece[];
}

/** The most findings accepted from one answer. An answer with more is not a review. */
const MAX_FINDINGS = 100;
const MAX_WORDS = 1_000;

/**
 * The schema of answers: findings only. The verdict follows from them by a rule, so a manipulated model has
 * no way to approve.
 * @param files the number of files in the question; a finding for any other file makes the answer invalid
 */
export function answerSchema(files: number) {
  return z.strictObject({
    findings: z
      .array(
        z.strictObject({
          severity: z.enum(SEVERITIES),
          // Only known ones: with a word of its own for style, a model could block over a matter of taste.
          category: z.enum(KNOWN_CATEGORIES),
          file: z.int().min(1).max(files).describe('The number of the file.'),
          anchor: z
            .string()
            .max(20)
            .nullable()
            .describe('The anchor of the line, such as 12#a3f0; null: the file as a whole.'),
          description: z.string().trim().min(1).max(MAX_WORDS).describe('What is wrong, in one sentence.'),
          suggestion: z.string().max(MAX_WORDS).describe('What to do about it.'),
        }),
      )
      .max(MAX_FINDINGS),
  });
}

/**
 * The highest severity for findings of these categories, whatever the model says: matters of taste must not
 * block a merge.
 */
const MAX_SEVERITY: Partial<Record<KnownCategory, Severity>> = { style: 'low', debugging: 'medium' };

/**
 * The model's findings with their locations. If it names a line wrongly, the finding applies to the file,
 * with the same severity. Otherwise a change that confuses a model about lines would be judged more mildly.
 */
export function locatedFindings(
  answer: Json,
  files: readonly ShownFile[],
  mask: (text: string) => string,
): RememberedFinding[] {
  return answerSchema(files.length)
    .parse(answer)
    .findings.flatMap(({ file: number, anchor, severity, category, ...words }): RememberedFinding[] => {
      const file = files[number - 1];
      if (!file) return [];
      const finding: RememberedFinding['finding'] = {
        severity: clamped(severity, category),
        category,
        file: file.path,
        description: oneLine(words.description, mask),
        suggestion: oneLine(words.suggestion, mask),
        rule: `model/${category}`,
      };
      const place = anchor === null ? undefined : placeOf(anchor, file.pieces);
      if (!place) return [{ of: printOfFile(file.all), offset: null, finding }];
      const { piece, offset, line, text } = place;
      const evidence = shown(mask(text));
      return [
        { of: piece.print, offset, finding: { ...finding, line, ...(evidence !== '' && { evidence }) } },
      ];
    });
}

function placeOf(anchor: string, pieces: readonly Piece[]) {
  for (const piece of pieces) {
    for (const [offset, { mark, text, line }] of piece.lines.entries()) {
      if (mark === '+' && anchorOf(line, text) === anchor.trim()) return { piece, offset, line, text };
    }
  }
  return undefined;
}

function clamped(severity: Severity, category: KnownCategory): Severity {
  const most = MAX_SEVERITY[category];
  return most !== undefined && SEVERITIES.indexOf(severity) < SEVERITIES.indexOf(most) ? most : severity;
}

/** A model may repeat a secret that it was shown unrecognised, or write invisible characters. */
function oneLine(text: string, mask: (text: string) => string): string {
  return shown(mask(text).replaceAll(/\s+/g, ' '), MAX_WORDS);
}
