import type { Entry, Lock } from './entry.ts';
import { memberAt, membersOf, type Placed, readPlacedJson, textAt } from './json-lines.ts';
import { DEPENDENCY_KEYS } from './manifest.ts';

/**
 * Reads npm's `package-lock.json`, versions 2 and 3:
 * https://docs.npmjs.com/cli/configuring-npm/package-lock-json
 * @throws SyntaxError for anything else, including version 1, which npm has not written since 2020
 */
export function readPackageLock(text: string): Lock {
  const root = readPlacedJson(text);
  const packages = memberAt(root, 'packages');
  if (packages?.kind !== 'object') throw new SyntaxError('this is not a package-lock.json of version 2 or 3');
  const members = [...packages.members];
  return {
    entries: members.flatMap(([key, placed]) => (key === '' ? [] : [entry(key, placed)])),
    hasIntegrity: true,
    asked: new Map(
      members.filter(([key]) => !isInstalled(key)).map(([key, placed]) => [key, requestedBy(placed)]),
    ),
  };
}

function entry(key: string, placed: Placed): Entry {
  const installed = key.lastIndexOf('node_modules/');
  return {
    key,
    name: textAt(placed, 'name') ?? (installed < 0 ? key : key.slice(installed + 'node_modules/'.length)),
    version: textAt(placed, 'version') ?? '',
    resolved: textAt(placed, 'resolved'),
    integrity: textAt(placed, 'integrity'),
    installScript: flag(placed, 'hasInstallScript'),
    local: !isInstalled(key) || flag(placed, 'link') || flag(placed, 'inBundle'),
    line: placed.line,
    endLine: placed.endLine,
  };
}

function isInstalled(key: string): boolean {
  return /(?:^|\/)node_modules\//.test(key);
}

function flag(placed: Placed, key: string): boolean {
  const found = memberAt(placed, key);
  return found?.kind === 'value' && found.value === true;
}

function requestedBy(placed: Placed): Map<string, string> {
  return new Map(
    DEPENDENCY_KEYS.flatMap((key) =>
      [...membersOf(memberAt(placed, key))].flatMap(([name, range]) =>
        range.kind === 'value' ? [[name, String(range.value)] as const] : [],
      ),
    ),
  );
}
