import type { Diagnostic } from '../../core/diagnostic.ts';

/** @param isFiltered whether only some were asked for */
export function nothingToReport(isFiltered: boolean): string {
  return `No ${isFiltered ? 'such repository' : 'repository'} has been read yet. Each is listed once the app has read its default branch: with its first pull request, and otherwise within a day.`;
}

/** The file of a configuration, in which repository it is, and where in it. */
export function placeOfDiagnostic(
  repository: string,
  { file, line }: Pick<Diagnostic, 'file' | 'line'>,
): { repository: string; file: string; line: number } {
  // A file of the organisation, such as `octo/.github:countersign/chains/a.yaml`, or all of it.
  const [, owned, path = ''] = /^([^/:]+\/\.github)(?::(.+))?$/.exec(file) ?? [];
  return owned === undefined ? { repository, file, line } : { repository: owned, file: path, line };
}
