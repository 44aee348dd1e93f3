/** The last line of a log that is followed. */
export const LINES_CUT =
  '(Only the first 256 KB are shown while the step runs. The whole log is an artifact when it has ended.)';
