/** One row: a structured outcome in `content`, or a large blob as its path in the blob store. */
export interface Artifact {
  id: string;
  runId: string;
  invocationId: string;
  sessionId: string;
  createdAt: Date;
  /** An outcome kind, or `log`, `diff`, `analyzer_output`, `file`. */
  kind: string;
  name: string;
  /** Canonical JSON; `null` when the artifact is a blob. */
  content: string | null;
  /** Path inside the blob store; `null` when the artifact is in `content`. */
  filePath: string | null;
}
