/** What a session has printed so far. */
export interface PrintedLines {
  text: string;
  /** When the attempt began that printed them. A session whose process died begins again. */
  begunAt: Date;
  /** In bytes of what the attempt has printed: where the text begins and ends. */
  from: number;
  to: number;
}

/**
 * The lines that running sessions have printed so far, for people who follow them. They go in the transaction that
 * records a session's result, whose artifact is the whole log.
 */
export interface SessionLogs {
  /**
   * Adds whole lines, unless the session is over.
   * @param lines `isFirst`: of this attempt, so that what an earlier one has left goes
   */
  append(lines: {
    runId: string;
    sessionId: string;
    begunAt: Date;
    text: string;
    isFirst: boolean;
  }): Promise<void>;
  /**
   * What the session of that run has printed, in one statement: what follows a place, all of it if another attempt has
   * begun, or about so many bytes of its end. `undefined` if that is nothing.
   */
  read(
    session: { runId: string; sessionId: string },
    part: { after: { begunAt: Date; position: number } } | { most: number },
  ): Promise<PrintedLines | undefined>;
}
