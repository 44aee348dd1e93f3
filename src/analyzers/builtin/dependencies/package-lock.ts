import type { Entry, Lock } from './entry.ts';
import { type JsonNode, memberAt, membersOf, parseJsonWithLines, textAt } from './json-lines.ts';
import { DEPENDENCY_KEYS } from './manifest.ts';

/**
 * Reads npm's `package-lock.json`, versions 2 and 3:
 * https://docs.npmjs.com/cli/configuring-npm/package-lock-json
 * @throws SyntaxError for anything else, including version 1, which npm has not written since 2020
 */
export function readPackageLock(text: string): Lock {
  const root = parseJsonWithLines(text);
  const packages = memberAt(root, 'packages');
  if (packages?.kind !== 'object') throw new SyntaxError('this is not a package-lock.json of version 2 or 3');
  const members = [...packages.members];
  return {
    entries: members.flatMap(([key, node]) => (key === '' ? [] : [entry(key, node)])),
    hasIntegrity: true,
    asked: new Map(
      members.filter(([key]) => !isInstalled(key)).map(([key, node]) => [key, requestedBy(node)]),
    ),
  };
}

function entry(key: string, node: JsonNode): Entry {
  const installed = key.lastIndexOf('node_modules/');
  return {
    key,
    name: textAt(node, 'name') ?? (installed < 0 ? key : key.slice(installed + 'node_modules/'.length)),
    version: textAt(node, 'version') ?? '',
    resolved: textAt(node, 'resolved'),
    integrity: textAt(node, 'integrity'),
    installScript: flag(node, 'hasInstallScript'),
    local: !isInstalled(key) || flag(node, 'link') || flag(node, 'inBundle'),
    line: node.line,
    endLine: node.endLine,
  };
}

function isInstalled(key: string): boolean {
  return /(?:^|\/)node_modules\//.test(key);
}

function flag(node: JsonNode, key: string): boolean {
  const found = memberAt(node, key);
  return found?.kind === 'value' && found.value === true;
}

function requestedBy(node: JsonNode): Map<string, string> {
  return new Map(
    DEPENDENCY_KEYS.flatMap((key) =>
      [...membersOf(memberAt(node, key))].flatMap(([name, range]) =>
        range.kind === 'value' ? [[name, String(range.value)] as const] : [],
      ),
    ),
  );
}
