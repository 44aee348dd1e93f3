import { parseSettings, type SettingsFile, unknownChains } from '../chain/settings.ts';
import type { Fault } from '../core/fault.ts';
import { tooLarge } from '../words/configuration-check.ts';
import type { Names } from './configuration.ts';

/** A settings file as read. What it names is read from elsewhere, too. */
export interface SettingsSource {
  /** Its gates may be for skills, as chains name them. */
  parse(names: Names): { settings?: SettingsFile | undefined; faults: Fault[] };
  /** Faults of its list of chains, where chains have these names. */
  unknownChains(known: readonly string[]): Fault[];
}

export const NO_SETTINGS: SettingsSource = { parse: () => ({ faults: [] }), unknownChains: () => [] };

/** @param text `undefined` when the file is too large to be read */
export function settingsSource(text: string | undefined, file: string): SettingsSource {
  if (text === undefined) return { ...NO_SETTINGS, parse: () => ({ faults: [tooLargeFault(file)] }) };
  return {
    parse: (names) => parseSettings(text, file, names),
    unknownChains: (known) => unknownChains(text, file, known),
  };
}

export function tooLargeFault(file: string): Fault {
  return { file, line: 1, column: 1, message: tooLarge };
}
