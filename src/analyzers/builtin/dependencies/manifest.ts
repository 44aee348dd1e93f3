import { memberAt, membersOf, type Placed, readPlacedJson } from './json-lines.ts';

export const DEPENDENCY_KEYS = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;
const ALL_KEYS = [...DEPENDENCY_KEYS, 'peerDependencies'] as const;
/** npm runs these when it installs the package or the repository. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare'];

export interface Asked {
  name: string;
  /** A range of versions, or the source of the package. */
  range: string;
  peer: boolean;
  line: number;
}

export interface Manifest {
  asked: Asked[];
  /** The scripts that run at installation, by name. */
  scripts: ReadonlyMap<string, { command: string; line: number }>;
}

/**
 * Reads what a `package.json` requests.
 * @throws SyntaxError
 */
export function readManifest(text: string): Manifest {
  const root = readPlacedJson(text);
  return {
    asked: ALL_KEYS.flatMap((key) =>
      [...membersOf(memberAt(root, key))].map(([name, placed]) => ({
        name,
        range: plain(placed),
        peer: key === 'peerDependencies',
        line: placed.line,
      })),
    ),
    scripts: new Map(
      [...membersOf(memberAt(root, 'scripts'))]
        .filter(([name]) => INSTALL_SCRIPTS.includes(name))
        .map(([name, placed]) => [name, { command: plain(placed), line: placed.line }]),
    ),
  };
}

function plain(placed: Placed): string {
  return placed.kind === 'value' ? String(placed.value) : '';
}
