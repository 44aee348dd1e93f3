import { basename } from 'node:path';
import type { Diagnostic } from '../../core/diagnostic.ts';
import { plainLine } from '../../domain/run/explain.ts';
import { pathOf } from '../../domain/skill/place.ts';
import type { SkillInForce, SkillScope } from '../../domain/skill/scope.ts';
import { visible } from '../text/markdown.ts';
import { asSentence, listed, plural } from '../text/pretty.ts';
import { PLAIN, paint, type Screen } from '../text/screen.ts';
import { becauseOf, diagnosticLines, noSuch } from './diagnostics.ts';
import { table } from './table.ts';

const FROM: Readonly<Record<SkillScope, string>> = {
  workspace: 'of the repository',
  organisation: 'of the organisation',
  shipped: 'ships with Countersign',
  community: 'from an index',
};

/** The output of `skill list`. */
export function skillTable(
  skills: readonly {
    name: string;
    scope: SkillScope;
    folder: string;
    version: string | null;
    available: string | null;
    outcome: string | null;
    kinds: readonly string[];
    diagnostics: readonly Diagnostic[];
  }[],
  screen: Screen = PLAIN,
): string {
  if (skills.length === 0) return 'No skills.';
  return table(
    ['SKILL', 'VERSION', 'FROM', { heading: 'FOLDER', keeps: 'end', leftOut: 1 }, 'COMES TO', 'ARTIFACTS'],
    skills.map(({ name, version, available, scope, folder, outcome, kinds, diagnostics }) => [
      name,
      [version ?? '', ...(available === null ? [] : [`(${available} available)`])].join(' ').trim(),
      scope,
      folder,
      outcome ?? '',
      diagnostics.length > 0 ? `${plural(diagnostics.length, 'error')}: is not used` : kinds.join(', '),
    ]),
    { screen },
  );
}

/**
 * `skill show`: the skill's origin, what it does, what selects it, and its files.
 * @param isBuiltIn Countersign executes it itself, and its package only describes it
 */
export function skillText(
  { skill, scope, folder }: SkillInForce,
  isBuiltIn: boolean,
  screen: Screen = PLAIN,
): string {
  const version = skill.version === null ? '' : ` ${skill.version}`;
  const selectors: [string, readonly string[]][] = [
    ['tags', skill.tags],
    ['trigger phrases', skill.triggerPhrases],
    ['intent patterns', skill.intentPatterns],
    ['paths', skill.paths],
  ];
  return [
    `${skill.name}${version} (${FROM[scope]}: ${plainLine(folder)})`,
    asSentence(plainLine(skill.description)),
    ...(isBuiltIn ? ['It is built in: Countersign carries it out itself.'] : []),
    ...(skill.outcome === null ? [] : [asSentence(`its outcome is a ${skill.outcome}`)]),
    ...(skill.outcome === null && !isBuiltIn ? ['No step can run it: it says no outcome.'] : []),
    ...selectors
      .filter(([, said]) => said.length > 0)
      .map(([what, said]) => asSentence(`${what}: ${said.map(plainLine).join(', ')}`)),
    '',
    table(
      ['FILE', 'KIND', 'FOR', 'BYTES'],
      [
        ...skill.artifacts.map((artifact) => [
          pathOf(artifact),
          artifact.kind,
          artifact.modelVariant ?? '',
          String(Buffer.byteLength(artifact.content)),
        ]),
        ...skill.tests.map(({ path, text }) => [path, 'cases', '', String(Buffer.byteLength(text))]),
      ],
      { screen },
    ),
  ].join('\n');
}

export const NOTHING_TO_MATCH =
  'Ask a question, name a file that changes, or do both: countersign skill match check the names --path src/a.ts';

/** The output of `skill match`. */
export function matchText(
  matches: readonly { name: string; score: number; reasons: readonly { kind: string; said: string }[] }[],
  screen: Screen = PLAIN,
): string {
  if (matches.length === 0) return 'No skill fits.';
  return table(
    ['SKILL', 'SCORE', 'BECAUSE OF'],
    matches.map(({ name, score, reasons }) => [
      name,
      score.toFixed(2),
      reasons.map(({ kind, said }) => `${kind} ${said}`).join('; '),
    ]),
    { screen },
  );
}

/** `skill lint`: each error and warning as `file:line:col: message`, then a line with the totals. */
export function skillLintText(
  packages: readonly { diagnostics: readonly Diagnostic[]; warnings: readonly Diagnostic[] }[],
  paths: readonly string[],
  screen: Screen = PLAIN,
): string {
  if (packages.length === 0) {
    const where = paths.length === 0 ? '.github/countersign/skills here' : listed(paths.map(plainLine), 'or');
    return `Nothing to check: there are no skills in ${where}.`;
  }
  const diagnostics = packages.flatMap((one) => one.diagnostics);
  const faulty = packages.filter((one) => one.diagnostics.length > 0).length;
  const where = packages.length === 1 ? '' : ` in ${faulty} of them`;
  const warnings = packages.flatMap((one) => one.warnings);
  const errors = diagnostics.length === 0 ? 'no errors' : `${plural(diagnostics.length, 'error')}${where}`;
  const count = warnings.length === 0 ? errors : `${errors}, ${plural(warnings.length, 'warning')}`;
  const lines = diagnosticLines([...diagnostics, ...warnings]);
  return [
    ...lines,
    ...(lines.length === 0 ? [] : ['']),
    `Checked ${plural(packages.length, 'skill')}: ${paint(errors === 'no errors' ? 'good' : 'bad', count, screen)}.`,
  ].join('\n');
}

export function unknownSkill(name: string, known: readonly string[]): string {
  // Shell completion often gives a path.
  return noSuch('skill', name, known, basename(name));
}

export function brokenSkill(name: string, diagnostics: readonly Diagnostic[]): string {
  return becauseOf(`The skill ${plainLine(name)} cannot be used`, diagnostics, 'countersign skill lint');
}

export function notASkillName(name: string): string {
  return `${plainLine(name)} is no name of a skill: small letters, digits and single - are, and a letter comes first.`;
}

export function skillExists(folder: string): string {
  return `There is a skill in ${plainLine(folder)} already; remove it first if this one is to take its place.`;
}

export function cannotWrite(file: string, because: string): string {
  return asSentence(`the file ${plainLine(file)} cannot be written: ${plainLine(because)}`);
}

export const DATABASE_ONLY_TO_DRAFT =
  '--database is only for --draft: without it, no model is asked and no database is read.';

export const NOTHING_TO_DRAFT_FROM = '--draft needs a --description to draft from.';

export function notDrafted(because: string): string {
  return `Nothing was drafted and nothing written: ${because}`;
}

/** @param failing the cases of the draft that still fail, with what is wrong */
export function skillDrafted(rounds: number, failing: readonly string[]): string {
  const took = plural(rounds, 'round');
  if (failing.length === 0)
    return `The draft passes lint and its own cases, after ${took}. Read it before you commit it.`;
  return [`After ${took}, these of its own cases still fail:`, ...failing.map(visible)].join('\n');
}

/** @param files the SKILL.md, then the file to execute, then its cases */
export function skillBegun(name: string, files: readonly string[]): string {
  return [
    ...files.map((file) => `Wrote ${plainLine(file)}`),
    '',
    'Say in the first what the skill does, in the second how, and in the third what must be the result.',
    `Then: countersign skill lint checks the files, and countersign skill test ${name} runs the cases.`,
    `A step of a chain asks it with skill: ${name}; countersign chain lint checks that.`,
  ].join('\n');
}

/** @param unused what of the file could not be used, as sentences without a full stop */
export function skillImported(
  name: string,
  folder: string,
  files: number,
  unused: readonly string[],
): string {
  const wrote = `Wrote ${plainLine(name)} to ${plainLine(folder)}: ${plural(files, 'file')}.`;
  if (unused.length === 0) return wrote;
  return [wrote, 'Check these before you use it:', ...unused.map((one) => `- ${plainLine(one)}`)].join('\n');
}

export function skillExported(name: string, file: string, files: number): string {
  return `Wrote ${plainLine(name)} to ${plainLine(file)}: ${plural(files, 'file')}.`;
}

export const EXAMPLES_OF_ONE_SKILL = '--for-optimize needs --skill: examples are of one skill’s module.';

/** @param seen all traces of the skill; those that are no examples were left out */
export function examplesExported(examples: number, seen: number, file: string): string {
  return `Wrote ${plural(examples, 'example')} to ${plainLine(file)}, of ${plural(seen, 'trace')}: those that people approved. Read them before you optimize with them.`;
}

export function tracesExported(traces: number, file: string): string {
  return `Wrote ${plural(traces, 'trace')} to ${plainLine(file)}.`;
}
