import { unreachable } from '../../core/errors.ts';
import type { RunFacts } from '../../domain/run/run.ts';

/** Where the chain of a run is defined, as the end of a sentence. The file can have any name. */
export function definedIn(defined: NonNullable<RunFacts['defined']>): string {
  switch (defined.scope) {
    case 'repository':
      return `a file of the repository (${defined.file})`;
    case 'organisation':
      return `a file of the organisation (${defined.file})`;
    case 'stored':
      return 'stored on this server';
    case 'shipped':
      return 'one that ships with Countersign';
    default:
      return unreachable(defined);
  }
}
