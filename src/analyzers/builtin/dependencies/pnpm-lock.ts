import type { Entry, Lock } from './entry.ts';
import { type JsonNode, memberAt, membersOf, textAt } from './json-lines.ts';
import { DEPENDENCY_KEYS } from './manifest.ts';
import { parseYamlWithLines } from './yaml-lines.ts';

/**
 * Reads `pnpm-lock.yaml`, versions 5 to 9.
 * @throws SyntaxError for any other text
 */
export function readPnpmLock(text: string): Lock {
  const root = parseYamlWithLines(text);
  if (memberAt(root, 'lockfileVersion') === undefined) throw new SyntaxError('this is not a pnpm-lock.yaml');
  const importers = memberAt(root, 'importers');
  return {
    entries: [...membersOf(memberAt(root, 'packages'))].map(([key, node]) => entry(key, node)),
    hasIntegrity: true,
    asked: importers
      ? new Map(
          [...membersOf(importers)].map(([folder, asks]) => [
            folder === '.' ? '' : folder,
            requestedBy(asks),
          ]),
        )
      : new Map(),
  };
}

/** Accepts `/@a/b@1.0.0(react@18.0.0)`, `@a/b@1.0.0` and, before version 6, `/@a/b/1.0.0`. */
const KEY = /^\/?((?:@[^/@]+\/)?[^/@()]+)[@/]([^(]+)/;

function entry(key: string, node: JsonNode): Entry {
  const [, name = key, version = ''] = KEY.exec(key) ?? [];
  const tarball = textAt(node, 'resolution', 'tarball');
  const repo = textAt(node, 'resolution', 'repo');
  return {
    key,
    name: textAt(node, 'name') ?? name,
    version: textAt(node, 'version') ?? version,
    resolved: tarball ?? (repo === undefined ? undefined : `git+${repo}`),
    integrity: textAt(node, 'resolution', 'integrity'),
    installScript: textAt(node, 'requiresBuild') === 'true',
    local: textAt(node, 'resolution', 'type') === 'directory',
    line: node.line,
    endLine: node.endLine,
  };
}

function requestedBy(importer: JsonNode): Map<string, string> {
  return new Map(
    DEPENDENCY_KEYS.flatMap((key) =>
      [...membersOf(memberAt(importer, key))].flatMap(([name, node]) => {
        const range = textAt(node, 'specifier');
        return range === undefined ? [] : [[name, range] as const];
      }),
    ),
  );
}
