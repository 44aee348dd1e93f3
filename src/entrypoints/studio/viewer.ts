/** Who sent a request. */
export type Viewer =
  | { kind: 'nobody' }
  /** Somebody on the server's own machine, with the link that was printed there. Reads everything, changes nothing. */
  | { kind: 'machine' }
  | Person;

export interface Person {
  kind: 'person';
  /** On GitHub. */
  id: number;
  login: string;
  isOperator: boolean;
  /** Proves that a form was sent from a page of this session. */
  csrf: string;
}

/** Whether the viewer may see what concerns the whole installation rather than a repository. */
export function isOperator(viewer: Viewer): boolean {
  return viewer.kind === 'machine' || (viewer.kind === 'person' && viewer.isOperator);
}
