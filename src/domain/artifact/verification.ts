import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '../../core/canonical.ts';
import { unreachable } from '../../core/errors.ts';
import { globMatches } from '../../core/glob.ts';
import type { Outcome } from '../outcome/outcome.ts';
import { type Contract, type Expected, entryLabel } from './contract.ts';
import { schemaMismatch } from './json-schema.ts';
import { isOfType, readJson, typeOf } from './mime-type.ts';

/** JSON up to this size is parsed. The app's main process does it, so a large file would delay everybody. */
const MAX_JSON_BYTES = 1_000_000;

const missingSchema = z.strictObject({
  id: z.string(),
  /** As the contract names it. */
  path: z.string(),
  /**
   * `absent`: no such file or outcome, or an empty file. `invalid`: it exists but does not match the
   * contract.
   */
  problem: z.enum(['absent', 'invalid']),
  /** A clause, such as `it is empty`. */
  because: z.string(),
});
export type Missing = z.infer<typeof missingSchema>;

/** The comparison of a session's artifacts with its contract. */
export const verificationSchema = z.strictObject({
  /** `warning`: only optional entries are missing; `skipped`: the contract requires nothing. */
  status: z.enum(['passed', 'failed', 'warning', 'skipped']),
  checked_at: z.iso.datetime(),
  missing_required: z.array(missingSchema),
  missing_optional: z.array(missingSchema),
  /** Sizes in bytes. */
  produced: z.array(
    z.strictObject({
      id: z.string(),
      path: z.string(),
      size: z.int().min(0),
      /** Of a file: what its bytes are, their hash, and the artifact that has them. */
      mime_type: z.string().optional(),
      sha256: z.string().optional(),
      artifact_id: z.string().optional(),
    }),
  ),
});
export type Verification = z.infer<typeof verificationSchema>;

/** A file in the session's folder, as the store returned it. */
export interface ProducedFile {
  /** Relative to that folder. */
  path: string;
  bytes: Uint8Array;
  artifactId?: string;
}

type Found = Omit<Verification['produced'][number], 'id'>[];

/** Whether verification needs the content of this file. */
export function isExpected({ expected }: Contract, path: string): boolean {
  return expected.some(
    (entry) =>
      (entry.kind === 'file' && entry.path === path) ||
      (entry.kind === 'files' && globMatches(entry.glob, path)),
  );
}

/**
 * Compares what a session produced with its contract. Never throws: an unreadable file counts as missing
 * (invariant I5).
 */
export function verify(
  { expected }: Contract,
  produced: readonly ProducedFile[],
  outcomes: readonly Outcome[],
  now: Date,
): Verification {
  const checked = expected.map((entry) => ({ entry, ...check(entry, produced, outcomes) }));
  const missing = (required: boolean): Missing[] =>
    checked.flatMap(({ entry, lack }) =>
      lack === undefined || entry.required !== required
        ? []
        : [{ id: entry.id, path: entryLabel(entry), ...lack }],
    );
  const [missing_required, missing_optional] = [missing(true), missing(false)];
  return {
    status:
      expected.length === 0
        ? 'skipped'
        : missing_required.length > 0
          ? 'failed'
          : missing_optional.length > 0
            ? 'warning'
            : 'passed',
    checked_at: now.toISOString(),
    missing_required,
    missing_optional,
    produced: checked.flatMap(({ entry, found }) => found.map((file) => ({ id: entry.id, ...file }))),
  };
}

type Lack = Pick<Missing, 'problem' | 'because'>;

function check(
  entry: Expected,
  produced: readonly ProducedFile[],
  outcomes: readonly Outcome[],
): { found: Found; lack: Lack | undefined } {
  switch (entry.kind) {
    case 'outcome': {
      const found = outcomes.filter((outcome) => outcome.outcome_kind === entry.outcome);
      return {
        found: found.map((outcome) => ({
          path: outcome.outcome_kind,
          size: Buffer.byteLength(canonicalJson(outcome)),
        })),
        lack: found.length > 0 ? undefined : absent('the session has no such outcome'),
      };
    }
    case 'file': {
      const file = produced.find(({ path }) => path === entry.path);
      const lack = file ? lackOf(file, entry) : absent('it is not there');
      return { found: file && file.bytes.length > 0 ? [sized(file)] : [], lack };
    }
    case 'files': {
      const files = produced.filter(({ path, bytes }) => bytes.length > 0 && globMatches(entry.glob, path));
      return { found: files.map(sized), lack: filesLack(files, entry) };
    }
    default:
      return unreachable(entry);
  }
}

function filesLack(
  files: readonly ProducedFile[],
  entry: Extract<Expected, { kind: 'files' }>,
): Lack | undefined {
  const { min, max } = entry.count;
  if (files.length === 0) return absent('no file matches it');
  if (files.length < min || files.length > max) {
    const wanted = min === max ? `${min}` : `${min} to ${max}`;
    return invalid(
      `${files.length} ${files.length === 1 ? 'file matches' : 'files match'}, and there must be ${wanted}`,
    );
  }
  for (const file of files) {
    const lack = lackOf(file, entry);
    if (lack) return { ...lack, because: `${file.path}: ${lack.because}` };
  }
  return undefined;
}

function lackOf({ bytes }: ProducedFile, entry: Exclude<Expected, { kind: 'outcome' }>): Lack | undefined {
  const { min_size = 1, mime_type, schema } = entry;
  if (bytes.length === 0) return absent('it is empty');
  if (bytes.length < min_size) return invalid(`it has ${bytes.length} bytes, and needs ${min_size}`);
  const isJson = schema !== undefined || mime_type === 'application/json';
  if (isJson && bytes.length > MAX_JSON_BYTES)
    return invalid(`it has more than ${MAX_JSON_BYTES} bytes to parse`);
  if (mime_type !== undefined && !isOfType(bytes, mime_type))
    return invalid(`it is not of the type ${mime_type}`);
  if (schema === undefined) return undefined;
  const json = readJson(bytes);
  if (!json) return invalid('it is not JSON');
  const mismatch = schemaMismatch(schema, json.value);
  return mismatch === undefined
    ? undefined
    : invalid(`it does not have the shape that was asked for (${mismatch})`);
}

function absent(because: string): Lack {
  return { problem: 'absent', because };
}

function invalid(because: string): Lack {
  return { problem: 'invalid', because };
}

function sized({ path, bytes, artifactId }: ProducedFile): Found[number] {
  return {
    path,
    size: bytes.length,
    mime_type: typeOf(bytes),
    sha256: createHash('sha256').update(bytes).digest('hex'),
    ...(artifactId !== undefined && { artifact_id: artifactId }),
  };
}
