/** A path an expression reads, as far as it is written out: `steps[0].outcome` is root `steps`, path `[0, 'outcome']`. */
export interface Reference {
  root: string;
  path: (string | number)[];
  /** Where in the source, in characters from 0. */
  offset: number;
}
