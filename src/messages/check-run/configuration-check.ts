import { type Diagnostic, formatDiagnostic } from '../../core/diagnostic.ts';
import { OWN_CHECKS } from '../../domain/chain/check-name.ts';
import type { Annotation, CheckRunContent } from '../../domain/effect/effect.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { fitting } from '../text/fitting.ts';
import { clipBytes, code, inline } from '../text/markdown.ts';
import { clip, plural, short, utc } from '../text/pretty.ts';
import { withRest } from '../text/section.ts';
import { MAX_ANNOTATIONS } from './annotations.ts';
import { MAX_OUTPUT_BYTES } from './check-run.ts';

const SHOWN = { items: 200, bytes: 40_000 };
const FILES = { items: 50, bytes: 10_000 };

/** The diagnostic of a file that exceeds the size limit. */
export const tooLarge = 'the file is larger than 64 KB, which is the most allowed';

/** @param most how many files of a folder are read */
export function tooManyChainFiles(most: number): string {
  return `only the first ${most} chain files of a folder are read, by their names`;
}

export const WRONG_SETTINGS_NAME = 'settings are read from countersign.yml only: rename this file';

/** The diagnostic of a chain file in a subfolder of the folder for chains. */
export function misplacedChain(file: string, folder: string): string {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return `chains are not read from folders in ${folder}: move this file to ${folder}/${name}`;
}

/** The diagnostic of an organisation whose files existed and are no longer visible. */
export function organisationGone(owner: string, { sha, seenAt }: { sha: string; seenAt: Date }): string {
  return `the organisation had settings, chains or skills here (${short(sha)}, ${utc(seenAt)}), and GitHub says now that there is no such repository: give the app access to ${owner}/.github again, or, if it is gone on purpose, run \`countersign organisation forget ${owner}\``;
}

export function organisationUnreadable(owner: string, said: string): string {
  return `GitHub does not show what the organisation's settings are: ${said}; let the app read ${owner}/.github`;
}

export interface ConfigurationView {
  headSha: string;
  /** Identifies this check run among others of the commit. Equal for the same question. */
  externalId: string;
  diagnostics: readonly Diagnostic[];
  at: Date;
}

/**
 * The check for errors in the chains and settings of the base branch. Neutral: the pull request did not cause
 * them, and a pull request that uses none of the broken files is not blocked.
 */
export function baseConfigurationCheck(
  view: ConfigurationView & {
    baseRef: string;
    baseSha: string;
    settingsBroken: boolean;
    /** The broken files belong to the organisation, and GitHub does not show them. */
    outOfSight: boolean;
  },
): CheckRunContent {
  const { baseRef, baseSha, diagnostics, settingsBroken, outOfSight } = view;
  if (outOfSight) return organisationCheck(view);
  return {
    ...frame(view, OWN_CHECKS.baseConfiguration, 'neutral'),
    title: `${plural(diagnostics.length, 'error')} in the configuration on ${clip(plainLine(baseRef), 100)}`,
    summary: limited([
      `The configuration on ${code(baseRef)} (${code(short(baseSha))}) cannot be read as it is:`,
      list(diagnostics),
      settingsBroken
        ? 'This pull request did not cause it. Without its settings it is not known who may countersign, so no chain runs until they are corrected.'
        : 'This pull request did not cause it. What the broken files define does not run until they are corrected; other chains are not affected.',
      `**Next:** correct the files on ${code(baseRef)}. ${linters(diagnostics)} finds the same errors on your machine.`,
    ]),
    annotations: [],
  };
}

/**
 * The organisation's requirements for all its repositories are unreadable, so nothing may run, not even under
 * weaker settings.
 */
function organisationCheck(view: ConfigurationView): CheckRunContent {
  return {
    ...frame(view, 'countersign / base configuration', 'neutral'),
    title: 'The settings of the organisation cannot be read',
    summary: limited([
      "The organisation's settings, chains and skills apply to this repository, and cannot be read:",
      list(view.diagnostics),
      'This pull request did not cause it. Nothing runs and nothing is merged until they can be read again, or somebody confirms that there are none.',
    ]),
    annotations: [],
  };
}

const WARNED = 'These are allowed, but probably not intended:';

/** The check for a pull request that changes chains or settings: would they work after the merge? */
export function configurationCheck(
  view: ConfigurationView & { files: readonly string[]; warnings: readonly Diagnostic[] },
): CheckRunContent {
  const { diagnostics, files, warnings } = view;
  const sound = diagnostics.length === 0;
  const warned = warnings.length === 0 ? '' : `, ${plural(warnings.length, 'warning')}`;
  return {
    ...frame(view, OWN_CHECKS.configuration, sound ? 'success' : 'failure'),
    title: sound
      ? `${plural(files.length, 'configuration file')} checked, no errors${warned}`
      : `${plural(diagnostics.length, 'error')} in the configuration${warned}`,
    summary: limited([
      sound ? 'The configuration that this pull request changes has no errors:' : list(diagnostics),
      sound ? list(files) : `Checked: ${plural(files.length, 'file')}.`,
      ...(warnings.length === 0 ? [] : [WARNED, list(warnings)]),
      'It takes effect once it is merged. Until then, the configuration of the base branch applies, to this pull request too.',
      ...(sound
        ? []
        : [
            `**Next:** correct the errors and push. ${linters(diagnostics)} finds the same ones on your machine.`,
          ]),
    ]),
    annotations: [...diagnostics, ...warnings].slice(0, MAX_ANNOTATIONS).map(annotation),
  };
}

function frame(
  { headSha, externalId, at }: ConfigurationView,
  name: string,
  conclusion: 'success' | 'failure' | 'neutral',
) {
  return {
    name,
    head_sha: headSha,
    external_id: externalId,
    state: { status: 'completed' as const, conclusion, completed_at: at.toISOString() },
    text: '',
    actions: [],
  };
}

function limited(paragraphs: readonly string[]): string {
  return clipBytes(paragraphs.join('\n\n'), MAX_OUTPUT_BYTES);
}

function list(items: readonly (Diagnostic | string)[]): string {
  const shown = fitting(
    items,
    (item) =>
      typeof item === 'string'
        ? `- ${code(clip(item, 200))}`
        : `- ${code(clip(`${item.file}:${item.line}:${item.column}`, 200))} ${inline(item.message, 500)}`,
    typeof items[0] === 'string' ? FILES : SHOWN,
  );
  return withRest(shown, `which ${linters(items)} prints`);
}

/** The command that finds these errors. Skills have a separate one. */
function linters(diagnostics: readonly (Diagnostic | string)[]): string {
  const ofSkills = diagnostics.filter(
    (diagnostic) => typeof diagnostic !== 'string' && /(^|[:/])countersign\/skills\//.test(diagnostic.file),
  );
  if (ofSkills.length === 0) return '`countersign chain lint`';
  return ofSkills.length === diagnostics.length
    ? '`countersign skill lint`'
    : '`countersign chain lint` or `countersign skill lint`';
}

function annotation(diagnostic: Diagnostic): Annotation {
  return {
    path: diagnostic.file,
    start_line: diagnostic.line,
    end_line: diagnostic.line,
    level: diagnostic.severity ?? 'failure',
    title: 'Countersign configuration',
    message: clip(plainLine(formatDiagnostic(diagnostic)), 4_000),
  };
}
