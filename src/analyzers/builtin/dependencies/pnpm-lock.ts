import type { Entry, Lock } from './entry.ts';
import { memberAt, membersOf, type Placed, textAt } from './json-lines.ts';
import { DEPENDENCY_KEYS } from './manifest.ts';
import { readPlacedYaml } from './yaml-lines.ts';

/**
 * Reads `pnpm-lock.yaml`, versions 5 to 9.
 * @throws SyntaxError for any other text
 */
export function readPnpmLock(text: string): Lock {
  const root = readPlacedYaml(text);
  if (memberAt(root, 'lockfileVersion') === undefined) throw new SyntaxError('this is not a pnpm-lock.yaml');
  const importers = memberAt(root, 'importers');
  return {
    entries: [...membersOf(memberAt(root, 'packages'))].map(([key, placed]) => entry(key, placed)),
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

function entry(key: string, placed: Placed): Entry {
  const [, name = key, version = ''] = KEY.exec(key) ?? [];
  const tarball = textAt(placed, 'resolution', 'tarball');
  const repo = textAt(placed, 'resolution', 'repo');
  return {
    key,
    name: textAt(placed, 'name') ?? name,
    version: textAt(placed, 'version') ?? version,
    resolved: tarball ?? (repo === undefined ? undefined : `git+${repo}`),
    integrity: textAt(placed, 'resolution', 'integrity'),
    installScript: textAt(placed, 'requiresBuild') === 'true',
    local: textAt(placed, 'resolution', 'type') === 'directory',
    line: placed.line,
    endLine: placed.endLine,
  };
}

function requestedBy(importer: Placed): Map<string, string> {
  return new Map(
    DEPENDENCY_KEYS.flatMap((key) =>
      [...membersOf(memberAt(importer, key))].flatMap(([name, placed]) => {
        const range = textAt(placed, 'specifier');
        return range === undefined ? [] : [[name, range] as const];
      }),
    ),
  );
}
