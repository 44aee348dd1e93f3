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

/** A settings file as read. What it names is read from elsewhere, too. */
export interface SettingsSource {
  /** Its gates may be for skills, as chains name them. */
  parse(names: KnownNames): { settings?: SettingsFile | undefined; diagnostics: Diagnostic[] };
  /** Faults of its list of chains, where chains have these names; `undefined` when it has no list. */
  unknownChains(known: readonly string[]): Diagnostic[] | undefined;
  /** Faults of what asks for less than the minimum. */
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

/** Settings that nobody can read, whatever they may say. */
export function unreadableSettings(diagnostic: Diagnostic): SettingsSource {
  return { parse: () => ({ diagnostics: [diagnostic] }), unknownChains: () => [], below: () => [] };
}

/** @param text `undefined` when the file is too large to be read */
export function settingsSource(text: string | undefined, file: string): SettingsSource {
  if (text === undefined) return unreadableSettings(tooLargeDiagnostic(file));
  return {
    parse: (names) => parseSettings(text, file, names),
    unknownChains: (known) => unknownChains(text, file, known),
    below: (minimum) => diagnosticsBelowMinimum(text, file, minimum),
  };
}

/** KnownNames that no chain has, in the list that is in force: the other chooses nothing. */
export function unknownIn(
  { repository, organisation }: SettingsScopes,
  known: readonly string[],
): Diagnostic[] {
  return repository.unknownChains(known) ?? organisation.unknownChains(known) ?? [];
}

export function tooLargeDiagnostic(file: string): Diagnostic {
  return { file, line: 1, column: 1, message: tooLarge };
}
