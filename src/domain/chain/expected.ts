import type { Contract, Expected } from '../artifact/contract.ts';
import type { ExpectedInFile } from './chain-file.ts';

/** The contract of a step's `artifacts:`, for entries without diagnostics of `check-artifacts.ts`. */
export function toContract(entries: readonly ExpectedInFile[]): Contract {
  return { expected: entries.map(toExpected) };
}

function toExpected(entry: ExpectedInFile): Expected {
  const { id, description, min_size, mime_type, schema } = entry;
  const base = {
    id,
    required: entry.required ?? true,
    source: 'step' as const,
    ...(description === undefined ? {} : { description }),
  };
  if (entry.outcome !== undefined) return { kind: 'outcome', ...base, outcome: entry.outcome };
  const content = {
    ...(min_size === undefined ? {} : { min_size }),
    ...(mime_type === undefined ? {} : { mime_type }),
    ...(schema === undefined ? {} : { schema }),
  };
  if (entry.glob === undefined) return { kind: 'file', ...base, path: entry.path ?? '', ...content };
  const { count = 1 } = entry;
  return {
    kind: 'files',
    ...base,
    glob: entry.glob,
    count: typeof count === 'number' ? { min: count, max: count } : count,
    ...content,
  };
}
