/**
 * A path that an expression reads, up to its first computed part: `steps[0].outcome` has root `steps`, path
 * `[0, 'outcome']`.
 */
export interface Reference {
  root: string;
  path: (string | number)[];
  /** The position in the source, in characters from 0. */
  offset: number;
}
