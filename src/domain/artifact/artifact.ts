/** The kinds of artifacts that are no outcomes. */
export const BLOB_KINDS = ['log', 'analyzer_output', 'file'] as const;
export type BlobKind = (typeof BLOB_KINDS)[number];

/** One row: a structured outcome in `content`, or a large blob as its path in the blob store. */
export interface Artifact {
  id: string;
  runId: string;
  invocationId: string;
  sessionId: string;
  createdAt: Date;
  /** An outcome kind, or a {@link BlobKind}. */
  kind: string;
  name: string;
  /** Canonical JSON; `null` when the artifact is a blob. */
  content: string | null;
  /** Path inside the blob store; `null` when the artifact is in `content`. */
  filePath: string | null;
}
