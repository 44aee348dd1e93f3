import type { Diagnostic } from '../../core/diagnostic.ts';
import type { KnownNames } from '../../domain/chain/known-names.ts';
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
}

export interface SettingsScopes {
  repository: SettingsSource;
  organisation: SettingsSource;
}

export const NO_SETTINGS: SettingsSource = {
  parse: () => ({ diagnostics: [] }),
  unknownChains: () => undefined,
  below: () => [],
};

/** Settings that cannot be read, whatever they contain. */
export function unreadableSettings(diagnostic: Diagnostic): SettingsSource {
  return { parse: () => ({ diagnostics: [diagnostic] }), unknownChains: () => [], below: () => [] };
}

/** @param text `undefined` if the file is too large */
export function settingsSource(text: string | undefined, file: string): SettingsSource {
  if (text === undefined) return unreadableSettings(tooLargeDiagnostic(file));
  return {
    parse: (names) => parseSettings(text, file, names),
    unknownChains: (known) => unknownChains(text, file, known),
    below: (minimum) => diagnosticsBelowMinimum(text, file, minimum),
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
