import { plainLine } from '../../domain/run/explain.ts';

/*
 * What long work says on the last line of a terminal. Each text replaces the one before.
 */

export function readingRepository(repository: string): string {
  return `Reading ${repository} …`;
}

export function pullRequestsPlayed(done: number, of: number): string {
  return `${done} of ${of} pull requests are decided …`;
}

export function casePlayed(at: number, of: number, name: string): string {
  return `Case ${at} of ${of}: ${plainLine(name)}`;
}

export function copied(done: number, of: number): string {
  return of === 0 ? 'Copying …' : `Copied ${Math.floor((100 * done) / of)} % …`;
}

export function blobsRead(done: number, of: number): string {
  return `Read ${done} of ${of} blobs …`;
}

/** The parts of an optimization. */
export type OptimizationStage =
  | { kind: 'measuring'; which: 'before' | 'after'; done: number; of: number }
  | { kind: 'searching'; among: number };

export function optimizing(stage: OptimizationStage): string {
  switch (stage.kind) {
    case 'measuring':
      return `Measuring ${stage.which === 'before' ? 'the module as it is' : 'with the examples that were found'}: ${stage.done} of ${stage.of} …`;
    case 'searching':
      return `Looking for examples among ${stage.among} …`;
  }
}
