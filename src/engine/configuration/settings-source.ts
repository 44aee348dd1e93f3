import type { Diagnostic } from '../../core/diagnostic.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
import { type ReadRollout, readRollout } from '../../domain/chain/rollout-setting.ts';
import {
  diagnosticsBelowMinimum,
  type Minimum,
  parseSettings,
  type SettingsFile,
  unknownChains,
} from '../../domain/chain/settings.ts';
import { tooLarge } from '../../messages/check-run/configuration-check.ts';

/** The text of a settings file. The names in it refer to files that are read separately. */
export interface SettingsSource {
  /** Its gates can apply to skills, as chains name them. */
  parse(names: KnownNames): { settings?: SettingsFile | undefined; diagnostics: Diagnostic[] };
  /** Errors in its list of chains, given the existing chains; `undefined` if it has no such list. */
  unknownChains(known: readonly string[]): Diagnostic[] | undefined;
  /** Errors for values below the organisation's minimum. */
  below(minimum: Minimum): Diagnostic[];
  /** What it says of the rollout, also if something else in it is wrong. */
  rollout(): ReadRollout;
}

export interface SettingsScopes {
  repository: SettingsSource;
  organisation: SettingsSource;
}

export const NO_SETTINGS: SettingsSource = {
  parse: () => ({ diagnostics: [] }),
  unknownChains: () => undefined,
  below: () => [],
  rollout: () => ({ kind: 'read', setting: undefined }),
};

/**
 * Settings that cannot be read, whatever they contain.
 * @param mentioned whether they may set the rollout, as far as the file itself shows
 */
export function unreadableSettings(
  diagnostic: Diagnostic,
  { mentioned }: { mentioned: boolean },
): SettingsSource {
  return {
    parse: () => ({ diagnostics: [diagnostic] }),
    unknownChains: () => [],
    below: () => [],
    rollout: () => ({ kind: 'unreadable', mentioned }),
  };
}

/**
 * @param text `undefined` if the file is too large
 * @param mayRollOut as of `parseSettings`
 */
export function settingsSource(
  text: string | undefined,
  file: string,
  { mayRollOut }: { mayRollOut?: boolean } = {},
): SettingsSource {
  if (text === undefined) return unreadableSettings(tooLargeDiagnostic(file), { mentioned: true });
  let rollout: ReadRollout | undefined;
  return {
    parse: (names) => parseSettings(text, file, names, mayRollOut === undefined ? {} : { mayRollOut }),
    unknownChains: (known) => unknownChains(text, file, known),
    below: (minimum) => diagnosticsBelowMinimum(text, file, minimum),
    rollout: () => (rollout ??= readRollout(text, file)),
  };
}

/** Unknown names in the list of chains that is in force; the other list has no effect. */
export function unknownIn(
  { repository, organisation }: SettingsScopes,
  known: readonly string[],
): Diagnostic[] {
  return repository.unknownChains(known) ?? organisation.unknownChains(known) ?? [];
}

export function tooLargeDiagnostic(file: string): Diagnostic {
  return { file, line: 1, column: 1, message: tooLarge };
}
